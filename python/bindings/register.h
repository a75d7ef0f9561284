// SPDX-License-Identifier: Apache-2.0
/// \file What each room shows to Python: one function a room, called once by the module.
///
/// The Global Interpreter Lock is held in all of them.
#pragma once

#include <nanobind/nanobind.h>

namespace headrace::python {

void register_batch(nanobind::module_& module);
void register_decode(nanobind::module_& module);
void register_job(nanobind::module_& module);
void register_loader(nanobind::module_& module);
void register_records(nanobind::module_& module);
void register_sampling(nanobind::module_& module);

}  // namespace headrace::python
