// SPDX-License-Identifier: Apache-2.0
/// \file What a medium (S3, EFS, gp3, NVMe, a FIFO, …) can do, as numbers. A value.
///
/// The figures and their sources are in data/media.yaml; src/job/media_file.h reads them. 0 means
/// no limit that is known. Example:
///
///     Medium gp3{.name = "ebs-gp3", .first_byte_median_ms = 1, .rate_total_MBps = 131.072};
#pragma once

#include <cstdint>
#include <string>

namespace headrace {

/// A rate that may be exceeded for a while: credits are earned at `baseline` a second, spent by
/// what is used, and while there are any the rate is `burst`. `burst` of 0: there are none.
struct Credits {
  double baseline = 0;
  double burst = 0;
  double start = 0;
  double cap = 0;
};

struct Medium {
  std::string name;
  /// Lognormal with these two points; constant where `first_byte_p99_ms` is 0.
  double first_byte_median_ms = 0;
  double first_byte_p99_ms = 0;
  double metadata_ms = 0;               ///< of head and of each page of a list; constant
  double rate_per_connection_MBps = 0;  ///< MB = 10^6 bytes
  double rate_total_MBps = 0;
  double requests_per_second = 0;
  double request_KiB = 0;  ///< a read counts as one request per such piece; 0: as one
  /// The first read of an object waits until all of it was loaded from behind the medium, as FSx
  /// for Lustre does from S3: this long, and its bytes at this rate. 0 and 0: nothing is loaded.
  double load_first_byte_ms = 0;
  double load_rate_MBps = 0;     ///< of each object; 0: it takes no time
  bool one_stream = false;       ///< reads follow one another, and only the first waits
  Credits throughput_credits{};  ///< in MB; on top of rate_total_MBps
  Credits request_credits{};     ///< in requests; on top of requests_per_second
};

/// The same medium for a job that is `factor` times as large, such as 0.01: its credits shrink
/// with it, so that a bursting medium runs dry at the same share of the job. Rates stay.
Medium scaled(Medium medium, double factor);

}  // namespace headrace
