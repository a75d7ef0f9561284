// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "command.h"
#include "headrace/records/formats.h"
#include "write_set.h"

namespace headrace::app {

void add_convert(CLI::App& root, Invocation& invocation) {
  CLI::App* command = root.add_subcommand(
      "convert", "Write a set in another format: same samples, same order, same bytes of pictures");
  auto arguments = std::make_shared<WriteArguments>();
  arguments->convert.jobs = 0;
  add_write_options(*command, *arguments);
  command->add_option("--format", arguments->convert.format, "What to write: " + format_names(true))
      ->required();
  command->add_option("--compression", arguments->convert.compression,
                      "One of the format's, such as gzip or zstd (default: none)");
  add_change_options(*command, *arguments);
  command->footer(
      "Examples:\n"
      "  headrace convert s3://bucket/train --format recordio --out /data/packed --shard-size 1G\n"
      "  headrace convert /data/all --format recordio --out /data/sets --split 0.1 --seed 7 "
      "--stratify\n"
      "  headrace convert /data/big --format recordio --out /data/small --resize 256\n"
      "  headrace convert s3://b/train --format recordio --out s3://b/rec --shards 64 --part 1/4\n"
      "  headrace convert s3://b/train --format recordio --out s3://b/rec --shards 64 --finish\n"
      "What is written does not depend on --jobs. After a kill or an error the same command goes\n"
      "on with the shards that are not finished; what is finished stands in OUT/.headrace/convert\n"
      "until all is. With --part, run each part on any machine, then --finish once.");
  command->callback([&invocation, arguments] {
    check_write_options(*arguments);
    invocation.run = [arguments](const std::stop_token& stop) {
      return write_set(*arguments, stop);
    };
  });
}

}  // namespace headrace::app
