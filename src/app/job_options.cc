// SPDX-License-Identifier: Apache-2.0
#include "job_options.h"

#include <map>

#include "headrace/base/cli_numbers.h"
#include "headrace/job/cli_selection.h"
#include "source_options.h"

namespace headrace::app {
namespace {

const std::map<std::string, OnBad>& policies() {
  static const std::map<std::string, OnBad> names{
      {"error", OnBad::error}, {"skip", OnBad::skip}, {"substitute", OnBad::substitute}};
  return names;
}

void add_where(CLI::App& command, JobArguments& a) {
  command
      .add_option("uri", a.uris,
                  "A path, s3://bucket/prefix or nfs://host/export/path: a folder, a .rec, …; "
                  "several are read as one set")
      ->required();
  command.add_option(
      "--mode", a.mode,
      "direct, file, stream, keep, fastfile or pipe (default: keep for s3://, else direct)");
  command.add_option("--local", a.job.local,
                     "direct: the copy of URI to read; file: where the copy is put and kept, of "
                     "several sets each in a folder of its own");
  command.add_option("--keep-dir", a.job.keep_dir,
                     "keep: the cache's folder (default: $HEADRACE_KEEP_DIR or ~/.cache/headrace)");
  command
      .add_option("--keep-size,--keep-bytes", a.job.keep_bytes,
                  "keep: the cache's limit, such as 50G")
      ->transform(CLI::AsSizeValue(false));
  command.add_option("--keep-medium", a.job.keep_medium,
                     "keep: the cache's disk is as slow as a medium of data/media.yaml");
  command.add_flag("--partial-reads", a.job.loader.partial_reads,
                   "keep: from the second epoch on read of a JPEG only what its crop needs");
  command.add_option("--index-dir", a.job.index_dir,
                     "Folder that keeps the indexes of scanned containers (default: "
                     "$HEADRACE_INDEX_DIR or ~/.cache/headrace-index; none: nowhere)");
  auto* const seek =
      command.add_option("--seek-index", a.job.seek_dir,
                         "Folder that keeps where decoding can begin in each JPEG, for later jobs "
                         "(mode keep: the cache does)");
  command.add_flag("--no-seek-index", a.no_seek_index, "Neither make nor use that")->excludes(seek);
  command
      .add_option("--expect", a.job.expect,
                  "Refuse a path that does not stand on lustre, nfs, fuse or local: a mount that "
                  "is missing looks like a folder")
      ->check(CLI::IsMember({"lustre", "nfs", "fuse", "local"}));
  command.add_option("--medium", a.job.medium, "Be as slow as a medium of data/media.yaml");
  command
      .add_option("--scale", a.job.scale,
                  "The real job is N times as large: a medium's credits shrink so")
      ->check(CLI::Range(1.0, 1e9))
      ->capture_default_str();
  command.add_option("--pipe-dir", a.job.pipe_dir,
                     "pipe: the folder in which another program writes the FIFOs");
  command.add_option("--channel", a.job.pipe_channel, "pipe: the channel in --pipe-dir")
      ->capture_default_str();
  command
      .add_option("--pipe-wait", a.job.pipe_wait,
                  "pipe: seconds until a FIFO of --pipe-dir is there, and until bytes come in it "
                  "(default: 60 and 600)")
      ->check(CLI::Range(1e-3, 1e9));
  command.add_flag("--pairs", a.job.pipe_pairs,
                   "pipe: pictures that are in no records, as (picture, label) record pairs");
  command
      .add_option("--snapshot", a.snapshot,
                  "refresh: list, and keep what was listed; reuse: use what was kept, and list "
                  "nothing (default: list, keep nothing)")
      ->check(CLI::IsMember({"refresh", "reuse"}));
  command.add_option("--snapshot-file", a.job.snapshot.file,
                     "The file it is kept in (default: in $HEADRACE_SNAPSHOT_DIR or "
                     "~/.cache/headrace-snapshots)");
  add_source_options(command, a.job.open);
}

void add_order(CLI::App& command, JobArguments& a) {
  LoaderOptions& loader = a.job.loader;
  command
      .add_option("--epochs", loader.epochs,
                  "Epochs, counted from 0; with 0 the set is only opened")
      ->capture_default_str();
  command.add_option("--batch", loader.batch, "Samples in a batch of one rank")
      ->check(at_least_one())
      ->capture_default_str();
  command.add_option("--seed", loader.seed, "Fixes order and augmentation")->capture_default_str();
  command
      .add_option("--shuffle", a.shuffle,
                  "global; blocks or blocks:SAMPLESxRUNS; node or node:NODES; balanced; none")
      ->capture_default_str();
  command.add_option("--rank", loader.rank, "This process's rank")->capture_default_str();
  command.add_option("--world-size", loader.world, "Number of ranks")
      ->check(at_least_one())
      ->capture_default_str();
  command.add_option(
      "--nodes", a.job.nodes,
      "Nodes that the ranks run on (default: as torchrun, MPI or Slurm say, else 1)");
  auto* const drop = command.add_flag("--drop-last", a.drop_last, "Leave out an incomplete step");
  auto* const pad =
      command.add_flag("--pad", a.pad, "Fill an incomplete step from the epoch's start, marked")
          ->excludes(drop);
  command.add_flag("--wrap", a.wrap, "As --pad, not marked: what fills it counts as any other")
      ->excludes(drop)
      ->excludes(pad);
}

void add_work(CLI::App& command, JobArguments& a) {
  LoaderOptions& loader = a.job.loader;
  command.add_option("--threads", loader.threads, "Decode threads (default: all processors)");
  command.add_option("--budget", loader.budget_bytes, "Memory for data on its way, such as 256M")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  command.add_option("--requests", loader.max_requests, "Reads in flight")
      ->check(at_least_one())
      ->capture_default_str();
  command.add_option("--depth", loader.depth, "Batches made ahead")
      ->check(at_least_one())
      ->capture_default_str();
  command.add_flag("--pin", a.pin, "Pin the batches' memory, for copies to an accelerator");
  command.add_option("--on-bad", a.on_bad, "A damaged sample: error, skip or substitute")
      ->check(CLI::IsMember(policies()))
      ->capture_default_str();
  command
      .add_option("--max-bad", loader.max_bad,
                  "Share of an epoch that may be bad, such as 0.1% or 0.001")
      ->transform(as_share())
      ->capture_default_str();
  command.add_option("--quarantine", loader.quarantine, "File that bad samples are listed in");
}

void add_pixels(CLI::App& command, JobArguments& a) {
  Transform& transform = a.job.loader.transform;
  command.add_option("--augment", a.augment,
                     "random_resized_crop, center_crop, pad_crop, none; crop, crop_color or "
                     "crop_color_transform as SageMaker's built-in classifier");
  command.add_option("--jitter", a.jitter,
                     "Random colours: BRIGHTNESS,CONTRAST,SATURATION,HUE, such as 0.4,0.4,0.4,0.1");
  command.add_option("--erase", transform.erase, "Probability that a part is erased")
      ->check(CLI::Range(0.0, 1.0));
  command
      .add_option("--orient", a.orient, "exif: turn pictures as their EXIF says; stored: do not")
      ->check(CLI::IsMember({"stored", "exif"}))
      ->capture_default_str();
  command
      .add_option("--colours", a.colours,
                  "srgb: follow embedded colour profiles; stored: take the samples as they are")
      ->check(CLI::IsMember({"stored", "srgb"}))
      ->capture_default_str();
  command.add_option("--size", a.size, "Width and height of the pixels (default: 224)");
  command
      .add_option("--resize", transform.resize,
                  "Shorter side before a crop without scale; 0: as it is")
      ->capture_default_str();
  command.add_option("--layout", a.layout, "nchw_f32, nchw_f16, nchw_bf16, nchw_u8 or nhwc_u8")
      ->check(CLI::IsMember({"nchw_f32", "nchw_f16", "nchw_bf16", "nchw_u8", "nhwc_u8"}))
      ->capture_default_str();
  command
      .add_option("--filter", a.filter,
                  "Of the resize: bilinear, bicubic, lanczos, box, hamming or nearest")
      ->check(CLI::IsMember({"bilinear", "bicubic", "lanczos", "box", "hamming", "nearest"}))
      ->capture_default_str();
  command.add_option("--pass-order", a.pass_order, "Resize as pillow12 or pillow13 does")
      ->check(CLI::IsMember({"pillow12", "pillow13"}))
      ->capture_default_str();
  command.add_flag("--grey", transform.grey, "One channel");
  command.add_flag("--no-decode", a.no_decode, "Digest the pictures, make no pixels");
}

}  // namespace

Result<JobOptions> JobArguments::to_options() const {
  JobOptions options = job;
  LoaderOptions& loader = options.loader;
  if (!uris.empty()) {
    options.uri = uris.front();
    options.with.assign(uris.begin() + 1, uris.end());
  }
  if (!mode.empty()) {
    HEADRACE_TRY(options.mode, parse_mode(mode));
  }
  if (!snapshot.empty()) {
    options.snapshot.use = snapshot == "reuse" ? SnapshotUse::reuse : SnapshotUse::refresh;
  }
  HEADRACE_TRY(loader.shuffle, parse_shuffle(shuffle));
  if (!augment.empty()) {
    HEADRACE_TRY(loader.transform.augment, parse_augment(augment));
  }
  HEADRACE_TRY(loader.transform.layout, parse_layout(layout));
  HEADRACE_TRY(loader.transform.filter, parse_filter(filter));
  HEADRACE_TRY(loader.transform.orient, parse_orient(orient));
  HEADRACE_TRY(loader.transform.colours, parse_colours(colours));
  if (!jitter.empty()) {
    HEADRACE_TRY(loader.transform.jitter, parse_jitter(jitter));
  }
  if (pass_order == "pillow13") loader.transform.pass_order = PassOrder::pillow13;
  loader.on_bad = policies().at(on_bad);
  if (pin) loader.pin = Pinning::yes;
  if (drop_last) loader.tail = Tail::drop;
  if (pad) loader.tail = Tail::pad;
  if (wrap) loader.tail = Tail::wrap;
  loader.decode = !no_decode;
  if (no_seek_index) loader.seek_bytes = 0;
  if (size != 0) loader.transform.width = loader.transform.height = size;
  return options;
}

void check_job_options(const JobArguments& arguments) {
  const auto options = arguments.to_options();
  const auto checked = options ? check_options(*options) : Result<void>(options.error());
  if (!checked && checked.error().code() == Code::invalid)
    throw CLI::ValidationError("options", checked.error().to_string());
}

void add_job_options(CLI::App& command, JobArguments& arguments) {
  add_where(command, arguments);
  add_order(command, arguments);
  add_selection_options(command, arguments.job.loader.selection);
  add_work(command, arguments);
  add_pixels(command, arguments);
}

}  // namespace headrace::app
