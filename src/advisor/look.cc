// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/look.h"

#include "headrace/base/uri.h"
#include "headrace/job/job.h"

namespace headrace::advisor {

Result<SetInfo> look_at_set(const std::string& uri, const OpenOptions& open,
                            const std::stop_token& stop) {
  JobOptions options;
  options.uri = uri;
  options.open = open;
  options.start = false;
  HEADRACE_TRY(const auto parsed, parse_uri(uri));
  options.mode = parsed.scheme == Scheme::s3 ? Mode::stream : Mode::direct;
  HEADRACE_TRY(const auto job, Job::open(options, stop));
  const auto& set = job->dataset();
  SetInfo info{set.format(), set.size(), 0};
  for (std::uint64_t id = 0; id < info.samples; ++id) info.bytes += set.frame_bytes(SampleId{id});
  return info;
}

}  // namespace headrace::advisor
