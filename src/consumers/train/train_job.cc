// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/train_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>

#include "headrace/base/process.h"
#include "headrace/base/writable.h"
#include "headrace/consumers/train/checkpoint.h"

namespace headrace {
namespace {

using nlohmann::json;

/// The validation set as the training set asks for it: its classes, no luck in the pictures.
JobOptions validation_job(const TrainOptions& options, const std::vector<std::string>& classes,
                          std::uint64_t epoch) {
  JobOptions job = options.data;
  job.uri = options.validation;
  job.local = options.validation_local;
  job.resume.reset();
  job.open.classes = classes;
  job.open.list.clear();
  drop_other_modes(job);
  job.loader.shuffle = Shuffle::none;
  job.loader.tail = Tail::keep;
  job.loader.first_epoch = epoch;
  job.loader.transform = validation_of(job.loader.transform);
  return job;
}

/// Everything that changes the losses, by the names of the command line.
json recipe_of(const TrainOptions& options, const LearnerOptions& learner, const Group& group) {
  const LoaderOptions& loader = options.data.loader;
  const Schedule& schedule = options.schedule;
  json recipe{{"model", learner.model},
              {"num-classes", learner.classes},
              {"seed", loader.seed},
              {"shuffle", to_string(loader.shuffle)},
              {"global batch", loader.batch * group.world()},
              {"transform", loader.transform.to_text()},
              {"schedule", to_string(schedule.curve)},
              {"lr", schedule.base},
              {"warmup", schedule.warmup},
              {"momentum", learner.momentum},
              {"weight-decay", learner.weight_decay}};
  if (schedule.curve == Curve::cosine) {
    recipe["epochs"] = loader.epochs;
  } else {
    recipe["lr-factor"] = schedule.factor;
    recipe["lr-step"] = schedule.steps;
  }
  return recipe;
}

/// `invalid`, naming each difference, unless both are the same.
Result<void> check_recipe(const json& saved, const json& asked) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : asked.items()) {
    const json was = saved.value(name, json());
    if (was != value) {
      differences.push_back(
          fmt::format("{} is {}, in the checkpoint {}", name, value.dump(), was.dump()));
    }
  }
  if (differences.empty()) return {};
  return Error(
      Code::invalid,
      fmt::format("this is another job than the one to resume: {}", fmt::join(differences, "; ")),
      "resume with the same settings, or begin anew with another --checkpoint");
}

/// A checkpoint, taken apart.
struct Saved {
  json meta;
  Progress progress;
  State state;  ///< of this rank
  std::string archive;
};

Result<State> state_of(const std::vector<std::string>& texts, const Group& group) {
  std::vector<State> states;
  for (const auto& text : texts) {
    HEADRACE_TRY(auto state, State::parse(text));
    states.push_back(std::move(state));
  }
  if (states.size() == group.world()) return states[group.rank()];
  HEADRACE_TRY(const State whole, merge(states));
  return state_for_rank(whole, group.rank(), group.world());
}

Result<std::optional<Saved>> read_saved(const std::string& path, const Group& group) {
  HEADRACE_TRY(auto checkpoint, read_checkpoint(path));
  if (!checkpoint) return std::optional<Saved>();
  Saved saved;
  std::vector<std::string> states;
  try {
    saved.meta = json::parse(checkpoint->meta);
    saved.meta.at("states").get_to(states);
    for (const char* key : {"recipe", "classes", "progress", "torch", "torch_threads"}) {
      std::ignore = saved.meta.at(key);
    }
  } catch (const json::exception& problem) {
    return Error(Code::corrupt, problem.what()).at(path);
  }
  HEADRACE_TRY(saved.progress, parse_progress(saved.meta["progress"]).at(path));
  HEADRACE_TRY(saved.state, state_of(states, group).at(path));
  saved.archive = std::move(checkpoint->archive);
  return std::optional<Saved>(std::move(saved));
}

/// What --resume finds; nothing to begin anew. A checkpoint is never overwritten by accident.
Result<std::optional<Saved>> find_saved(const TrainOptions& options, const Group& group) {
  if (options.checkpoint.empty()) {
    if (!options.resume) return std::optional<Saved>();
    return Error(Code::invalid, "--resume needs --checkpoint: the folder to resume from");
  }
  const std::string path = options.checkpoint + "/last.ckpt";
  HEADRACE_TRY(auto saved, read_saved(path, group));
  if (saved && !options.resume) {
    return Error(Code::invalid, "there is a checkpoint of an earlier job",
                 "go on from it with --resume, or name another folder")
        .at(path);
  }
  if (group.rank() == 0) HEADRACE_TRY(check_can_write(path));  // not after an epoch's work
  return saved;
}

Result<std::uint64_t> count_classes(const TrainOptions& options, const Dataset& dataset) {
  const std::uint64_t asked = options.learner.classes;
  const std::uint64_t named = dataset.classes().size();
  if (asked == 0 && named == 0) {
    return Error(Code::invalid, "the data set has no class names", "give --num-classes")
        .at(options.data.uri);
  }
  if (asked != 0 && asked < named) {
    return Error(
               Code::invalid,
               fmt::format("the data set has {} classes, more than --num-classes {}", named, asked))
        .at(options.data.uri);
  }
  return asked != 0 ? asked : named;
}

void log_parameters(const json& recipe, const LearnerOptions& learner, const Learner& made,
                    const std::function<void(const std::string&)>& log) {
  log("---- Parameters ----");
  for (const auto& [name, value] : recipe.items()) {
    log(fmt::format("{}: {}", name, value.is_string() ? value.get<std::string>() : value.dump()));
  }
  log(fmt::format("image_shape: {},{},{}", learner.channels, learner.height, learner.width));
  log(fmt::format("weights: {}", made.parameters()));
  log(fmt::format("torch: {}, {} threads", torch_version(), made.threads()));
  log("--------------------");
}

