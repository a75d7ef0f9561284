// SPDX-License-Identifier: Apache-2.0
/// \file What `headrace read` prints: JSON for programs, a table for people. Pure.
#pragma once

#include <string>

#include "headrace/job/read_job.h"

namespace headrace::app {

std::string read_json(const ReadReport& report);
std::string read_table(const ReadReport& report);
std::string read_progress(const ReadProgress& progress);

}  // namespace headrace::app
