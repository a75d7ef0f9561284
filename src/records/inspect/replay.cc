// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/inspect/replay.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "headrace/base/json_count.h"
#include "headrace/base/sha256.h"
#include "headrace/records/read_ahead.h"

namespace headrace {

Result<QuarantineLine> parse_quarantine_line(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return Error(Code::invalid, "not a JSON object");
  QuarantineLine line;
  try {
    line.uri = json.at("uri");
    line.object = json.at("object");
    line.name = json.value("name", line.object);
    line.sample = json_count(json.at("sample"));
    line.offset = json_count(json.at("offset"));
    line.bytes = json_count(json.at("bytes"));
    line.reason = json.value("reason", std::string());
  } catch (const nlohmann::json::exception& problem) {
    return Error(Code::invalid, fmt::format("no line of a quarantine file: {}", problem.what()));
  }
  return line;
}

Result<OpenedSet*> Replayer::open(const std::string& uri) {
  const auto known = sets_.find(uri);
  if (known != sets_.end()) return &known->second;
  HEADRACE_TRY(auto opened, hooks_.open(uri));
  return &sets_.emplace(uri, std::move(opened)).first->second;
}

Result<Replayed> Replayer::replay(QuarantineLine line, const std::stop_token& stop) {
  HEADRACE_TRY(const OpenedSet* opened, open(line.uri));
  const Dataset& set = *opened->set;
  const SampleId id{line.sample};
  const bool there = line.sample < set.size();
  const Extent extent = there ? set.locate(id) : Extent();
  if (!there || extent.key != line.object || extent.range.offset != line.offset ||
      extent.range.length != line.bytes) {
    return Error(
               Code::changed,
               fmt::format("sample {} is not \"{}\" @ {} of {} bytes any more: the set is another "
                           "one by now",
                           line.sample, line.object, line.offset, line.bytes))
        .at(line.uri);
  }
  Replayed replayed{.line = std::move(line), .sha256 = {}, .why = {}};
  const auto judge = [&]() -> Result<void> {
    HEADRACE_TRY(const auto frame, read_frame(*opened->store, set, id, true, stop));
    replayed.sha256 = sha256_hex(frame.span());
    HEADRACE_TRY(const auto sample, set.parse(id, frame));
    return hooks_.decode(sample.payload.span());
  };
  const auto good = judge();
  if (good) return replayed;
  const Code code = good.error().code();
  if (code == Code::cancelled || code == Code::unavailable) return good.error();
  replayed.why = good.error().cause();
  return replayed;
}

}  // namespace headrace
