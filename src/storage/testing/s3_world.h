// SPDX-License-Identifier: Apache-2.0
/// \file Our S3 store on the test server: as a world of the conformance suite, and as the fixture
/// of tests that look at one request or another.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "headrace/storage/s3/s3_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/s3_test_server.h"
#include "headrace/storage/testing/store_conformance.h"

namespace headrace::testing {

/// Every habit must give the same behaviour.
inline StoreWorld s3_world(const std::string& name, const S3Habits& habits) {
  return {.name = name, .make = [habits](const Context& context) -> StoreWorld::Made {
            auto server = std::make_shared<S3TestServer>(habits);
            auto store = make_s3_store("b", "root dir+%/", context, server->options());
            return {server, *std::move(store)};
          }};
}

/// A server with the object "a", and a store on it.
class S3Test : public ::testing::Test {
 protected:
  void open(const S3Habits& habits = {}, const std::function<void(S3Options&)>& change = {}) {
    server_ = std::make_unique<S3TestServer>(habits);
    S3Options options = server_->options();
    if (change) change(options);
    auto store = make_s3_store("b", "", context_, options);
    ASSERT_TRUE(store.ok()) << store.error().to_string();
    store_ = *std::move(store);
    server_->put("a", text_);
  }

  const std::string text_ = pattern(1, 100'000);
  Context context_;
  std::unique_ptr<S3TestServer> server_;  // after the store
  std::unique_ptr<Store> store_;
};

}  // namespace headrace::testing
