// SPDX-License-Identifier: Apache-2.0
/// The command line of headrace-train, which `headrace train` becomes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "headrace/base/cli_numbers.h"
#include "headrace/base/printable.h"
#include "headrace/base/signal_stop.h"
#include "headrace/consumers/train/train_job.h"
#include "headrace/job/cli_scan_line.h"
#include "headrace/job/cli_selection.h"
#include "headrace/records/cli_reading.h"

namespace {

using namespace headrace;

constexpr int kUsage = 2;

constexpr const char* kExamples = R"(Examples:
  headrace train --data pictures/train --val pictures/val --model resnet20 \
    --image-shape 3,32,32 --epochs 30 --lr-step 15,25 --checkpoint run
  headrace train --data s3://bucket/train --val s3://bucket/val --model resnet50 \
    --mode keep --epochs 20 --batch 64 --schedule cosine --warmup 1 --checkpoint run --resume
  headrace train --data photos drawings --shares 0.8,0.2 --epoch-samples 100000 --val val
  torchrun --no-python --nproc-per-node 2 headrace train --data pictures --model resnet18)";

/// The command line's words, before they are turned into options.
struct Words {
  std::vector<std::string> sets;
  std::string mode, image_shape, augment, schedule = "step", lr_step, on_bad = "error",
                                          shuffle = "global";
  std::vector<float> mean, deviation;
  bool drop_last = false, pad = false, wrap = false, json = false;
};

void add_data(CLI::App& app, TrainOptions& options, Words& words) {
  const std::string group = "Data";
  JobOptions& data = options.data;
  app.add_option(
         "--data", words.sets,
         "Training pictures: a path or s3://bucket/prefix; several are trained on as one set")
      ->required()
      ->group(group);
  app.add_option("--val", options.validation, "Validation pictures, scored after each epoch")
      ->group(group);
  app.add_option("--mode", words.mode, "direct, file, stream, keep or pipe")->group(group);
  app.add_option("--local", data.local, "The training set's copy on a disk (direct, file)")
      ->group(group);
  app.add_option("--val-local", options.validation_local, "The validation set's copy")
      ->group(group);
  app.add_option("--keep-dir", data.keep_dir, "The node cache of mode keep")->group(group);
  app.add_option("--keep-size,--keep-bytes", data.keep_bytes, "Its limit, such as 50G")
      ->transform(CLI::AsSizeValue(false))
      ->group(group);
  app.add_flag("--partial-reads", data.loader.partial_reads,
               "Mode keep: from the second epoch on read of a JPEG only what its crop needs")
      ->group(group);
  app.add_option("--medium", data.medium, "Behave like this medium of data/media.yaml")
      ->group(group);
  app.add_option("--list", data.open.list, "A .lst or .csv file with the training set's labels")
      ->group(group);
  app.add_flag("--root-files-skip", data.open.skip_root_files,
               "Leave out pictures that lie beside the class folders")
      ->group(group);
  add_reading_options(app, data.open, group);
  add_selection_options(app, data.loader.selection, group);
  app.add_option("--threads", data.loader.threads, "Decode threads [all processors]")->group(group);
  app.add_option("--batch", data.loader.batch, "Samples a step, on each rank")
      ->check(at_least_one())
      ->capture_default_str()
      ->group(group);
  app.add_option("--shuffle", words.shuffle, "global, blocks, node or none; as in headrace read")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--drop-last", words.drop_last, "Leave out the last, short batch")->group(group);
  app.add_flag("--pad", words.pad, "Fill up the last batch; nothing is learnt from the filling")
      ->excludes("--drop-last")
      ->group(group);
  app.add_flag("--wrap", words.wrap, "As --pad; what fills it is learnt from, too")->group(group);
  app.add_option("--on-bad", words.on_bad, "Damaged pictures: error, skip or substitute")
      ->capture_default_str()
      ->group(group);
  app.add_option("--max-bad", data.loader.max_bad,
                 "Share of an epoch that may be bad, such as 0.1% or 0.001")
      ->transform(as_share())
      ->capture_default_str()
      ->group(group);
  app.add_option("--quarantine", data.loader.quarantine, "File that bad samples are listed in")
      ->group(group);
  app.add_option("--image-shape", words.image_shape,
                 "C,H,W; C is 1 or 3 [3,32,32 for resnet20, else 3,224,224]")
      ->group(group);
  app.add_option("--augment", words.augment,
                 "random_resized_crop, center_crop, pad_crop or none [pad_crop for resnet20, else "
                 "random_resized_crop]")
      ->group(group);
  app.add_option("--resize", data.loader.transform.resize, "Shorter side before a centre crop")
      ->capture_default_str()
      ->group(group);
  app.add_option("--mean", words.mean, "Of each channel, of 1 [ImageNet's]")
      ->delimiter(',')
      ->expected(1, 3)
      ->group(group);
  app.add_option("--std", words.deviation, "Of each channel, of 1 [ImageNet's]")
      ->delimiter(',')
      ->expected(1, 3)
      ->group(group);
}

