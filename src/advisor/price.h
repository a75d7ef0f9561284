// SPDX-License-Identifier: Apache-2.0
/// \file What a run would have cost on a named instance, by a dated price file. Pure.
///
/// Sums of three parts, in dollars:
///   instance  seconds / 3600 × price an hour
///   requests  requests / 1000 × price of 1,000 reads + GB read × price a GB read
///   storage   GB kept × price a GB-month × seconds / month, where the set is kept and where a
///             mode copies it (file, keep: the instance's disk)
/// GB = 2^30 bytes and a month = 730 hours, as Amazon bills. The time is this machine's: the named
/// instance may be faster or slower.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace::advisor {

struct InstancePrice {
  std::string type;
  double usd_per_hour = 0;
  double nvme_gb = 0;  ///< disk that comes with it
  std::string dated;
  bool verified = false;
  std::string source;
};

struct StoragePrice {
  double usd_per_gb_month = 0;
  double usd_per_gb_read = 0;
  double min_gb = 0;  ///< the least that is paid
  bool verified = false;
};

struct RequestPrice {
  double usd_per_1000_reads = 0;
  double usd_per_gb_read = 0;
  bool verified = false;
};

/// What a row used. `medium` is a name of data/media.yaml or "none".
struct Usage {
  std::string mode;
  std::string medium = "none";
  bool in_bucket = false;  ///< the set is at s3://
  double seconds = 0;
  std::uint64_t requests = 0;
  std::uint64_t bytes_read = 0;  ///< from where the set is kept
  std::uint64_t set_bytes = 0;
};

struct Cost {
  double instance = 0;
  double requests = 0;
  double storage = 0;
  double total() const { return instance + requests + storage; }
};

class PriceBook {
 public:
  /// `invalid` with what is missing, for a text that is no price file.
  static Result<PriceBook> parse(std::string_view yaml, std::string_view name);
  /// The file at `path`; if that is empty, the prices.yaml that comes with the program.
  static Result<PriceBook> load(const std::string& path = {});

  /// `invalid` for a type without a price; the error lists those there are.
  Result<InstancePrice> instance(std::string_view type) const;
  Cost cost(const InstancePrice& instance, const Usage& usage) const;

 private:
  /// The row of `storage` for a disk of the instance; none (null) where its own disk holds the set.
  const StoragePrice* disk(const InstancePrice& instance, double gigabytes) const;

  std::map<std::string, InstancePrice, std::less<>> instances_;
  std::map<std::string, StoragePrice, std::less<>> storage_;
  std::map<std::string, RequestPrice, std::less<>> requests_;
  std::map<std::string, std::string, std::less<>> media_;    ///< medium -> row of storage_
  std::map<std::string, std::string, std::less<>> volumes_;  ///< "ec2", "sagemaker" -> the same
};

}  // namespace headrace::advisor
