// SPDX-License-Identifier: Apache-2.0
#include "register.h"

NB_MODULE(_headrace, module) {
  using namespace headrace::python;
  module.doc() = "The library under the package headrace; not an interface of its own.";
  // A loader that is still open at the interpreter's end was closed by atexit (loader.py).
  nanobind::set_leak_warnings(false);
  register_sampling(module);
  register_decode(module);
  register_records(module);
  register_batch(module);
  register_loader(module);
  register_job(module);
}
