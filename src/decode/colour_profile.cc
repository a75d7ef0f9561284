// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/colour_profile.h"

#include <lcms2.h>

#include "headrace/base/digest.h"

namespace headrace {

namespace {

struct CloseProfile {
  void operator()(void* profile) const { cmsCloseProfile(profile); }
};
using Profile = std::unique_ptr<void, CloseProfile>;

struct DeleteTransform {
  void operator()(void* transform) const { cmsDeleteTransform(transform); }
};

struct DeleteContext {
  void operator()(_cmsContext_struct* context) const { cmsDeleteContext(context); }
};

}  // namespace

struct ColourProfile::Impl {
  // A context of its own: what is wrong with a profile is not printed, and no lock is shared.
  std::unique_ptr<_cmsContext_struct, DeleteContext> context{cmsCreateContext(nullptr, nullptr)};
  Hash128 hash;
  bool used = false;
  std::string why;
  std::unique_ptr<void, DeleteTransform> transform;

  std::string build(ByteSpan bytes) {
    transform.reset();
    const Profile profile{cmsOpenProfileFromMemTHR(context.get(), bytes.data(),
                                                   static_cast<cmsUInt32Number>(bytes.size()))};
    if (profile == nullptr) return "the colour profile is damaged";
    if (cmsGetColorSpace(profile.get()) != cmsSigRgbData) {
      return "the colour profile is not one of RGB";
    }
    const Profile srgb{cmsCreate_sRGBProfileTHR(context.get())};
    transform.reset(cmsCreateTransformTHR(context.get(), profile.get(), TYPE_RGB_8, srgb.get(),
                                          TYPE_RGB_8, INTENT_PERCEPTUAL, cmsFLAGS_NOCACHE));
    return transform == nullptr ? "the colour profile cannot be followed" : "";
  }
};

ColourProfile::ColourProfile() : impl_(std::make_unique<Impl>()) {}
ColourProfile::~ColourProfile() = default;

std::string ColourProfile::use(ByteSpan profile) {
  const Hash128 hash = hash_bytes(profile);
  if (!impl_->used || hash != impl_->hash) {
    impl_->used = true;
    impl_->hash = hash;
    impl_->why = impl_->build(profile);
  }
  return impl_->why;
}

void ColourProfile::to_srgb(std::uint8_t* rgb, std::size_t pixels) const {
  cmsDoTransform(impl_->transform.get(), rgb, rgb, static_cast<cmsUInt32Number>(pixels));
}

}  // namespace headrace
