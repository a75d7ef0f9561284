// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

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
      .value("nchw_f32", Layout::nchw_f32);
  nb::class_<Transform>(module, "Transform")
      .def(nb::init<>())
      .def_rw("augment", &Transform::augment)
      .def_rw("width", &Transform::width)
      .def_rw("height", &Transform::height)
      .def_rw("resize", &Transform::resize)
      .def_rw("pass_order", &Transform::pass_order)
      .def_rw("grey", &Transform::grey)
      .def_rw("layout", &Transform::layout)
      .def_rw("mean", &Transform::mean)
      .def_rw("std", &Transform::std)
      .def("to_text", &Transform::to_text);
}

}  // namespace headrace::python
