// SPDX-License-Identifier: Apache-2.0
/// \file A data set as numbered samples: where each lies, and what its bytes mean.
///
/// Thread-safe once made: all calls are const. Index memory is file-backed (MappedArray), so
/// private memory does not grow with the number of samples. The example to copy is folder/.
///
/// Sample id = ordinal in canonical order: object keys relative to the root, sorted by UTF-8
/// bytes; records of containers by (shard name, record number).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/context.h"
#include "headrace/base/digest.h"
#include "headrace/base/result.h"
#include "headrace/records/damage.h"
#include "headrace/records/label_base.h"
#include "headrace/records/recordio/parts.h"
#include "headrace/records/scan_progress.h"
#include "headrace/storage/side_store.h"
#include "headrace/storage/store.h"

namespace headrace {

enum class SampleId : std::uint64_t {};

/// Where one sample's frame lies.
struct Extent {
  std::string key;
  Pin pin;
  ByteRange range;  ///< length is always given
};

/// A named part of a record: a member of a tar, a column of an MDS shard.
struct RawField {
  std::string name;
  Bytes content;
};

/// A record as it is framed, with all headers that stand in it. For listings and copies.
struct RawRecord {
  Bytes content;
  std::optional<std::string> key;       ///< if records of the format have one
  std::vector<float> labels;            ///< empty if it has none
  std::vector<RawField> fields;         ///< if records of the format have named parts
  std::optional<std::uint64_t> number;  ///< if the format counts over all its shards
};

/// One sample as its container held it. `payload` is the encoded picture, without any container.
struct Sample {
  std::vector<float> labels;
  Bytes payload;
};

class Dataset {
 public:
  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  virtual ~Dataset() = default;

  /// "folder", "recordio", "lst", "csv", …
  virtual std::string format() const = 0;
  virtual std::uint64_t size() const = 0;
  /// Frame length in bytes, without the cost of building an Extent. REQUIRES: id < size()
  virtual std::uint64_t frame_bytes(SampleId id) const = 0;
  virtual Extent locate(SampleId id) const = 0;
  /// Where frames are read, if the set had to be unpacked first; null: where it was opened.
  virtual Store* frame_store() const { return nullptr; }
  /// Where the frame lies in what the object holds: else than `locate`, if it is compressed.
  virtual ByteRange stream_range(SampleId id) const { return locate(id).range; }
  /// The frame's meaning. `corrupt` if it has none; the payload shares the frame's block.
  virtual Result<Sample> parse(SampleId id, const Bytes& frame) const = 0;
  /// What the frame holds, samples or not: legal records that make no sample, such as empty ones,
  /// are no error. `corrupt` if the bytes are no record.
  virtual Result<RawRecord> raw(SampleId /*id*/, const Bytes& frame) const {
    RawRecord record;
    record.content = frame;
    return record;
  }
  /// For messages and the quarantine file: "cat/7.jpg", "train.rec#41 @ 5321".
  virtual std::string name(SampleId id) const = 0;
  /// The path under which a folder holds the sample, "cat/7.jpg", where the set or the frame tells
  /// it; else empty. Kept by writers of folders, tars and lists.
  virtual std::string file(SampleId /*id*/, const Bytes& /*frame*/) const { return {}; }
  /// The first label, if it is known without reading the frame.
  virtual std::optional<float> label(SampleId /*id*/) const { return std::nullopt; }
  /// Byte-sorted class names; empty where the format has only numbers.
  virtual const std::vector<std::string>& classes() const = 0;
  /// Of the canonical order: keys, sizes, pins, labels where the index knows them. Guards resume
  /// and caches only; it is in no order.
  virtual Hash128 fingerprint() const = 0;

  /// How the index was found: "listing", "list", "idx", "scan", "side-store"; "mixed" if shards
  /// differ.
  virtual std::string index_source() const { return "listing"; }
  /// Stretches of containers that could not be read as records. Each is a sample, too, so that
  /// the policy for bad samples applies to it. At most 1000 a container.
  virtual std::vector<PlacedDamage> damage() const { return {}; }
};

/// Number of a sample's record within its object, from 0; stretches that are damage count. For
/// messages: some reads of the index.
std::uint64_t record_number(const Dataset& set, SampleId id);

struct OpenOptions {
  std::string format = "auto";  ///< auto: found from content
  std::string list;  ///< a .lst, .csv or manifest: a local file, else a key of the store; or empty
  std::string list_root;  ///< what the root is called in a manifest; empty: as the store has it
  std::vector<std::string> attribute_names;  ///< of an augmented manifest; empty: found out
  // How records are read. Names that are empty are the format's own.
  std::string image_key;  ///< feature that holds the picture: "image/encoded"
  std::string label_key;  ///< feature that holds the labels: "image/class/label"
  LabelBase label_base = LabelBase::automatic;
  recordio::Parts recordio_parts = recordio::Parts::automatic;
  bool allow_empty = false;  ///< containers without a record are a set, for listings; else an error
  bool skip_root_files = false;  ///< files beside the class folders: left out instead of an error
  std::vector<std::string> classes;  ///< authoritative class list (of the training set); empty: own
  SideStore* side_store = nullptr;   ///< where indexes are kept; may be null
  ScanProgress* scanning =
      nullptr;  ///< what is read through for an index is counted there, if given
  std::stop_token stop;
};

/// Lists or reads what is needed to number the samples of `store`. An empty prefix is `not_found`.
Result<std::unique_ptr<Dataset>> open_dataset(Store& store, const Context& context,
                                              const OpenOptions& options);

}  // namespace headrace
