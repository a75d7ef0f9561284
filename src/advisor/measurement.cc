// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/measurement.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace headrace::advisor {
namespace {

using Json = nlohmann::json;

Error lacks(std::string_view field) {
  return {Code::corrupt, fmt::format("the measurement has no usable \"{}\"", field),
          "compare runs its own program; was --program given another one?"};
}

template <class T>
bool get(const Json& object, const char* field, T& into) {
  const auto found = object.find(field);
  if (found == object.end()) return false;
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) return false;
  } else if constexpr (std::is_unsigned_v<T>) {
    if (!found->is_number_unsigned()) return false;
  } else {
    if (!found->is_number()) return false;
  }
  into = found->get<T>();
  return true;
}

Result<EpochMeasurement> parse_epoch(const Json& object) {
  EpochMeasurement epoch;
  if (!object.is_object()) return lacks("epochs");
  if (!get(object, "epoch", epoch.epoch)) return lacks("epoch");
  if (!get(object, "delivered", epoch.delivered)) return lacks("delivered");
  if (!get(object, "seconds", epoch.seconds)) return lacks("seconds");
  if (!get(object, "order_digest", epoch.order_digest)) return lacks("order_digest");
  if (!get(object, "set_digest", epoch.set_digest)) return lacks("set_digest");
  if (!get(object, "bytes_origin", epoch.bytes_origin)) return lacks("bytes_origin");
  if (!get(object, "bytes_cache", epoch.bytes_cache)) return lacks("bytes_cache");
  if (!get(object, "requests", epoch.requests)) return lacks("requests");
  double busy = 0;
  if (get(object, "accelerator_busy", busy)) epoch.accelerator_busy = busy;
  return epoch;
}

}  // namespace

Result<Measurement> parse_measurement(std::string_view json) {
  const Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    return Error(Code::corrupt, "the measurement is no JSON object",
                 "stdout of `headrace read --json` holds only JSON");
  }
  Measurement measurement;
  if (!get(object, "launch_seconds", measurement.launch_seconds)) return lacks("launch_seconds");
  const auto epochs = object.find("epochs");
  if (epochs == object.end() || !epochs->is_array() || epochs->empty()) return lacks("epochs");
  for (const auto& element : *epochs) {
    HEADRACE_TRY(auto epoch, parse_epoch(element));
    measurement.epochs.push_back(std::move(epoch));
  }
  return measurement;
}

}  // namespace headrace::advisor
