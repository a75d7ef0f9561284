// SPDX-License-Identifier: Apache-2.0
/// \file What to compare: options by name, from the command line or from an experiment file. Pure.
///
/// An experiment file is YAML whose keys are the option names, with `_` or `-`:
///
///     uri: [s3://bucket/raw, s3://bucket/packed]     # forms of one set
///     local: [/data/raw, /data/packed]               # for mode direct, in the same order
///     with: s3://bucket/more                         # more sets, joined behind a single form
///     modes: [direct, stream, keep]
///     epochs: 3
///     tables:                                        # optional: several comparisons, each of
///       - name: as measured                          # which may set any option again
///       - name: over shaped media
///         medium: {direct: nvme, default: s3-standard}
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/job/job.h"

namespace headrace::advisor {

enum class Kind { text, number, flag, list, map };
/// Where an option is used.
enum class Use {
  table,  ///< by compare, may differ between tables
  whole,  ///< by compare, once
  read,   ///< handed on to `headrace read` as it is
};

struct Option {
  std::string_view name;
  std::string_view value;  ///< as help shows it; empty for a flag
  std::string_view help;
  Kind kind;
  Use use;
};

/// Every option that compare knows, in the order of its help.
std::span<const Option> options();

/// Option name -> its values as written; a flag that is set has the value "true".
using Values = std::map<std::string, std::vector<std::string>, std::less<>>;

struct Experiment {
  Values common;
  std::vector<Values> tables;  ///< empty: one table of the common options
};

/// `invalid`, at NAME:LINE, for an unknown key (with the nearest known one) or an unfit value.
Result<Experiment> parse_experiment(std::string_view yaml, std::string_view name);

struct SetSpec {
  std::string uri;
  std::string local;  ///< a copy of it on this machine, for mode direct; may be empty
  std::vector<std::string> with = {};        ///< sets that are joined behind it (JobOptions::with)
  std::vector<std::string> with_local = {};  ///< their copies; as many, or none

  std::vector<std::string> uris() const;
  /// Empty if there are no copies.
  std::vector<std::string> locals() const;
};

struct TableSpec {
  std::string name;
  std::vector<SetSpec> sets;                       ///< forms of one set; never empty
  std::vector<Mode> modes;                         ///< never empty
  std::map<Mode, std::vector<std::string>> media;  ///< those that are not as they are; a row each
  unsigned repeats = 3;
  unsigned scale = 1;                ///< the real job is as many times as large
  std::vector<std::string> fitted;   ///< inputs that were set so that a published result comes out
  std::map<Mode, double> published;  ///< seconds that somebody published for the real job
  std::string keep_medium;           ///< what the disk of mode keep's cache behaves like; or empty
  bool partial_reads = false;        ///< mode keep gets one more row, which reads in parts
  std::string keep_dir;              ///< under which caches are made; empty: a temporary folder
  std::vector<std::string> read_flags;  ///< "--epochs", "3", …
  OpenOptions open;                     ///< those of read_flags that say what the set is

  /// "none" alone where the mode's store is as it is. Never empty.
  std::vector<std::string> media_of(Mode mode) const;
};

struct CompareSpec {
  std::vector<std::string> prepare;  ///< a program and its arguments that makes what is missing

  std::vector<TableSpec> tables;         ///< never empty
  std::vector<std::string> server_data;  ///< where a server on this machine keeps its files
  std::string instance;
  std::string prices;
  std::string report;
};

/// The common options, with those of each table on top. `invalid` names the option.
Result<CompareSpec> make_spec(const Experiment& experiment);

/// `invalid` if a folder that the spec names, and that must be there, is not.
Result<void> check_places(const CompareSpec& spec);

}  // namespace headrace::advisor
