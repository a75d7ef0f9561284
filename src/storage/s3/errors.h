// SPDX-License-Identifier: Apache-2.0
/// \file The one place where an HTTP status and an S3 error code become an Error. Pure.
#pragma once

#include <string>
#include <string_view>

#include "headrace/base/error.h"
#include "headrace/storage/s3/retry.h"
#include "headrace/storage/s3/xml.h"

namespace headrace::s3 {

/// An answer that is not what was asked for.
struct Refusal {
  int status = 0;
  ErrorAnswer answer;  ///< empty for HEAD, which has no body
  // For the words:
  std::string_view bucket;
  std::string_view server;      ///< "http://127.0.0.1:9000"
  std::string_view region;      ///< that was signed for
  std::string_view access_key;  ///< the id, never the secret; empty: unsigned
  std::string_view source;      ///< of the credentials
};

struct Judgement {
  Error error;
  Again again = Again::no;
};

Judgement judge(const Refusal& refusal);

}  // namespace headrace::s3
