// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headrace/records/dataset.h"
#include "register.h"

namespace headrace::python {
namespace nb = nanobind;

void register_records(nb::module_& module) {
  nb::enum_<LabelBase>(module, "LabelBase")
      .value("automatic", LabelBase::automatic)
      .value("zero", LabelBase::zero)
      .value("one", LabelBase::one);
  nb::enum_<recordio::Parts>(module, "RecordioParts")
      .value("automatic", recordio::Parts::automatic)
      .value("dmlc", recordio::Parts::dmlc)
      .value("sagemaker", recordio::Parts::sagemaker);
  nb::class_<OpenOptions>(module, "OpenOptions")
      .def(nb::init<>())
      .def_rw("format", &OpenOptions::format)
      .def_rw("list", &OpenOptions::list)
      .def_rw("list_root", &OpenOptions::list_root)
      .def_rw("attribute_names", &OpenOptions::attribute_names)
      .def_rw("image_key", &OpenOptions::image_key)
      .def_rw("label_key", &OpenOptions::label_key)
      .def_rw("label_base", &OpenOptions::label_base)
      .def_rw("recordio_parts", &OpenOptions::recordio_parts)
      .def_rw("skip_root_files", &OpenOptions::skip_root_files)
      .def_rw("classes", &OpenOptions::classes);
}

}  // namespace headrace::python
