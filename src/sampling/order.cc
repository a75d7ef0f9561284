// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/order.h"

#include <algorithm>
#include <cassert>

#include "headrace/base/random.h"
#include "headrace/sampling/class_table.h"
#include "headrace/sampling/selection.h"

namespace headrace {
namespace {

using Scheme = Shuffle::Scheme;

// Keys that are apart from those of the order itself.
constexpr std::uint64_t kSubstituteStream = 0x73756273;  // "subs"
constexpr std::uint64_t kRunStream = 0x72756e73;         // "runs": which run stands where
constexpr std::uint64_t kShortStream = 0x73687274;       // "shrt": where the short run stands
constexpr std::uint64_t kWindowStream = 0x77696e64;      // "wind"
constexpr std::uint64_t kPartStream = 0x70617274;        // "part": who has what
constexpr std::uint64_t kNodeStream = 0x6e6f6465;        // "node": in which order
constexpr std::uint64_t kRoundStream = 0x726f6e64;       // "rond": which class comes when
constexpr std::uint64_t kClassStream = 0x636c6173;       // "clas": in which order its samples

std::uint64_t key_of_all(const Shuffle& shuffle, std::uint64_t seed, std::uint64_t key,
                         std::uint64_t size) {
  if (shuffle.scheme != Scheme::node) return key;
  return mix_key(kOrderVersion, seed, kPartStream, size, shuffle.nodes);
}

}  // namespace

Order::Order(const Shuffle& shuffle, std::uint64_t seed, std::uint64_t epoch, std::uint64_t size)
    : shuffle_(shuffle),
      key_(mix_key(kOrderVersion, seed, epoch, size)),
      all_(key_of_all(shuffle, seed, key_, size), size),
      runs_(mix_key(key_, kRunStream, shuffle.block),
            shuffle.block == 0 ? 0 : size / shuffle.block) {
  assert(shuffle.scheme != Scheme::node || (shuffle.nodes != 0 && shuffle.step != 0));
  assert(shuffle.scheme != Scheme::balanced || size == 0 || shuffle.classes != nullptr);
  if (shuffle.selection == nullptr) return;
  assert(shuffle.selection->size() == size);
  shift_ = shuffle.selection->shift(seed, epoch);
}

std::uint64_t Order::at(std::uint64_t position) const {
  assert(position < size());
  const std::uint64_t drawn = shuffled(position);
  return shuffle_.selection == nullptr ? drawn : shuffle_.selection->at(shift_, drawn);
}

void Order::at(std::span<std::uint64_t> positions) const {
  if (shuffle_.scheme == Scheme::global) {
    all_.at(positions);
  } else {
    for (std::uint64_t& position : positions) position = shuffled(position);
  }
  if (shuffle_.selection == nullptr) return;
  for (std::uint64_t& drawn : positions) drawn = shuffle_.selection->at(shift_, drawn);
}

std::uint64_t Order::shuffled(std::uint64_t position) const {
  switch (shuffle_.scheme) {
    case Scheme::none:
      return position;
    case Scheme::global:
      break;
    case Scheme::blocks:
      return in_blocks(position);
    case Scheme::node: {
      const OfNode place = of_node(position);
      return all_.at(node_begin(place.node) + of_epoch(place.node).at(place.index));
    }
    case Scheme::balanced:
      return by_class(position);
  }
  return all_.at(position);
}

std::uint64_t Order::find(std::uint64_t sample) const {
  assert(sample < size() && shuffle_.selection == nullptr);
  switch (shuffle_.scheme) {
    case Scheme::none:
      return sample;
    case Scheme::global:
      break;
    case Scheme::blocks:
      return find_in_blocks(sample);
    case Scheme::node: {
      const std::uint64_t dealt = all_.find(sample);
      std::uint64_t node = 0;
      while (dealt >= node_begin(node + 1)) ++node;
      return position_of({node, of_epoch(node).find(dealt - node_begin(node))});
    }
    case Scheme::balanced:
      assert(false);  // a sample may have several places, or none
      break;
  }
  return all_.find(sample);
}

std::uint64_t Order::substitute(std::uint64_t position, unsigned attempt) const {
  assert(position < size());
  if (size() < 2) return position;
  // Any other position of the epoch, whoever delivers it: ranks do not matter.
  Random random(mix_key(key_, kSubstituteStream, position, attempt));
  const std::uint64_t step = 1 + random.below(size() - 1);
  const std::uint64_t left = size() - position;  // no sum of two positions, which could overflow
  return at(step < left ? position + step : step - left);
}

// ---- blocks

/// Mixes the runs from `window × block × number` on; the last window may be shorter.
Permutation Order::of_window(std::uint64_t number) const {
  const std::uint64_t length = shuffle_.block * shuffle_.window;
  return {mix_key(key_, kWindowStream, number), std::min(length, size() - number * length)};
}

std::uint64_t Order::short_run_begin() const {
  return Random(mix_key(key_, kShortStream)).below(runs_.size() + 1) * shuffle_.block;
}

std::uint64_t Order::in_blocks(std::uint64_t position) const {
  const std::uint64_t block = shuffle_.block;
  const std::uint64_t window = position / (block * shuffle_.window);
  const std::uint64_t begin = window * block * shuffle_.window;
  std::uint64_t place = begin + of_window(window).at(position - begin);
  const std::uint64_t whole = runs_.size() * block;
  const std::uint64_t rest = size() - whole;
  const std::uint64_t cut = rest == 0 ? size() : short_run_begin();
  if (place >= cut) {
    if (place - cut < rest) return whole + (place - cut);
    place -= rest;
  }
  return runs_.at(place / block) * block + place % block;
}

std::uint64_t Order::find_in_blocks(std::uint64_t sample) const {
  const std::uint64_t block = shuffle_.block;
  const std::uint64_t whole = runs_.size() * block;
  const std::uint64_t rest = size() - whole;
  const std::uint64_t cut = rest == 0 ? size() : short_run_begin();
  std::uint64_t place = 0;
  if (sample >= whole) {
    place = cut + (sample - whole);
  } else {
    place = runs_.find(sample / block) * block + sample % block;
    if (place >= cut) place += rest;
  }
  const std::uint64_t window = place / (block * shuffle_.window);
  const std::uint64_t begin = window * block * shuffle_.window;
  return begin + of_window(window).find(place - begin);
}

// ---- balanced

std::uint64_t Order::by_class(std::uint64_t position) const {
  const ClassTable& table = *shuffle_.classes;
  const std::uint64_t round = position / table.classes();
  const Permutation classes(mix_key(key_, kRoundStream, round), table.classes());
  const std::uint64_t number = classes.at(position % table.classes());
  const std::uint64_t count = table.count(number);
  const Permutation samples(mix_key(key_, kClassStream, number, round / count), count);
  return table.sample(number, samples.at(round % count));
}

// ---- node

/// Where a node's part of the dealt set begins; REQUIRES: node <= nodes.
std::uint64_t Order::node_begin(std::uint64_t node) const {
  const std::uint64_t steps = size() / shuffle_.step;
  const std::uint64_t rest = size() % shuffle_.step;
  return node * (steps * (shuffle_.step / shuffle_.nodes) + rest / shuffle_.nodes) +
         std::min(node, rest % shuffle_.nodes);
}

Permutation Order::of_epoch(std::uint64_t node) const {
  return {mix_key(key_, kNodeStream, node), node_begin(node + 1) - node_begin(node)};
}

Order::OfNode Order::of_node(std::uint64_t position) const {
  const std::uint64_t part = shuffle_.step / shuffle_.nodes;
  const std::uint64_t steps = size() / shuffle_.step;
  if (position < steps * shuffle_.step) {
    const std::uint64_t within = position % shuffle_.step;
    return {within / part, position / shuffle_.step * part + within % part};
  }
  std::uint64_t left = position - steps * shuffle_.step;
  const std::uint64_t rest = size() % shuffle_.step;
  const std::uint64_t each = rest / shuffle_.nodes;
  const std::uint64_t longer = rest % shuffle_.nodes;  // so many nodes get one more
  if (left < longer * (each + 1)) return {left / (each + 1), steps * part + left % (each + 1)};
  left -= longer * (each + 1);
  return {longer + left / each, steps * part + left % each};
}

std::uint64_t Order::position_of(const OfNode& place) const {
  const std::uint64_t part = shuffle_.step / shuffle_.nodes;
  const std::uint64_t steps = size() / shuffle_.step;
  if (place.index < steps * part) {
    return place.index / part * shuffle_.step + place.node * part + place.index % part;
  }
  const std::uint64_t rest = size() % shuffle_.step;
  return steps * shuffle_.step + place.node * (rest / shuffle_.nodes) +
         std::min(place.node, rest % shuffle_.nodes) + (place.index - steps * part);
}

std::uint64_t Order::node_of(std::uint64_t position) const {
  assert(shuffle_.scheme == Scheme::node && position < size());
  return of_node(position).node;
}

}  // namespace headrace
