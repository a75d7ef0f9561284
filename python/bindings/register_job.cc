// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "headrace/job/job.h"
#include "headrace/records/joined/joined.h"
#include "open_job.h"
#include "raise.h"
#include "register.h"

namespace headrace::python {
namespace nb = nanobind;

void register_job(nb::module_& module) {
  nb::enum_<Mode>(module, "Mode")
      .value("direct", Mode::direct)
      .value("file", Mode::file)
      .value("stream", Mode::stream)
      .value("keep", Mode::keep)
      .value("fastfile", Mode::fastfile)
      .value("pipe", Mode::pipe);
  nb::enum_<SnapshotUse>(module, "SnapshotUse")
      .value("none", SnapshotUse::none)
      .value("refresh", SnapshotUse::refresh)
      .value("reuse", SnapshotUse::reuse);
  nb::class_<SnapshotKeeping>(module, "SnapshotKeeping")
      .def(nb::init<>())
      .def_rw("use", &SnapshotKeeping::use)
      .def_rw("file", &SnapshotKeeping::file);
  nb::class_<JobOptions>(module, "JobOptions")
      .def(nb::init<>())
      .def_rw("uri", &JobOptions::uri)
      .def_rw("with_sets", &JobOptions::with)
      .def_rw("mode", &JobOptions::mode, nb::arg().none())
      .def_rw("local", &JobOptions::local)
      .def_rw("keep_dir", &JobOptions::keep_dir)
      .def_rw("keep_bytes", &JobOptions::keep_bytes)
      .def_rw("medium", &JobOptions::medium)
      .def_rw("expect", &JobOptions::expect)
      .def_rw("pipe_dir", &JobOptions::pipe_dir)
      .def_rw("pipe_wait", &JobOptions::pipe_wait)
      .def_rw("snapshot", &JobOptions::snapshot)
      .def_rw("open", &JobOptions::open)
      .def_rw("loader", &JobOptions::loader)
      .def_rw("resume", &JobOptions::resume, nb::arg().none());
  nb::class_<OpenJob>(module, "Job")
      .def_static("open", &OpenJob::open, nb::arg("options"))
      .def("next", &OpenJob::next)
      .def("close", &OpenJob::close)
      .def("epoch_report", [](const OpenJob& self) { return self.epoch_report(); })
      .def("state", [](const OpenJob& self) { return self.state(); })
      .def_prop_ro("mode", [](const OpenJob& self) { return self.job().mode(); })
      .def_prop_ro("format", [](const OpenJob& self) { return self.job().dataset().format(); })
      .def_prop_ro("stands_on", [](const OpenJob& self) { return self.job().stands_on(); })
      .def_prop_ro("samples", [](const OpenJob& self) { return self.job().dataset().size(); })
      .def_prop_ro("sets", [](const OpenJob& self) { return member_sizes(self.job().dataset()); })
      .def_prop_ro("classes", [](const OpenJob& self) { return self.job().dataset().classes(); })
      .def_prop_ro("steps_per_epoch",
                   [](const OpenJob& self) { return self.job().loader().steps_per_epoch(); })
      .def("notices", [](const OpenJob& self) {
        std::vector<std::tuple<std::string, std::string, std::uint64_t>> all;
        for (const auto& notice : self.job().context().notices->all()) {
          all.emplace_back(notice.kind, notice.text, notice.count);
        }
        return all;
      });
}

}  // namespace headrace::python
