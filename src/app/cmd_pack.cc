// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "command.h"
#include "write_set.h"

namespace headrace::app {

void add_pack(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand(
      "pack", "Write a set as RecordIO: same samples, same order, same bytes of pictures");
  auto arguments = std::make_shared<WriteArguments>();
  arguments->convert.keep_unfinished = false;
  arguments->convert.jobs = 0;
  add_write_options(*command, *arguments);
  command->add_option("--format", arguments->convert.format, "What to write")
      ->check(CLI::IsMember({"recordio"}))
      ->capture_default_str();
  add_change_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  headrace pack /data/train --format recordio --out /data/packed\n"
      "  headrace pack s3://bucket/train --out s3://bucket/packed --shard-size 1G\n"
      "  headrace pack /data/all --list train.lst --out /data/train.rec\n"
      "  headrace pack /data/all --out /data/sets --split 0.1 --seed 7 --stratify\n"
      "  headrace pack s3://b/train --out s3://b/packed --shards 64 --part 1/4\n"
      "  headrace pack s3://b/train --out s3://b/packed --shards 64 --finish\n"
      "Writes NAME.rec, NAME.idx, NAME.lst and NAME.classes.txt. Record i is sample i of the\n"
      "source, so that both give equal order digests; the same input gives the same bytes. Of a\n"
      "pack that failed nothing stays, but of parts and of what an earlier one had begun: after a\n"
      "kill the same command goes on. For other formats see headrace convert.");
  command->callback([&invocation, arguments] {
    check_write_options(*arguments);
    invocation.run = [arguments](const std::stop_token& stop) {
      return write_set(*arguments, stop);
    };
  });
}

}  // namespace headrace::app
