// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headrace/records/dataset.h"
#include "register.h"

namespace headrace::python {
namespace nb = nanobind;

void register_records(nb::module_& module) {
  nb::class_<OpenOptions>(module, "OpenOptions")
      .def(nb::init<>())
      .def_rw("format", &OpenOptions::format)
      .def_rw("list", &OpenOptions::list)
      .def_rw("skip_root_files", &OpenOptions::skip_root_files)
      .def_rw("classes", &OpenOptions::classes);
}

}  // namespace headrace::python
