// SPDX-License-Identifier: Apache-2.0
/// \file What S3 answers in XML: lists, errors, uploads. Pure functions over untrusted text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::s3 {

struct ListedObject {
  std::string key;  ///< whole, decoded
  std::uint64_t size = 0;
  std::string etag;              ///< quotes included
  std::int64_t modified_ns = 0;  ///< whole seconds since 1970; 0 = unknown
  std::string storage_class;     ///< "STANDARD", "GLACIER", …; may be empty
  bool restored = false;         ///< from the archive, for some days; told only if asked for
};

struct ListAnswer {
  std::vector<ListedObject> objects;
  std::vector<std::string> folders;  ///< common prefixes, whole, decoded
  bool truncated = false;            ///< more follows: ask with `next`, or with `marker`
  std::string next;                  ///< continuation token; empty: an answer of the first version
  std::string marker;                ///< of the first version: NextMarker, else the last entry
};

/// Of ListObjectsV2, or ListObjects. `corrupt` if it is anything else, or says that more follows
/// and not how.
Result<ListAnswer> parse_list(std::string_view xml);

struct ErrorAnswer {
  std::string code;  ///< "NoSuchKey"; empty if the body is no S3 error
  std::string message;
  std::string region;  ///< where the bucket is, if the error tells
};

/// Of an error body; never fails, since proxies and gateways answer in anything.
ErrorAnswer parse_error(std::string_view body);

/// The text of the child `name` of the root element, as UploadId and ETag of uploads; or nothing.
std::string child_text(std::string_view xml, const char* name);

/// Seconds since 1970 of "2024-01-02T03:04:05.000Z", fractions cut off; 0 if it is not that.
std::int64_t parse_iso_date(std::string_view text);

}  // namespace headrace::s3
