// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "headrace/decode/transform.h"
#include "register.h"

namespace headrace::python {
namespace nb = nanobind;

void register_decode(nb::module_& module) {
  nb::enum_<Augment>(module, "Augment")
      .value("random_resized_crop", Augment::random_resized_crop)
      .value("center_crop", Augment::center_crop)
      .value("pad_crop", Augment::pad_crop)
      .value("none", Augment::none);
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
      .def("to_text", &Transform::to_text);
  nb::class_<Params>(module, "Params")
      .def_prop_ro("source",  // left, top, width, height
                   [](const Params& p) {
                     return std::tuple(p.source.left, p.source.top, p.source.width,
                                       p.source.height);
                   })
      .def_ro("scaled_width", &Params::scaled_width)
      .def_ro("scaled_height", &Params::scaled_height)
      .def_ro("crop_left", &Params::crop_left)
      .def_ro("crop_top", &Params::crop_top)
      .def_ro("flip", &Params::flip);
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
