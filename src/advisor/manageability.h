// SPDX-License-Identifier: Apache-2.0
/// \file What a mode asks of the people who use it: facts from a data file, counted. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::advisor {

struct Manageability {
  std::vector<std::string> steps;      ///< what somebody must do before the first training
  std::vector<std::string> resources;  ///< what somebody must create and delete
  bool conversion = false;             ///< the pictures must be put into another form
  bool replace_one = true;             ///< one picture can be replaced, by itself
  std::string standing;                ///< what costs money while no job runs; empty: nothing
  double disk = 0;                     ///< space on the instance, as a share of the set

  /// steps + resources + one each for conversion, no replacing, standing cost, disk.
  unsigned count() const;
  /// "0 steps before training, 0 resources, no conversion, …".
  std::string sentence() const;
};

class ManageabilityBook {
 public:
  static Result<ManageabilityBook> parse(std::string_view yaml, std::string_view name);
  /// The file at `path`; if that is empty, the manageability.yaml that comes with the program.
  static Result<ManageabilityBook> load(const std::string& path = {});

  /// The mode's facts and the format's together. REQUIRES: `mode` is one of Headrace's
  Manageability facts(std::string_view mode, std::string_view format) const;

 private:
  std::map<std::string, Manageability, std::less<>> modes_;
  std::map<std::string, Manageability, std::less<>>
      raw_;  ///< mode -> more, where nothing is packed
  std::map<std::string, Manageability, std::less<>> formats_;
};

}  // namespace headrace::advisor
