// SPDX-License-Identifier: Apache-2.0
/// \file Reading only what a crop needs: a record's first, whole decode leaves a note, and from
/// then on order, crop and seek index tell beforehand which blocks of it are enough.
///
/// A note holds what the digests and the batch need of the whole record (its payload's hash and
/// place, its labels), a checksum of each block of the payload, and the picture's headers, which
/// are small and would be a read of their own. A block is used only if it fits
/// its checksum, and the decoder looks at no byte outside of the blocks that it was given; so the
/// pixels are those of the whole record, or the record is read whole.
///
/// Thread-safe. Lives in scratch files, as seek_memory.h, and is kept beside the seek indexes for
/// other ranks and later jobs (SEEK-SHELF.md): 60 bytes, the headers, and 8 for each 4 KiB of the
/// picture: together about 1 % of pictures of 105 KB.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "headrace/decode/decoder.h"
#include "headrace/loader/loader.h"
#include "headrace/loader/seek_memory.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/part_reader.h"

namespace headrace {

/// `invalid` if partial reads are asked for without what they need.
Result<void> check_partial_reads(const LoaderOptions& options);

/// What of one record is enough in one epoch.
struct PartPlan {
  std::shared_ptr<const WantedParts> wanted;  ///< of the frame
  std::vector<jpeg::ByteRun> there;           ///< of the payload: what is known, or wanted
  std::uint64_t payload_begin = 0;            ///< in the frame
  std::uint64_t payload_bytes = 0;
  Hash128 payload;
  std::vector<float> labels;
};

class PartReads {
 public:
  /// An error if there is no room for the scratch file. All must outlive it.
  static Result<std::unique_ptr<PartReads>> make(const Dataset& dataset,
                                                 const LoaderOptions& options,
                                                 const SeekMemory& seeks);

  /// What a decode of a whole record found out: of a picture that has an outline and a seek index,
  /// and whose bytes lie in the frame as they are. The first note of a sample counts.
  void note(SampleId id, const Bytes& frame, const Sample& sample, const Hash128& payload,
            const std::optional<PictureOutline>& outline);

  /// What is noted, to be kept.
  SeekMemory& notes() { return *notes_; }
  /// Names the notes of records that are read so, of the set with this fingerprint.
  static std::string name(const Dataset& dataset, const LoaderOptions& options);

  /// Null: the whole record, since nothing is noted, or since less would not be worth it.
  std::shared_ptr<const PartPlan> plan(SampleId id, std::uint64_t epoch) const;

 private:
  PartReads(std::unique_ptr<SeekMemory> notes, const Dataset& dataset, const LoaderOptions& options,
            const SeekMemory& seeks)
      : notes_(std::move(notes)), dataset_(dataset), options_(options), seeks_(seeks) {}

  const std::unique_ptr<SeekMemory> notes_;
  const Dataset& dataset_;
  const LoaderOptions& options_;
  const SeekMemory& seeks_;
};

}  // namespace headrace
