// SPDX-License-Identifier: Apache-2.0
/// \file One HTTP request with its answer, as a state machine that a Loop drives.
///
/// Not thread-safe: the loop calls from its own thread only, in this order:
///
///     begin → (header* → body*)* → end → done, or begin again after a delay …; or cancelled
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/clock.h"
#include "headrace/base/result.h"

namespace headrace::http {

enum class Method { get, head, put, post, remove };

std::string_view to_string(Method method);

struct Request {
  Method method = Method::get;
  std::string url;                   ///< sent as it is: nothing is encoded or normalised
  std::vector<std::string> headers;  ///< "Name: value"
  Bytes body;                        ///< of put and post
};

/// How an attempt ended.
struct Outcome {
  enum class Kind {
    answered,       ///< a whole answer came: `status` is its code
    no_connection,  ///< nobody listens, no such host
    broken,         ///< the connection ended, stalled or made no sense
    refused,        ///< it will never work: bad certificate, bad address
  };
  Kind kind = Kind::answered;
  int status = 0;
  std::optional<Error> error;  ///< unless answered
};

class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// The request of the next attempt.
  virtual Request begin() = 0;
  /// `name` is in lower case. Views are valid during the call.
  virtual void header(int status, std::string_view name, std::string_view value) = 0;
  /// Where the next bytes of the body may be put straight away; `body` finds them there, or is
  /// given others. Empty: nowhere yet. Valid until the next call.
  virtual std::span<std::byte> destination(int /*status*/) { return {}; }
  /// False ends the attempt: `end` is called with Kind::broken.
  virtual bool body(int status, ByteSpan bytes) = 0;
  /// Nothing: the exchange is over and is destroyed. Else: begin again after this time.
  virtual std::optional<Nanos> end(const Outcome& outcome) = 0;
  /// A stop was asked for, or the loop ends. The last call.
  virtual void cancelled() = 0;
};

}  // namespace headrace::http
