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
  command->footer(
      "Examples:\n"
      "  headrace pack /data/train --format recordio --out /data/packed\n"
      "  headrace pack s3://bucket/train --out s3://bucket/packed --shard-size 1G\n"
      "  headrace pack /data/all --list train.lst --out /data/train.rec\n"
      "Writes NAME.rec, NAME.idx, NAME.lst and NAME.classes.txt. Record i is sample i of the\n"
      "source, so that both give equal order digests; the same input gives the same bytes. Of a\n"
      "pack that failed nothing stays. For other formats see headrace convert.");
  command->callback([&invocation, arguments] {
    check_write_options(*arguments);
    invocation.run = [arguments](const std::stop_token& stop) {
      return write_set(*arguments, stop);
    };
  });
}

}  // namespace headrace::app
