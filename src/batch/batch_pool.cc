// SPDX-License-Identifier: Apache-2.0
#include "headrace/batch/batch_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace headrace {

namespace {

/// What is recycled: pixels, and the small lists with their capacity.
struct Block {
  HostBlock pixels;
  std::vector<Slot> slots;
  std::vector<float> labels;
  std::vector<char> dropped;  // a byte each, since threads write neighbours
};

}  // namespace

struct BatchPool::Shared {
  std::size_t batch = 0;
  std::size_t sample_bytes = 0;
  std::size_t label_width = 0;
  std::size_t blocks = 0;
  Pinning pin = Pinning::no;
  mutable Mutex mutex{};
  Condition returned{};
  std::vector<Block> free HEADRACE_GUARDED_BY(mutex){};
  std::size_t in_use HEADRACE_GUARDED_BY(mutex) = 0;

  void give_back(Block block) {
    {
      const MutexLock lock(mutex);
      free.push_back(std::move(block));
      --in_use;
    }
    returned.notify_one();
  }

  std::size_t block_bytes() const { return batch * sample_bytes; }
};

class BatchPool::PooledBatch final : public OpenBatch {
 public:
  PooledBatch(std::shared_ptr<Shared> pool, Block block, std::size_t count)
      : pool_(std::move(pool)), block_(std::move(block)) {
    slots = std::move(block_.slots);
    labels = std::move(block_.labels);
    label_width = pool_->label_width;
    slots.assign(count, Slot{});
    labels.assign(count * label_width, -1.0F);
    block_.dropped.assign(count, 0);
  }
  PooledBatch(const PooledBatch&) = delete;
  PooledBatch& operator=(const PooledBatch&) = delete;
  ~PooledBatch() override {
    block_.slots = std::move(slots);
    block_.labels = std::move(labels);
    pool_->give_back(std::move(block_));
  }

  std::span<std::byte> pixels() override {
    return {block_.pixels.data(), count() * pool_->sample_bytes};
  }
  std::span<std::byte> sample(std::size_t index) override {
    return {block_.pixels.data() + index * pool_->sample_bytes, pool_->sample_bytes};
  }
  void drop(std::size_t index) override { block_.dropped[index] = 1; }
  void set_labels(std::size_t index, std::span<const float> values) override {
    std::copy_n(values.begin(), std::min(values.size(), label_width),
                labels.begin() + static_cast<std::ptrdiff_t>(index * label_width));
  }

  void compact() override {
    std::size_t to = 0;
    const std::size_t bytes = pool_->sample_bytes;
    for (std::size_t from = 0; from < block_.dropped.size(); ++from) {
      if (block_.dropped[from] != 0) continue;
      if (to != from) {
        slots[to] = slots[from];
        std::copy_n(labels.data() + from * label_width, label_width,
                    labels.data() + to * label_width);
        if (bytes != 0) std::memcpy(sample(to).data(), sample(from).data(), bytes);
      }
      ++to;
    }
    slots.resize(to);
    labels.resize(to * label_width);
    block_.dropped.assign(to, 0);
  }

 private:
  std::shared_ptr<Shared> pool_;
  Block block_;
};

BatchPool::BatchPool(std::size_t batch, std::size_t sample_bytes, std::size_t label_width,
                     std::size_t blocks, Pinning pin)
    : shared_(std::make_shared<Shared>()) {
  shared_->batch = batch;
  shared_->sample_bytes = sample_bytes;
  shared_->label_width = label_width;
  shared_->blocks = std::max<std::size_t>(blocks, 1);
  shared_->pin = pin;
}

BatchPool::~BatchPool() = default;

std::size_t BatchPool::in_use() const {
  const MutexLock lock(shared_->mutex);
  return shared_->in_use;
}

Result<std::unique_ptr<OpenBatch>> BatchPool::acquire(std::size_t count,
                                                      const std::stop_token& stop) {
  Shared& pool = *shared_;
  if (count > pool.batch) {
    return Error(Code::invalid,
                 fmt::format("a batch of {} samples from a pool of {}", count, pool.batch));
  }
  Block block;
  {
    MutexLock lock(pool.mutex);
    while (pool.in_use == pool.blocks) {
      if (!lock.wait(pool.returned, stop)) {
        return Error(Code::cancelled, "stopped while all batches were in use");
      }
    }
    ++pool.in_use;
    if (!pool.free.empty()) {
      block = std::move(pool.free.back());
      pool.free.pop_back();
    }
  }
  if (!block.pixels && pool.block_bytes() != 0) {
    auto made = HostBlock::make(pool.block_bytes(), pool.pin);
    if (!made) {
      pool.give_back({});
      return std::move(made).error();
    }
    block.pixels = *std::move(made);
  }
  return std::make_unique<PooledBatch>(shared_, std::move(block), count);
}

}  // namespace headrace
