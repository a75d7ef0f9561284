// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/shuffle.h"

#include <fmt/format.h>

#include <optional>

#include "headrace/base/parse_number.h"

namespace headrace {
namespace {

constexpr std::uint64_t kBlock = 256;
constexpr std::uint64_t kWindow = 64;
constexpr std::uint64_t kMost = std::uint64_t{1} << 31U;  // products stay within 64 bits

std::optional<std::uint64_t> number(std::string_view text) {
  const auto value = parse_number<std::uint64_t>(text);
  return value && *value != 0 && *value <= kMost ? value : std::nullopt;
}

}  // namespace

std::string to_string(const Shuffle& shuffle) {
  switch (shuffle.scheme) {
    case Shuffle::Scheme::none:
      return "none";
    case Shuffle::Scheme::global:
      break;
    case Shuffle::Scheme::blocks:
      return fmt::format("blocks:{}x{}", shuffle.block, shuffle.window);
    case Shuffle::Scheme::node:
      return shuffle.nodes == 0 ? "node" : fmt::format("node:{}", shuffle.nodes);
    case Shuffle::Scheme::balanced:
      return "balanced";
  }
  return "global";
}

Result<Shuffle> parse_shuffle(std::string_view text) {
  constexpr std::string_view kBlocks = "blocks:";
  constexpr std::string_view kNode = "node:";
  if (text == "none") return Shuffle::none;
  if (text == "global") return Shuffle::global;
  if (text == "blocks") {
    return Shuffle{.scheme = Shuffle::Scheme::blocks, .block = kBlock, .window = kWindow};
  }
  if (text == "balanced") return Shuffle{.scheme = Shuffle::Scheme::balanced};
  if (text == "node") return Shuffle{.scheme = Shuffle::Scheme::node};
  if (text.starts_with(kBlocks)) {
    const auto sizes = text.substr(kBlocks.size());
    const auto cross = sizes.find('x');
    const auto block = number(sizes.substr(0, cross));
    const auto window = cross == std::string_view::npos ? kWindow : number(sizes.substr(cross + 1));
    if (block && window)
      return Shuffle{.scheme = Shuffle::Scheme::blocks, .block = *block, .window = *window};
  }
  if (text.starts_with(kNode)) {
    if (const auto nodes = number(text.substr(kNode.size())))
      return Shuffle{.scheme = Shuffle::Scheme::node, .nodes = *nodes};
  }
  return Error(Code::invalid, fmt::format("unknown shuffle '{}'", text),
               "known: global, blocks, blocks:SAMPLESxBLOCKS, node, node:NODES, balanced, none");
}

Result<Shuffle> with_step(Shuffle shuffle, std::uint64_t step) {
  if (shuffle.scheme != Shuffle::Scheme::node) return shuffle;
  if (shuffle.nodes == 0) {
    return Error(Code::invalid, "shuffle node: how many nodes there are is not known",
                 "say it: node:4");
  }
  if (step == 0 || step % shuffle.nodes != 0) {
    return Error(Code::invalid,
                 fmt::format("shuffle node: a step of {} samples over all ranks cannot be shared "
                             "out evenly to {} nodes",
                             step, shuffle.nodes),
                 "choose batch size and ranks so that each node delivers the same number");
  }
  shuffle.step = step;
  return shuffle;
}

Result<void> check_selectable(const Shuffle& shuffle) {
  if (shuffle.scheme != Shuffle::Scheme::node && shuffle.scheme != Shuffle::Scheme::balanced)
    return {};
  return Error(
      Code::invalid,
      fmt::format("shuffle {} cannot be drawn with proportions or weights", to_string(shuffle)),
      "choose shuffle global, blocks or none");
}

}  // namespace headrace
