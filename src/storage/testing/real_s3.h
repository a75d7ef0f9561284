// SPDX-License-Identifier: Apache-2.0
/// \file The real S3 server that tests run against: the one the environment names, else one of the
/// process's own, by scripts/s3-server.
///
/// Thread-safe. HEADRACE_TEST_S3_ENDPOINT and _BUCKET name a running one, with the AWS_* keys.
#pragma once

#include <memory>
#include <string>

#include "headrace/base/context.h"
#include "headrace/storage/s3/s3_options.h"
#include "headrace/storage/testing/server_process.h"
#include "headrace/storage/testing/store_conformance.h"

namespace headrace::testing {

class RealS3 {
 public:
  /// Starts it at the first call; it ends with the process. Throws if there is none: tests that
  /// need a server fail without it. `source_dir` is the project's folder.
  static const RealS3& get(const std::string& source_dir);

  const std::string& bucket() const { return bucket_; }
  const std::string& endpoint() const { return endpoint_; }
  /// With the server's keys.
  S3Options options() const;
  /// "t/<process>/<count>/": a place of its own for one test.
  std::string fresh_prefix() const;
  /// An empty store on a fresh prefix.
  StoreWorld::Made fresh_world(const Context& context) const;

 private:
  explicit RealS3(const std::string& source_dir);

  std::shared_ptr<ServerProcess> process_;  // of its own server
  std::string endpoint_;
  std::string bucket_;
  s3::Settings settings_;
};

}  // namespace headrace::testing