void add_training(CLI::App& app, TrainOptions& options, Words& words) {
  const std::string group = "Training";
  app.add_option("--model", options.learner.model, "resnet18, resnet20 or resnet50")
      ->check(CLI::IsMember({"resnet18", "resnet20", "resnet50"}))
      ->capture_default_str()
      ->group(group);
  app.add_option("--num-classes", options.learner.classes, "[as many as the data set names]")
      ->check(CLI::Range(0, 1'000'000))
      ->group(group);
  app.add_option("--epochs", options.data.loader.epochs, "Times that each sample is seen")
      ->check(at_least_one())
      ->capture_default_str()
      ->group(group);
  app.add_option("--seed", options.data.loader.seed, "Of order, augmentation and first weights")
      ->capture_default_str()
      ->group(group);
  app.add_option("--lr", options.schedule.base, "Learning rate of SGD")
      ->capture_default_str()
      ->group(group);
  app.add_option("--schedule", words.schedule, "step or cosine")
      ->capture_default_str()
      ->group(group);
  app.add_option("--lr-step", words.lr_step, "Epochs at which the rate drops, such as 10,20")
      ->group(group);
  app.add_option("--lr-factor", options.schedule.factor, "By which it drops")
      ->capture_default_str()
      ->group(group);
  app.add_option("--warmup", options.schedule.warmup, "Epochs over which the rate rises")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str()
      ->group(group);
  app.add_option("--momentum", options.learner.momentum, "Of SGD")
      ->capture_default_str()
      ->group(group);
  app.add_option("--weight-decay", options.learner.weight_decay, "Of SGD")
      ->capture_default_str()
      ->group(group);
  app.add_option("--torch-threads", options.learner.threads,
                 "Processors for the model [all]; losses are bit-equal for equal numbers only")
      ->group(group);
}

void add_run(CLI::App& app, TrainOptions& options, Words& words) {
  const std::string group = "Run";
  app.add_option("--checkpoint", options.checkpoint, "Folder for last.ckpt and best.ckpt")
      ->group(group);
  app.add_option("--checkpoint-every", options.checkpoint_every,
                 "Steps between checkpoints [at the end of each epoch]")
      ->group(group);
  app.add_flag("--resume", options.resume, "Go on from --checkpoint; begin if there is none")
      ->group(group);
  app.add_flag("--losses", options.losses, "Report the loss of each step")->group(group);
  app.add_flag("--json", words.json, "Print one JSON object; log lines go to stderr")->group(group);
}

Result<OnBad> parse_on_bad(std::string_view text) {
  if (text == "error") return OnBad::error;
  if (text == "skip") return OnBad::skip;
  if (text == "substitute") return OnBad::substitute;
  return Error(Code::invalid, fmt::format("unknown --on-bad '{}'", text),
               "choose error, skip or substitute");
}

/// The learner would take them, and every weight would soon be no number.
Result<void> check_rates(const TrainOptions& options) {
  const std::initializer_list<std::pair<const char*, double>> rates = {
      {"--lr", options.schedule.base},
      {"--lr-factor", options.schedule.factor},
      {"--momentum", options.learner.momentum},
      {"--weight-decay", options.learner.weight_decay}};
  for (const auto& [name, value] : rates) {
    if (std::isfinite(value) && value >= 0) continue;
    return Error(Code::invalid, fmt::format("{} {} is no rate", name, value),
                 "give a number that is not below 0");
  }
  return {};
}

