// SPDX-License-Identifier: Apache-2.0
/// \file Quarantined samples read again: are they still bad, and why?
///
/// Each is read where the line says it lies, past every cache. One call at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "headrace/base/result.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace {

/// What is needed of a line of a quarantine file (loader/quarantine.h).
struct QuarantineLine {
  std::string uri;
  std::string object;
  std::string name;
  std::uint64_t sample = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string reason;  ///< as it was then
};

///  * `invalid`   no JSON object, or something is missing in it
Result<QuarantineLine> parse_quarantine_line(std::string_view text);

struct Replayed {
  QuarantineLine line;
  std::string sha256;  ///< of the bytes as they are now; empty if they cannot be read
  std::string why;     ///< why it is bad now; empty: it is good
};

/// A set, opened, and what it stands on.
struct OpenedSet {
  std::unique_ptr<Store> store;
  std::unique_ptr<Dataset> set;
};

struct ReplayHooks {
  /// Opens what a line's uri names.
  std::function<Result<OpenedSet>(const std::string& uri)> open;
  /// `corrupt` if the payload is no picture that can be decoded.
  std::function<Result<void>(ByteSpan payload)> decode;
};

class Replayer {
 public:
  explicit Replayer(ReplayHooks hooks) : hooks_(std::move(hooks)) {}

  ///  * what became of it
  ///  * an error: its set cannot be opened, or is another one by now (`changed`)
  Result<Replayed> replay(QuarantineLine line, const std::stop_token& stop);

 private:
  Result<OpenedSet*> open(const std::string& uri);

  ReplayHooks hooks_;
  std::map<std::string, OpenedSet> sets_;
};

}  // namespace headrace
