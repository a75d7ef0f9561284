// SPDX-License-Identifier: Apache-2.0
/// \file The options that say how records are read, for every command line that opens a set.
///
/// Not thread-safe; for `main`, which links CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "headrace/records/dataset.h"

namespace headrace {

inline const std::map<std::string, LabelBase>& label_base_names() {
  static const std::map<std::string, LabelBase> kNames = {
      {"auto", LabelBase::automatic}, {"0", LabelBase::zero}, {"1", LabelBase::one}};
  return kNames;
}

inline const std::map<std::string, recordio::Parts>& recordio_parts_names() {
  using recordio::Parts;
  static const std::map<std::string, Parts> kNames = {
      {"auto", Parts::automatic}, {"dmlc", Parts::dmlc}, {"sagemaker", Parts::sagemaker}};
  return kNames;
}

/// --list-root, --attribute-names, --image-key, --label-key, --label-base, --recordio-parts.
/// `options` must live until the command line was parsed.
inline void add_reading_options(CLI::App& command, OpenOptions& options,
                                const std::string& group = "Options") {
  command
      .add_option("--list-root", options.list_root,
                  "What a manifest calls the root, where this is a copy: s3://bucket")
      ->group(group);
  command
      .add_option("--attribute-names", options.attribute_names,
                  "Of an augmented manifest, in order: source-ref,class")
      ->delimiter(',')
      ->group(group);
  command
      .add_option("--image-key", options.image_key,
                  "tfrecord, protobuf: the feature that holds the picture [image/encoded; the only "
                  "one with bytes]")
      ->group(group);
  command
      .add_option(
          "--label-key", options.label_key,
          "tfrecord, protobuf: the feature that holds the labels [image/class/label; values]")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--label-base",
          [&options](const std::string& word) { options.label_base = label_base_names().at(word); },
          "tfrecord: what classes count from, 0 or 1 [by the first record]")
      ->check(CLI::IsMember({"auto", "0", "1"}))
      ->group(group);
  command
      .add_option_function<std::string>(
          "--recordio-parts",
          [&options](const std::string& word) {
            options.recordio_parts = recordio_parts_names().at(word);
          },
          "RecordIO: what stands between the parts of a split record [by the record]")
      ->check(CLI::IsMember({"auto", "dmlc", "sagemaker"}))
      ->group(group);
}

}  // namespace headrace
