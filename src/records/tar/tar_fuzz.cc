// SPDX-License-Identifier: Apache-2.0
// Any bytes as a tar. What must hold: samples and damage come in order and do not overlap, the
// pieces in which the file comes and the stretches in which it is scanned make no difference, and
// a frame reads as a sample of its own, wherever it lies.
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "headrace/records/scan.h"
#include "headrace/records/tar/header.h"
#include "headrace/records/tar/pax.h"
#include "headrace/records/tar/sample.h"
#include "headrace/records/tar/walk.h"
#include "headrace/records/testing/fuzz_pieces.h"
#include "headrace/storage/memory/memory_store.h"

namespace {

using namespace headrace;
using namespace headrace::tar;
using headrace::testing::PieceSource;
using headrace::testing::require;

std::vector<Step> walk(ByteSource& source, std::uint64_t size, bool keep) {
  std::vector<Step> steps;
  Window window(source);
  std::uint64_t at = 0;
  while (at < size) {
    window.drop_before(at);
    const auto found = step(window, at, keep);
    require(found.ok());
    if (found->kind == Step::Kind::end) break;
    require(found->begin >= at && found->end > found->begin && found->end <= size);
    if (keep && found->kind == Step::Kind::frame)
      require(window.slice(found->begin, found->end - found->begin).size() > 0);
    at = std::max(found->end, found->next);
    steps.push_back(*found);
  }
  return steps;
}

void require_same(const std::vector<Step>& a, const std::vector<Step>& b) {
  require(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    require(a[i].kind == b[i].kind && a[i].begin == b[i].begin && a[i].end == b[i].end);
}

void check_scan(const Bytes& file, const std::vector<Step>& steps) {
  MemoryStore store;
  require(put(store, "x", file.span(), {}).ok());
  const auto info = store.head("x", {});
  for (const std::uint64_t stretch : {512U, 2048U, 1U << 20U}) {
    const auto frames = scan(store, *info, kFraming, {.threads = 1, .stretch_bytes = stretch}, {});
    require(frames.ok() && frames->frames().size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i)
      require(frames->frames()[i].offset == steps[i].begin);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 16384) return 0;
  Buffer buffer(size);
  std::copy_n(std::as_bytes(std::span(data, size)).begin(), size, buffer.data());
  // Any header would fail by its checksum: a name that begins with '!' asks for a right one.
  for (std::size_t at = 0; at + kBlock <= size; at += kBlock) {
    if (buffer.span()[at] != std::byte{'!'}) continue;
    unsigned sum = 8 * ' ';
    for (std::size_t i = 0; i < kBlock; ++i)
      if (i < 148 || i >= 156) sum += std::to_integer<unsigned>(buffer.span()[at + i]);
    for (std::size_t i = 155; i >= 148; --i, sum /= 8)
      buffer.span()[at + i] = static_cast<std::byte>('0' + sum % 8);
  }
  const Bytes file = std::move(buffer).freeze(size);
  const auto whole = make_memory_source(file);
  const auto steps = walk(*whole, size, false);
  PieceSource pieces(file, 98, 1500);
  require_same(steps, walk(pieces, size, true));
  for (const Step& one : steps) {
    if (one.kind != Step::Kind::frame) continue;
    const auto members = read_members(file.slice(one.begin, one.end - one.begin));
    if (!members) continue;
    require(!members->fields.empty());
    std::ignore = picture_of(*members);
    std::ignore = labels_of(*members);
  }
  check_scan(file, steps);
  std::ignore = parse_pax(file.span());
  return 0;
}
