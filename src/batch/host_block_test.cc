// SPDX-License-Identifier: Apache-2.0
#include "headrace/batch/host_block.h"

#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <string>

namespace headrace {
namespace {

std::size_t pinned_bytes = 0;  // NOLINT: what the driver below holds

int take(void*, std::size_t bytes) {
  pinned_bytes += bytes;
  return 0;
}
int give_back(void*) {
  pinned_bytes = 0;
  return 0;
}
int refuse(void*, std::size_t) { return 1; }

std::size_t locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmLck:")) return std::stoul(line.substr(6));
  }
  return 0;
}

TEST(HostBlock, OrdinaryMemoryIsAligned) {
  const auto block = HostBlock::make(100, Pinning::no);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(std::bit_cast<std::uintptr_t>(block->data()) % 64, 0U);
  EXPECT_EQ(block->pinned(), Pinned::no);
}

TEST(HostBlock, PinnedMemoryIsLockedUntilItGoes) {
  const std::size_t before = locked_kib();
  {
    const auto block = HostBlock::make(10'000, Pinning::yes, {});
    ASSERT_TRUE(block.ok()) << block.error().to_string();
    EXPECT_EQ(block->pinned(), Pinned::locked);
#ifndef HEADRACE_SANITIZED                  // the sanitizers' mlock does nothing
    EXPECT_EQ(locked_kib() - before, 12U);  // whole pages of 4 KiB
#endif
  }
  EXPECT_EQ(locked_kib(), before);
}

TEST(HostBlock, ADriverRegistersItAndIsToldWhenItGoes) {
  {
    const auto block = HostBlock::make(10'000, Pinning::yes, {take, give_back});
    ASSERT_TRUE(block.ok());
    EXPECT_EQ(block->pinned(), Pinned::registered);
    EXPECT_EQ(pinned_bytes, 12'288U);
  }
  EXPECT_EQ(pinned_bytes, 0U);
}

// Without a context CUDA refuses; the batch is locked all the same.
TEST(HostBlock, WhatADriverRefusesIsLocked) {
  const auto block = HostBlock::make(10'000, Pinning::yes, {refuse, give_back});
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block->pinned(), Pinned::locked);
}

TEST(HostBlock, NothingIsLoadedForIt) {
  const PinDriver driver = cuda_pin_driver();
  EXPECT_EQ(driver.pin, nullptr);  // this program has no CUDA
}

}  // namespace
}  // namespace headrace
