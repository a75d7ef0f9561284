// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "headrace/decode/transform.h"
#include "register.h"

namespace headrace::python {
namespace nb = nanobind;

namespace {

auto as_tuple(const Box& box) { return std::tuple(box.left, box.top, box.width, box.height); }

}  // namespace

void register_decode(nb::module_& module) {
  nb::enum_<Augment>(module, "Augment")
      .value("random_resized_crop", Augment::random_resized_crop)
      .value("center_crop", Augment::center_crop)
      .value("pad_crop", Augment::pad_crop)
      .value("none", Augment::none)
      .value("crop", Augment::crop)
      .value("crop_color", Augment::crop_color)
      .value("crop_color_transform", Augment::crop_color_transform);
  nb::enum_<Orient>(module, "Orient").value("stored", Orient::stored).value("exif", Orient::exif);
  nb::enum_<Colours>(module, "Colours")
      .value("stored", Colours::stored)
      .value("srgb", Colours::srgb);
  nb::class_<Jitter>(module, "Jitter")
      .def(nb::init<>())
      .def_rw("brightness", &Jitter::brightness)
      .def_rw("contrast", &Jitter::contrast)
      .def_rw("saturation", &Jitter::saturation)
      .def_rw("hue", &Jitter::hue);
  nb::enum_<Adjust>(module, "Adjust")
      .value("brightness", Adjust::brightness)
      .value("contrast", Adjust::contrast)
      .value("saturation", Adjust::saturation)
      .value("hue", Adjust::hue);
  nb::class_<DrawnJitter>(module, "DrawnJitter")
      .def_ro("order", &DrawnJitter::order)
      .def_ro("brightness", &DrawnJitter::brightness)
      .def_ro("contrast", &DrawnJitter::contrast)
      .def_ro("saturation", &DrawnJitter::saturation)
      .def_ro("hue", &DrawnJitter::hue);
  nb::class_<HlsShift>(module, "HlsShift")
      .def_ro("hue", &HlsShift::hue)
      .def_ro("lightness", &HlsShift::lightness)
      .def_ro("saturation", &HlsShift::saturation);
  nb::enum_<PassOrder>(module, "PassOrder")
      .value("pillow12", PassOrder::pillow12)
      .value("pillow13", PassOrder::pillow13);
  nb::enum_<Layout>(module, "Layout")
      .value("nhwc_u8", Layout::nhwc_u8)
      .value("nchw_u8", Layout::nchw_u8)
      .value("nchw_f32", Layout::nchw_f32)
      .value("nchw_f16", Layout::nchw_f16)
      .value("nchw_bf16", Layout::nchw_bf16);
  nb::enum_<Filter>(module, "Filter")
      .value("nearest", Filter::nearest)
      .value("box", Filter::box)
      .value("bilinear", Filter::bilinear)
      .value("hamming", Filter::hamming)
      .value("bicubic", Filter::bicubic)
      .value("lanczos", Filter::lanczos);
  nb::class_<Transform>(module, "Transform")
      .def(nb::init<>())
      .def_rw("augment", &Transform::augment)
      .def_rw("width", &Transform::width)
      .def_rw("height", &Transform::height)
      .def_rw("resize", &Transform::resize)
      .def_rw("filter", &Transform::filter)
      .def_rw("pass_order", &Transform::pass_order)
      .def_rw("grey", &Transform::grey)
      .def_rw("layout", &Transform::layout)
      .def_rw("mean", &Transform::mean)
      .def_rw("std", &Transform::std)
      .def_rw("jitter", &Transform::jitter)
      .def_rw("erase", &Transform::erase)
      .def_rw("orient", &Transform::orient)
      .def_rw("colours", &Transform::colours)
      .def("to_text", &Transform::to_text);
  nb::class_<Params>(module, "Params")
      .def_prop_ro("source", [](const Params& p) { return as_tuple(p.source); })
      .def_ro("scaled_width", &Params::scaled_width)
      .def_ro("scaled_height", &Params::scaled_height)
      .def_ro("crop_left", &Params::crop_left)
      .def_ro("crop_top", &Params::crop_top)
      .def_ro("flip", &Params::flip)
      .def_ro("warp", &Params::warp)
      .def_ro("hls", &Params::hls)
      .def_ro("jitter", &Params::jitter)
      .def_prop_ro("erase", [](const Params& p) { return as_tuple(p.erase); });
  module.def(
      "params_for",
      [](const Transform& transform, std::uint64_t seed, std::uint64_t epoch,
         std::uint64_t sample_id, std::uint32_t width, std::uint32_t height) {
        return params_for(transform, {seed, epoch, sample_id}, width, height);
      },
      nb::arg("transform"), nb::kw_only(), nb::arg("seed"), nb::arg("epoch"), nb::arg("sample_id"),
      nb::arg("width"), nb::arg("height"));
}

}  // namespace headrace::python
