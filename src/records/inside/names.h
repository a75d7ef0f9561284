// SPDX-License-Identifier: Apache-2.0
/// \file The samples of a set as files of class folders: what each is called, how large it is, and
/// where its picture lies.
///
/// A container says nothing of this in one place, so each frame is read once; what was found is
/// kept in a SideStore, if there is one (of up to 4 million samples), and then found there. Names
/// are those that a conversion to format `folder` would write (folder/file_name.h). Memory is
/// file-backed: 32 bytes a sample and its name. Not thread-safe while it grows; any number of
/// readers once `finish` was called.
///
///     HEADRACE_TRY(const auto names, name_samples(store, *set, {}, context));
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/base/mapped_array.h"
#include "headrace/base/result.h"
#include "headrace/records/convert/convert.h"
#include "headrace/records/dataset.h"
#include "headrace/records/read_ahead.h"
#include "headrace/storage/side_store.h"

namespace headrace {

class SampleNames {
 public:
  struct Place {
    SampleId id{};
    std::uint64_t bytes = 0;  ///< of the picture
    /// Where in its frame the picture lies as it is; kUnframed: the frame must be parsed to get it.
    std::uint64_t offset = 0;
  };
  static constexpr std::uint64_t kUnframed = ~std::uint64_t{0};

  static Result<SampleNames> make();

  Result<void> add(std::string_view name, const Place& place);
  /// Sorts by name.
  ///  * `invalid`   two samples of one name, which is said
  Result<void> finish();

  std::uint64_t size() const { return entries_.size(); }
  std::string_view key(std::uint64_t at) const;  ///< the name; valid as long as this
  Place place(std::uint64_t at) const;
  std::optional<std::uint64_t> find(std::string_view name) const;
  /// The first whose name is not less than `name`, or size().
  std::uint64_t lower_bound(std::string_view name) const;

  /// For a SideStore: "HRNAMES1", u64 number, then of each, sorted by name, u64 id, bytes, offset,
  /// and u16 length of the name; then all names. Little-endian.
  std::vector<std::byte> to_bytes() const;
  /// Nothing if that is not what `to_bytes` made for a set of `samples` samples.
  static Result<std::optional<SampleNames>> from_bytes(ByteSpan bytes, std::uint64_t samples);

 private:
  struct Entry {
    std::uint64_t name_at;  ///< in names_: u16 length, then the name
    Place place;
  };
  static_assert(sizeof(Entry) == 32);
  std::string_view name(const Entry& entry) const;

  MappedArray<Entry> entries_;
  MappedArray<char> names_;
};

struct NamingOptions {
  bool skip_bad = false;  ///< leave out what cannot be read: notice "hidden-samples"; else an error
  SideStore* side_store = nullptr;
  ReadAheadOptions reading;
  WorkProgress* progress = nullptr;
  std::stop_token stop;
};

/// `store`: where the set was opened. Notices "order-changed" and "labels-changed" as a conversion
/// leaves them; not when names that were kept are found.
///  * `invalid`   a sample that no class folder can hold, or two of one name
///  * `corrupt`, … a sample that cannot be read
Result<SampleNames> name_samples(Store& store, const Dataset& set, const NamingOptions& options,
                                 const Context& context);

}  // namespace headrace
