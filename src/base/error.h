// SPDX-License-Identifier: Apache-2.0
/// \file What went wrong, as a value: one type, eight codes, where and why.
///
/// Immutable once built, so safe to share between threads. errno, HTTP status and the codes of
/// libraries are each mapped to a `Code` in one function per edge (`errno_error` is the one for
/// errno). A layer that knows the place adds it once: `return std::move(e).at("s3://b/k")`.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

/// A new code only if a caller branches on it.
enum class Code {
  invalid,      ///< the caller asked for something that cannot be: usage, configuration
  not_found,    ///< no such object, file, channel
  denied,       ///< permission, credentials
  changed,      ///< the object is no longer the one that was pinned
  corrupt,      ///< bytes that are not what they claim to be
  unavailable,  ///< may succeed later: the network, a throttled or broken server; was retried
  exhausted,    ///< disk, memory, descriptors, a limit that was set
  cancelled,    ///< a stop was asked for
};

std::string_view to_string(Code code);

class [[nodiscard]] Error {
 public:
  Error(Code code, std::string cause, std::string remedy = {})
      : code_(code), cause_(std::move(cause)), remedy_(std::move(remedy)) {}

  Code code() const { return code_; }
  /// Where: "s3://bucket/key @ 4096"; empty if no layer said so.
  const std::string& place() const { return place_; }
  const std::string& cause() const { return cause_; }
  /// What the user can do about it; may be empty.
  const std::string& remedy() const { return remedy_; }

  /// Adds where it happened, in front of the places already there; a place that the error
  /// begins with already is not added twice.
  [[nodiscard]] Error at(std::string_view place) &&;
  /// Sets the remedy, if there is none yet.
  [[nodiscard]] Error advise(std::string_view remedy) &&;

  /// One line: "place: cause (remedy)".
  std::string to_string() const;

 private:
  Code code_;
  std::string place_;
  std::string cause_;
  std::string remedy_;
};

/// The one place where errno becomes an Error. `doing` is what failed: "open", "fsync".
Error errno_error(int error_number, std::string_view doing);

}  // namespace headrace
