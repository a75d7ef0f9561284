// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headrace/sampling/plan.h"
#include "headrace/sampling/state.h"
#include "raise.h"
#include "register.h"

namespace headrace::python {
namespace nb = nanobind;

void register_sampling(nb::module_& module) {
  nb::enum_<Tail>(module, "Tail")
      .value("keep", Tail::keep)
      .value("drop", Tail::drop)
      .value("pad", Tail::pad)
      .value("wrap", Tail::wrap);
  nb::class_<Ledger>(module, "Ledger")
      .def_ro("asked", &Ledger::asked)
      .def_ro("delivered", &Ledger::delivered)
      .def_ro("substituted", &Ledger::substituted)
      .def_ro("skipped", &Ledger::skipped)
      .def_ro("dropped", &Ledger::dropped)
      .def_ro("padded", &Ledger::padded)
      .def_ro("quarantined", &Ledger::quarantined);
  nb::class_<State>(module, "State")
      .def_ro("epoch", &State::epoch)
      .def_ro("position", &State::position)
      .def("to_text", &State::to_text)
      .def_static("parse",
                  [](const std::string& text) { return value_or_raise(State::parse(text)); })
      .def_static("merge",
                  [](const std::vector<State>& states) { return value_or_raise(merge(states)); });
}

}  // namespace headrace::python
