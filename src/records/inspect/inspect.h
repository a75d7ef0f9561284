// SPDX-License-Identifier: Apache-2.0
/// \file What a set is, at a glance; and every record of it, one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/records/dataset.h"
#include "headrace/records/read_ahead.h"
#include "headrace/storage/store.h"

namespace headrace {

struct Summary {
  std::string format;
  std::uint64_t samples = 0;
  std::uint64_t frame_bytes = 0;
  std::uint64_t smallest = 0, largest = 0;  ///< frames
  std::vector<std::string> classes;
  Hash128 fingerprint;
  std::string index_source;
  std::vector<PlacedDamage> damage;
};

/// From the index alone: nothing is read.
Summary summarise(const Dataset& set);

struct FieldLine {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;              ///< empty if there is `hex`
  std::optional<std::string> hex;  ///< the value itself, where the format shows short ones so
};

struct RecordLine {
  std::uint64_t record = 0;  ///< number in its object (MDS: in the set), damage not counted
  std::string object;
  std::uint64_t offset = 0;  ///< of the frame
  std::uint64_t length = 0;  ///< of the record as framed
  std::string sha256;        ///< of these bytes
  std::optional<std::string> key;
  std::vector<float> labels;
  std::vector<FieldLine> fields;  ///< empty if the format has none
};

struct RecordsEnd {
  std::uint64_t records = 0;
  std::vector<PlacedDamage> damage;
};

/// Hands every record to `use`, in canonical order. Notices: "read-again", into `notices` if given.
Result<RecordsEnd> list_records(Store& store, const Dataset& set, const ReadAheadOptions& reading,
                                const std::stop_token& stop,
                                const std::function<void(const RecordLine&)>& use,
                                Notices* notices = nullptr);

}  // namespace headrace