json summarise(const Trainer& trainer, const Job& job, const json& recipe, const Learner& learner,
               bool resumed, Ended ended) {
  json launch = nullptr;
  const auto age = process_age();
  if (age && trainer.first_batch()) {
    const Nanos since = job.context().clock->now() - *trainer.first_batch();
    launch = std::chrono::duration<double>(*age - since).count();
  }
  json epochs = json::array();
  for (const auto& record : trainer.progress().done) epochs.push_back(to_json(record));
  return {{"schema", 1},
          {"launch_seconds", launch},
          {"mode", to_string(job.mode())},
          {"recipe", recipe},
          {"parameters", learner.parameters()},
          {"torch", torch_version()},
          {"torch_threads", learner.threads()},
          {"resumed", resumed},
          {"finished", ended == Ended::finished},
          {"epochs", epochs}};
}

}  // namespace

Result<void> set_image_shape(std::string_view text, Transform& transform) {
  std::array<std::uint32_t, 3> sizes{};
  const char* at = text.data();
  const char* const end = at + text.size();
  bool good = true;
  for (std::size_t i = 0; i < sizes.size() && good; ++i) {
    const auto [after, problem] = std::from_chars(at, end, sizes[i]);
    const bool last = i + 1 == sizes.size();
    good = problem == std::errc{} && (last ? after == end : after != end && *after == ',') &&
           sizes[i] > 0 && sizes[i] <= 4096;
    at = last || !good ? after : after + 1;
  }
  if (!good || (sizes[0] != 1 && sizes[0] != 3)) {
    return Error(Code::invalid, fmt::format("'{}' is no image shape", text),
                 "write channels,height,width, such as 3,224,224 or 1,28,28");
  }
  transform.grey = sizes[0] == 1;
  transform.height = sizes[1];
  transform.width = sizes[2];
  return {};
}

Result<TrainResult> train(const TrainOptions& options, Group& group,
                          const std::function<void(const std::string&)>& log,
                          const std::stop_token& stop) {
  HEADRACE_TRY(auto saved, find_saved(options, group));

  JobOptions data = options.data;
  data.loader.rank = group.rank();
  data.loader.world = group.world();
  data.loader.transform.layout = Layout::nchw_f32;
  if (saved) data.resume = saved->state;
  HEADRACE_TRY(const auto job, Job::open(data, stop));
  const auto& classes = job->dataset().classes();

  LearnerOptions learner_options = options.learner;
  learner_options.channels = data.loader.transform.channels();
  learner_options.height = data.loader.transform.height;
  learner_options.width = data.loader.transform.width;
  learner_options.seed = data.loader.seed;
  HEADRACE_TRY(learner_options.classes, count_classes(options, job->dataset()));
  const json recipe = recipe_of(options, learner_options, group);

  HEADRACE_TRY(const auto learner, Learner::make(learner_options, group));
  Progress progress;
  if (saved) {
    HEADRACE_TRY(check_recipe(saved->meta["recipe"], recipe));
    if (saved->meta["classes"] != json(classes)) {
      return Error(Code::changed, "the data set has other classes than the checkpoint",
                   "begin anew with another --checkpoint")
          .at(data.uri);
    }
    HEADRACE_TRY(learner->load(saved->archive).at(options.checkpoint + "/last.ckpt"));
    progress = std::move(saved->progress);
    if (saved->meta["torch"] != torch_version() ||
        saved->meta["torch_threads"] != learner->threads()) {
      job->context().notices->add(
          "other-torch",
          fmt::format("the checkpoint was written by torch {} with {} threads, this is {} with {}: "
                      "losses may differ in their last bits",
                      saved->meta["torch"].dump(), saved->meta["torch_threads"].dump(),
                      torch_version(), learner->threads()));
    }
  }

  std::unique_ptr<Job> validation;
  if (!options.validation.empty() && progress.current.epoch < data.loader.epochs) {
    JobOptions asked = validation_job(options, classes, progress.current.epoch);
    asked.loader.rank = group.rank();
    asked.loader.world = group.world();
    asked.loader.transform.layout = Layout::nchw_f32;
    asked.loader.epochs = data.loader.epochs - progress.current.epoch;
    HEADRACE_TRY(validation, Job::open(asked, stop).at("validation"));
  }

  log_parameters(recipe, learner_options, *learner, log);
  TrainerOptions trainer_options;
  trainer_options.epochs = data.loader.epochs;
  trainer_options.classes = learner_options.classes;
  trainer_options.schedule = options.schedule;
  trainer_options.schedule.epochs = data.loader.epochs;
  trainer_options.checkpoint = options.checkpoint;
  trainer_options.checkpoint_every = options.checkpoint_every;
  trainer_options.losses = options.losses;
  trainer_options.job = {{"recipe", recipe},
                         {"classes", classes},
                         {"torch", torch_version()},
                         {"torch_threads", learner->threads()}};
  Trainer trainer({*learner, group, job->loader(), validation ? &validation->loader() : nullptr,
                   *job->context().clock, log},
                  std::move(trainer_options), std::move(progress));
  HEADRACE_TRY(const Ended ended, trainer.run(stop));

  TrainResult result;
  result.ended = ended;
  result.summary = summarise(trainer, *job, recipe, *learner, saved.has_value(), ended);
  result.notices = job->context().notices->all();
  return result;
}

}  // namespace headrace
