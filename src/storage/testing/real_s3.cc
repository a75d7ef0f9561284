// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/real_s3.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "headrace/storage/s3/s3_store.h"

namespace headrace::testing {

RealS3::RealS3(const std::string& source_dir) {
  std::map<std::string, std::string> variables;
  for (const char* name : {"HEADRACE_TEST_S3_ENDPOINT", "HEADRACE_TEST_S3_BUCKET",
                           "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"}) {
    if (const char* value = std::getenv(name); value != nullptr) variables[name] = value;
  }
  if (!variables.contains("HEADRACE_TEST_S3_ENDPOINT")) {
    process_ = std::make_shared<ServerProcess>(source_dir + "/scripts/s3-server");
    variables = process_->wait_until_ready();
  }
  endpoint_ = variables["HEADRACE_TEST_S3_ENDPOINT"];
  bucket_ = variables["HEADRACE_TEST_S3_BUCKET"];
  settings_ = {.credentials = {variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"],
                               "", "the test server"},
               .region = variables["AWS_REGION"],
               .endpoint = endpoint_};
}

const RealS3& RealS3::get(const std::string& source_dir) {
  static const RealS3 server(source_dir);
  return server;
}

S3Options RealS3::options() const { return {.settings = settings_}; }

std::string RealS3::fresh_prefix() const {
  static std::atomic<int> count{0};
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);  // a process id may come again on a server that stays
  return fmt::format("t/{}-{}-{}/", ::getpid(), time.tv_nsec, ++count);
}

StoreWorld::Made RealS3::fresh_world(const Context& context) const {
  auto store = make_s3_store(bucket_, fresh_prefix(), context, options());
  if (!store) throw std::runtime_error(store.error().to_string());
  return {nullptr, *std::move(store)};
}

}  // namespace headrace::testing
