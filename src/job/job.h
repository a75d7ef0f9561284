// SPDX-License-Identifier: Apache-2.0
/// \file One job: how the data is delivered (a mode), composed in one function, and the loader
/// on top. The command line, Python and the trainer all begin here.
///
/// Options are values; a Job is used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/loader/loader.h"
#include "headrace/records/dataset.h"
#include "headrace/records/snapshot/keeping.h"

namespace headrace {

/// A mode is which Store stands under the loader (docs/ARCHITECTURE.md, "Modes").
enum class Mode { direct, file, stream, keep, fastfile, pipe };

std::string_view to_string(Mode mode);
Result<Mode> parse_mode(std::string_view text);
/// keep for s3://, direct for a path.
Mode default_mode(std::string_view uri);
/// Empty if this machine can run the mode; else why not, and what to do.
std::string why_not_here(Mode mode);

struct JobOptions {
  std::string uri;
  /// More sets, joined behind the first (records/joined/joined.h); how much of each an epoch has
  /// is in loader.selection.
  std::vector<std::string> with;
  std::optional<Mode> mode;
  std::string local;     ///< direct: the copy of `uri` to read; file: where to put it
  std::string keep_dir;  ///< cache directory; empty: $HEADRACE_KEEP_DIR or ~/.cache/headrace
  std::uint64_t keep_bytes = 0;  ///< limit; 0 = free space less 10 %
  /// The cache's disk is as slow as this medium of data/media.yaml; empty: as it is.
  std::string keep_medium;
  std::uint64_t nodes = 0;  ///< that the ranks run on; 0: as the launcher says, else one (nodes.h)
  /// Where indexes of containers are kept that were scanned, for later jobs; empty:
  /// $HEADRACE_INDEX_DIR, else headrace-index in the user's cache folder; "none": nowhere. Mode
  /// keep has them in its cache.
  std::string index_dir;
  /// Where seek indexes of JPEGs are kept for later jobs; empty: in the cache, if there is one.
  std::string seek_dir;
  std::string medium;    ///< shaped: behave like this medium of data/media.yaml; empty: as it is
  double scale = 1;      ///< the real job is as many times as large: the medium's credits shrink so
  std::string expect;    ///< lustre, nfs, fuse, local: what a path must stand on; empty: anything
  std::string pipe_dir;  ///< pipe: where another program writes the FIFOs; empty: this one does
  std::string pipe_channel = "train";
  bool pipe_pairs = false;  ///< pipe: pictures that lie in no records, as (picture, label) pairs
  double pipe_wait = 0;  ///< pipe: seconds until a FIFO of `pipe_dir` appears, and until bytes come
                         ///< in it; 0: 60 and 600
  SnapshotKeeping snapshot;  ///< whether the listing is kept, or a kept one is used
  OpenOptions open;
  LoaderOptions loader;
  std::optional<State> resume;
  bool start = true;  ///< false: the loader begins when Job::start is called
  /// What a download has done so far, from any thread; may be empty.
  std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_total)> on_fetch;
  /// What the job has waited for some seconds that another program must do, from any thread; may
  /// be empty.
  std::function<void(const std::string& what)> on_wait;
};

/// Whether the options fit each other, before anything is opened.
///  * `invalid`   one belongs to another mode, both named; the medium is not in data/media.yaml
Result<void> check_options(const JobOptions& options);

/// Drops what belongs to other modes than the job's own, or to another place, further sets and what
/// is drawn of them: for a job, such as validation, that was made from another's options.
void drop_other_modes(JobOptions& options);

class Job {
 public:
  /// Checks the options first.
  static Result<std::unique_ptr<Job>> open(const JobOptions& options, const std::stop_token& stop);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  virtual ~Job() = default;

  virtual Mode mode() const = 0;
  virtual const Context& context() const = 0;
  virtual const Dataset& dataset() const = 0;
  /// The medium under a path, "NFS (nfs4), fs-1:/ mounted at /data"; empty for what is no path.
  virtual const std::string& stands_on() const = 0;
  /// Builds the loader, which begins to read ahead at once.
  virtual Result<void> start() = 0;
  /// REQUIRES: started
  virtual Loader& loader() = 0;

 protected:
  Job() = default;
};

}  // namespace headrace
