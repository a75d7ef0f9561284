// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "headrace/loader/loader.h"
#include "raise.h"
#include "register.h"

namespace headrace::python {
namespace nb = nanobind;

void register_loader(nb::module_& module) {
  nb::enum_<OnBad>(module, "OnBad")
      .value("error", OnBad::error)
      .value("skip", OnBad::skip)
      .value("substitute", OnBad::substitute);
  nb::class_<Proportions>(module, "Proportions")
      .def_rw("repeat", &Proportions::repeat)
      .def_rw("shares", &Proportions::shares)
      .def_rw("epoch_samples", &Proportions::epoch_samples);
  nb::class_<SelectionOptions>(module, "SelectionOptions")
      .def_rw("proportions", &SelectionOptions::proportions)
      .def_rw("class_weights", &SelectionOptions::class_weights)
      .def_rw("sample_weights", &SelectionOptions::sample_weights);
  nb::class_<LoaderOptions>(module, "LoaderOptions")
      .def_rw("batch", &LoaderOptions::batch)
      .def_rw("seed", &LoaderOptions::seed)
      .def_prop_rw(  // a text, since `global` is a word of Python's own
          "shuffle", [](const LoaderOptions& o) { return std::string(to_string(o.shuffle)); },
          [](LoaderOptions& o, const std::string& name) {
            o.shuffle = value_or_raise(parse_shuffle(name));
          })
      .def_rw("selection", &LoaderOptions::selection)
      .def_rw("first_epoch", &LoaderOptions::first_epoch)
      .def_rw("epochs", &LoaderOptions::epochs)
      .def_rw("rank", &LoaderOptions::rank)
      .def_rw("world", &LoaderOptions::world)
      .def_rw("tail", &LoaderOptions::tail)
      .def_rw("threads", &LoaderOptions::threads)
      .def_rw("budget_bytes", &LoaderOptions::budget_bytes)
      .def_rw("max_requests", &LoaderOptions::max_requests)
      .def_rw("depth", &LoaderOptions::depth)
      .def_rw("transform", &LoaderOptions::transform)
      .def_prop_rw(
          "pin", [](const LoaderOptions& o) { return o.pin == Pinning::yes; },
          [](LoaderOptions& o, bool pin) { o.pin = pin ? Pinning::yes : Pinning::no; })
      .def_rw("on_bad", &LoaderOptions::on_bad)
      .def_rw("max_bad", &LoaderOptions::max_bad)
      .def_rw("quarantine", &LoaderOptions::quarantine)
      .def_rw("partial_reads", &LoaderOptions::partial_reads);
  nb::class_<EpochReport>(module, "EpochReport")
      .def_ro("epoch", &EpochReport::epoch)
      .def_ro("ledger", &EpochReport::ledger)
      .def_ro("seconds", &EpochReport::seconds)
      .def_prop_ro("order_digest", [](const EpochReport& r) { return r.order_digest.to_hex(); })
      .def_prop_ro("set_digest", [](const EpochReport& r) { return r.set_digest.to_hex(); })
      .def_ro("in_parts", &EpochReport::in_parts)
      .def_prop_ro("metrics", [](const EpochReport& r) {
        nb::typed<nb::dict, nb::str, int> named;
        for (std::size_t i = 0; i < r.metrics.size(); ++i) {
          named[std::string(to_string(static_cast<Metric>(i))).c_str()] = r.metrics[i];
        }
        return named;
      });
}

}  // namespace headrace::python
