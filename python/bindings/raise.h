// SPDX-License-Identifier: Apache-2.0
/// \file An Error value becomes a Python exception: headrace.errors has one class a code.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "headrace/base/error.h"
#include "headrace/base/result.h"

namespace headrace::python {

/// REQUIRES: the Global Interpreter Lock is held
[[noreturn]] inline void raise(const Error& error) {
  namespace nb = nanobind;
  const nb::object exception = nb::module_::import_("headrace.errors")
                                   .attr("from_code")(std::string(to_string(error.code())),
                                                      error.cause(), error.place(), error.remedy());
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
  throw nb::python_error();
}

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return *std::move(result);
}

}  // namespace headrace::python
