// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/testing/test_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

namespace headrace::testing {
namespace {

class PieceSource final : public ByteSource {
 public:
  PieceSource(Bytes bytes, std::size_t piece_bytes, bool sized)
      : bytes_(std::move(bytes)), piece_bytes_(piece_bytes), sized_(sized) {}

  Result<Bytes> next() override {
    const auto count = std::min(piece_bytes_, bytes_.size() - at_);
    const Bytes piece = Bytes::copy_of(bytes_.span().subspan(at_, count));
    at_ += count;
    return piece;
  }
  std::optional<std::uint64_t> end() const override {
    return sized_ ? std::optional<std::uint64_t>(bytes_.size()) : std::nullopt;
  }

 private:
  const Bytes bytes_;
  const std::size_t piece_bytes_;
  const bool sized_;
  std::size_t at_ = 0;
};

}  // namespace

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  return Bytes::copy_of(content);
}

std::unique_ptr<ByteSource> make_piece_source(Bytes bytes, std::size_t piece_bytes, bool sized) {
  return std::make_unique<PieceSource>(std::move(bytes), piece_bytes, sized);
}

}  // namespace headrace::testing
