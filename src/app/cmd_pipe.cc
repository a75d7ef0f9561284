// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "headrace/base/cli_numbers.h"
#include "headrace/consumers/pipe/pipe_writer.h"
#include "progress_line.h"
#include "source_options.h"
#include "wait_line.h"

namespace headrace::app {
namespace {

struct Arguments {
  std::string uri;
  pipe::WriterOptions writer;
  std::string order = "stored";
  std::string shuffle = "global";
  OpenOptions open;
  double open_timeout = 0;
  bool drop_last = false;
  bool pad = false;
  bool json = false;
};

nlohmann::ordered_json to_json(const pipe::WrittenEpoch& epoch) {
  return {{"epoch", epoch.epoch},
          {"bytes", epoch.bytes},
          {"pieces", epoch.pieces},
          {"abandoned", epoch.abandoned}};
}

/// All that can be told without the set.
Result<pipe::WriterOptions> writer_of(const Arguments& arguments) {
  pipe::WriterOptions writer = arguments.writer;
  HEADRACE_TRY(writer.order, pipe::parse_stream_order(arguments.order));
  HEADRACE_TRY(writer.shuffle, parse_shuffle(arguments.shuffle));
  if (arguments.drop_last) writer.plan.tail = Tail::drop;
  if (arguments.pad) writer.plan.tail = Tail::pad;
  writer.open_timeout = pipe::Seconds(arguments.open_timeout);
  HEADRACE_TRY(Plan::make(writer.plan));
  return writer;
}

Result<int> run(const Arguments& arguments, const std::stop_token& stop) {
  const Context context;
  HEADRACE_TRY(const pipe::WriterOptions writer, writer_of(arguments));
  HEADRACE_TRY(const Source source, open_source(arguments.uri, context, arguments.open, stop));
  ProgressLine line;
  line.show(fmt::format("writes {}/{}_0, waits for its reader", writer.dir, writer.channel));
  nlohmann::ordered_json epochs = nlohmann::ordered_json::array();
  pipe::WriterHooks hooks;
  hooks.at_epoch_end = [&](const pipe::WrittenEpoch& epoch) {
    epochs.push_back(to_json(epoch));
    line.clear();
    if (arguments.json) return;
    fmt::print("epoch {}: {} {}, {}{}\n", epoch.epoch, epoch.pieces,
               writer.order == pipe::StreamOrder::stored ? "objects" : "samples",
               human_bytes(static_cast<double>(epoch.bytes)),
               epoch.abandoned ? ", abandoned: the reader closed it" : "");
  };
  if (!line.enabled()) hooks.on_wait.tell = say_waiting;
  HEADRACE_TRY(
      pipe::write_channel(*source.store, *source.set, writer, hooks, stop).at(arguments.uri));
  if (arguments.json) {
    const nlohmann::ordered_json json{{"schema", 1},
                                      {"order", arguments.order},
                                      {"samples", source.set->size()},
                                      {"epochs", epochs}};
    fmt::print("{}\n", json.dump());
  }
  return 0;
}

}  // namespace

void add_pipe(CLI::App& root, Invocation& invocation) {
  CLI::App* command =
      root.add_subcommand("pipe", "Write a channel's FIFOs, one an epoch, as Pipe mode does");
  auto arguments = std::make_shared<Arguments>();
  pipe::WriterOptions& writer = arguments->writer;
  command->add_option("uri", arguments->uri, "A path or s3://bucket/prefix")->required();
  command
      ->add_option("--dir", writer.dir, "The folder of the FIFOs: DIR/CHANNEL_0, DIR/CHANNEL_1, …")
      ->required();
  command->add_option("--channel", writer.channel, "The channel's name")->capture_default_str();
  command
      ->add_option("--order", arguments->order,
                   "stored: objects back to back; global: RecordIO in Headrace's order")
      ->capture_default_str();
  command->add_option("--epochs", writer.epochs, "How many FIFOs")->capture_default_str();
  command->add_option("--seed", writer.seed, "global: fixes the order")->capture_default_str();
  command->add_option("--shuffle", arguments->shuffle, "global: as the reader does")
      ->capture_default_str();
  command->add_option("--rank", writer.plan.rank, "global: the reader's rank")
      ->capture_default_str();
  command->add_option("--world-size", writer.plan.world, "global: number of ranks")
      ->capture_default_str();
  command
      ->add_option("--batch", writer.plan.batch, "global: the reader's batch, if there are ranks")
      ->capture_default_str();
  auto* const drop =
      command->add_flag("--drop-last", arguments->drop_last, "global: as the reader does");
  command->add_flag("--pad", arguments->pad, "global: as the reader does")->excludes(drop);
  command->add_flag("--pairs", writer.pairs,
                    "global: pictures that are in no records, as (picture, label) record pairs");
  command->add_option("--from-epoch", writer.first_epoch, "The first FIFO's number")
      ->capture_default_str();
  command
      ->add_option("--from-position", writer.first_position,
                   "global: where the first epoch begins, to resume")
      ->capture_default_str();
  command
      ->add_option("--open-timeout", arguments->open_timeout,
                   "Seconds to wait for a reader; 0: for ever")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->add_option("--requests", writer.requests, "Reads in flight")
      ->check(at_least_one())
      ->capture_default_str();
  add_source_options(*command, arguments->open);
  command->add_flag("--json", arguments->json, "One JSON object on stdout");
  command->footer(
      "Examples:\n"
      "  headrace pipe s3://bucket/train.rec --dir /opt/ml/input/data --channel train --epochs 20\n"
      "  headrace pipe s3://bucket/train.rec --dir /tmp/p --channel train --order global --seed 7\n"
      "A reader that closes early has ended its epoch; the next FIFO is there already. A stream\n"
      "that fails ends inside a record, so that no reader takes it for the end of an epoch.");
  command->callback([&invocation, arguments] {
    if (const auto asked = writer_of(*arguments); !asked)
      throw CLI::ValidationError("options", asked.error().to_string());
    invocation.run = [arguments](const std::stop_token& stop) { return run(*arguments, stop); };
  });
}

}  // namespace headrace::app