Result<void> check_channels(std::string_view option, std::size_t given,
                            const Transform& transform) {
  const std::size_t channels = transform.grey ? 1 : 3;
  if (given == 0 || given == 1 || given == channels) return {};
  return Error(Code::invalid,
               fmt::format("{} has {} numbers for {} channels", option, given, channels),
               "give one for each channel, or one for all");
}

Result<void> interpret(const Words& words, TrainOptions& options) {
  HEADRACE_TRY(check_rates(options));
  if (options.resume && options.checkpoint.empty())
    return Error(Code::invalid, "--resume needs --checkpoint: the folder to resume from");
  options.data.uri = words.sets.front();
  options.data.with.assign(words.sets.begin() + 1, words.sets.end());
  LoaderOptions& loader = options.data.loader;
  const bool small = options.learner.model == "resnet20";
  const std::string shape = small ? "3,32,32" : "3,224,224";
  const std::string augment = small ? "pad_crop" : "random_resized_crop";
  if (!words.mode.empty()) {
    HEADRACE_TRY(options.data.mode, parse_mode(words.mode));
  }
  HEADRACE_TRY(loader.shuffle, parse_shuffle(words.shuffle));
  HEADRACE_TRY(loader.on_bad, parse_on_bad(words.on_bad));
  HEADRACE_TRY(options.schedule.curve, parse_curve(words.schedule));
  HEADRACE_TRY(options.schedule.steps, parse_steps(words.lr_step));
  HEADRACE_TRY(
      set_image_shape(words.image_shape.empty() ? shape : words.image_shape, loader.transform));
  HEADRACE_TRY(loader.transform.augment,
               parse_augment(words.augment.empty() ? augment : words.augment));
  HEADRACE_TRY(check_channels("--mean", words.mean.size(), loader.transform));
  HEADRACE_TRY(check_channels("--std", words.deviation.size(), loader.transform));
  for (std::size_t i = 0; i < 3; ++i) {  // one number holds for all channels
    if (!words.mean.empty()) {
      loader.transform.mean[i] = words.mean[std::min(i, words.mean.size() - 1)];
    }
    if (!words.deviation.empty()) {
      loader.transform.std[i] = words.deviation[std::min(i, words.deviation.size() - 1)];
    }
  }
  loader.tail = words.drop_last ? Tail::drop
                : words.pad     ? Tail::pad
                : words.wrap    ? Tail::wrap
                                : Tail::keep;
  return check_options(options.data);
}

int report(const Error& error) {
  fmt::print(stderr, "headrace train: {}: {}\n", to_string(error.code()),
             printable(error.to_string()));
  return error.code() == Code::cancelled ? kStoppedExit : 1;
}

Result<int> train_and_print(TrainOptions options, bool json, const std::stop_token& stop) {
  HEADRACE_TRY(const GroupOptions where, group_from_environment());
  HEADRACE_TRY(const auto group, join_group(where));
  const bool speaks = group->rank() == 0;
  const auto log = [json, speaks](const std::string& line) {
    std::FILE* const to = json ? stderr : stdout;
    if (!speaks) return;
    fmt::print(to, "{}\n", line);
    std::fflush(to);
  };
  ScanLine scan;
  options.data.open.scanning = speaks ? &scan.progress() : nullptr;
  HEADRACE_TRY(const TrainResult result, train(options, *group, log, stop));
  for (const auto& notice : result.notices) {
    const auto times = notice.count == 1 ? "" : fmt::format(" ({} times)", notice.count);
    fmt::print(stderr, "headrace train: notice: {}{}\n", printable(notice.text), times);
  }
  if (json && speaks) fmt::print("{}\n", result.summary.dump());
  return result.ended == Ended::stopped ? kStoppedExit : 0;
}

int run(int argc, char** argv) {
  CLI::App app("Train an image classifier: any storage, exact resume, one node or many",
               "headrace train");
  app.footer(kExamples);
  TrainOptions options;
  options.data.loader.batch = 32;
  Words words;
  add_data(app, options, words);
  add_training(app, options, words);
  add_run(app, options, words);
  refuse_wrapped_numbers(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (const auto good = interpret(words, options); !good) {
    std::ignore = report(good.error());
    return kUsage;
  }
  SignalStop signals;
  auto code = train_and_print(options, words.json, signals.token());
  return code ? *code : report(code.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& bug) {  // memory, or a library that throws: never input
    std::ignore = std::fputs(bug.what(), stderr);
    return 1;
  }
}
