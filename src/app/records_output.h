// SPDX-License-Identifier: Apache-2.0
/// \file What pack, convert, verify and inspect print: JSON for programs, text for people. Pure.
#pragma once

#include <string>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/records/convert/convert.h"
#include "headrace/records/inspect/inspect.h"
#include "headrace/records/inspect/replay.h"
#include "headrace/records/verify/verify.h"

namespace headrace::app {

std::string notices_text(const std::vector<Notice>& notices);

std::string convert_json(const ConvertReport& report, const std::string& format, double seconds,
                         const std::vector<Notice>& notices);
std::string convert_text(const ConvertReport& report, double seconds,
                         const std::vector<Notice>& notices);

/// `classes` gives the labels their names, where there are names.
std::string verify_json(const VerifyReport& report, const std::vector<std::string>& classes,
                        const std::vector<Notice>& notices);
std::string verify_text(const VerifyReport& report, const std::vector<std::string>& classes,
                        const std::vector<Notice>& notices);

std::string summary_json(const Summary& summary, std::string_view stands_on,
                         const std::vector<Notice>& notices);
std::string summary_text(const Summary& summary, std::string_view stands_on,
                         const std::vector<Notice>& notices);

/// One line each, without the line end.
std::string damage_text(const PlacedDamage& damage);
std::string record_text(const RecordLine& line);
std::string record_json(const RecordLine& line);
std::string records_end_json(const RecordsEnd& end);

/// One line each, without the line end.
std::string replayed_json(const Replayed& replayed);
std::string replayed_text(const Replayed& replayed);

}  // namespace headrace::app
