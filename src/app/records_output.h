// SPDX-License-Identifier: Apache-2.0
/// \file What pack, verify and inspect print: JSON for programs, text for people. Pure.
#pragma once

#include <string>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/records/inspect/inspect.h"
#include "headrace/records/pack/pack.h"
#include "headrace/records/verify/verify.h"

namespace headrace::app {

std::string pack_json(const PackReport& report, double seconds, const std::vector<Notice>& notices);
std::string pack_text(const PackReport& report, double seconds, const std::vector<Notice>& notices);

/// `classes` gives the labels their names, where there are names.
std::string verify_json(const VerifyReport& report, const std::vector<std::string>& classes,
                        const std::vector<Notice>& notices);
std::string verify_text(const VerifyReport& report, const std::vector<std::string>& classes,
                        const std::vector<Notice>& notices);

std::string summary_json(const Summary& summary, const std::vector<Notice>& notices);
std::string summary_text(const Summary& summary, const std::vector<Notice>& notices);

/// One line each, without the line end.
std::string record_json(const RecordLine& line);
std::string records_end_json(const RecordsEnd& end);

}  // namespace headrace::app
