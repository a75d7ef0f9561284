// SPDX-License-Identifier: Apache-2.0
// Reads of parts: whatever stands in their way, the answer is "nothing", and the caller reads the
// range in the ordinary way.
#include "headrace/storage/keep/engine.h"

namespace headrace::keep {

void Engine::read_parts(ReadRequest request, std::shared_ptr<const WantedParts> wanted,
                        PartsDone done) {
  const auto nothing = [&done] { done(std::optional<Bytes>()); };
  if (request.stop.stop_requested())
    return done(Error(Code::cancelled, "stopped").at(object_place(store_, request.key)));
  if (is_early_.load(std::memory_order_acquire) || !usable() || request.fresh ||
      wanted->blocks.empty())
    return nothing();
  const ByteRange& range = request.range;
  const Hash128 object = object_id(store_, request.key, *request.pin);
  // Looked for first, since a read that is asked for twice would end a pass (Cache::want).
  if (!cache_.find(object, range.offset, range.length)) return nothing();
  auto parts = cache_.want(object, range.offset, range.length);
  if (!parts) return nothing();
  std::uint64_t bytes = 0;
  for (const CheckedBlock& block : wanted->blocks) bytes += block.length;
  auto at_hand = cache_.read_blocks_at_hand(*parts, *wanted);
  if (!at_hand) return answer_parts(std::move(at_hand).error(), bytes, done);
  if (*at_hand) return answer_parts(**std::move(at_hand), bytes, done);
  auto read = std::make_unique<DiskRead>();
  read->request = std::move(request);
  read->side = [this, bytes, done = std::move(done)](Result<Bytes> got) {
    answer_parts(std::move(got), bytes, done);
  };
  read->parts = *std::move(parts);
  read->wanted = std::move(wanted);
  pool_.push(std::move(read));
}

void Engine::answer_parts(Result<Bytes> range, std::uint64_t read_bytes, const PartsDone& done) {
  if (range) {
    read_errors_.store(0, std::memory_order_relaxed);
    count_hit(read_bytes);
    return done(std::optional(*std::move(range)));
  }
  if (range.error().code() == Code::cancelled) return done(std::move(range).error());
  read_failed(range.error());
  done(std::optional<Bytes>());
}

}  // namespace headrace::keep
