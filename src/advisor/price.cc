// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/price.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "headrace/advisor/yaml.h"

namespace headrace::advisor {
namespace {

constexpr double kGigabyte = 1024.0 * 1024 * 1024;
constexpr double kMonthSeconds = 730.0 * 3600;

double optional_number(const YAML::Node& row, const char* field) {
  return row[field] ? row[field].as<double>() : 0.0;
}

double pro_rata(const StoragePrice& price, double gigabytes, double seconds) {
  return std::max(gigabytes, price.min_gb) * price.usd_per_gb_month * seconds / kMonthSeconds;
}

template <class Map>
Error unknown_row(const std::string& what, const std::string& name, const Map& known) {
  std::vector<std::string_view> names;
  names.reserve(known.size());
  for (const auto& [key, value] : known) names.push_back(key);
  return {Code::invalid, fmt::format("{} names \"{}\", which storage has no row for", what, name),
          fmt::format("it has {}", fmt::join(names, ", "))};
}

}  // namespace

Result<PriceBook> PriceBook::parse(std::string_view yaml, std::string_view name) {
  return with_yaml(yaml, name, [](const YAML::Node& root) -> Result<PriceBook> {
    PriceBook book;
    if (!root.IsMap()) return Error(Code::invalid, "no price file: it has no keys");
    if (root["schema"].as<int>(0) != 1) return Error(Code::invalid, "schema is not 1");
    for (const auto& row : root["instances"]) {
      InstancePrice price{row["type"].as<std::string>(),   row["usd_per_hour"].as<double>(),
                          optional_number(row, "nvme_gb"), row["dated"].as<std::string>(),
                          row["verified"].as<bool>(false), row["source"].as<std::string>("")};
      book.instances_[price.type] = price;
    }
    for (const auto& row : root["storage"]) {
      book.storage_[row["name"].as<std::string>()] = {
          row["usd_per_gb_month"].as<double>(), optional_number(row, "usd_per_gb_read"),
          optional_number(row, "min_gb"), row["verified"].as<bool>(false)};
    }
    for (const auto& row : root["requests"]) {
      book.requests_[row["name"].as<std::string>()] = {row["usd_per_1000_reads"].as<double>(),
                                                       optional_number(row, "usd_per_gb_read"),
                                                       row["verified"].as<bool>(false)};
    }
    for (const auto& pair : root["media"]) {
      book.media_[pair.first.as<std::string>()] = pair.second.as<std::string>();
    }
    for (const auto& pair : root["volumes"]) {
      book.volumes_[pair.first.as<std::string>()] = pair.second.as<std::string>();
    }
    for (const auto* links : {&book.media_, &book.volumes_}) {
      for (const auto& [from, to] : *links) {
        if (!book.storage_.contains(to)) return unknown_row(from, to, book.storage_);
      }
    }
    for (const auto* service : {"ec2", "sagemaker"}) {
      if (!book.volumes_.contains(service)) {
        return Error(Code::invalid, fmt::format("volumes has no \"{}\"", service));
      }
    }
    if (!book.storage_.contains("s3-standard"))
      return unknown_row("s3://", "s3-standard", book.storage_);
    return book;
  });
}

Result<InstancePrice> PriceBook::instance(std::string_view type) const {
  const auto found = instances_.find(type);
  if (found != instances_.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [key, value] : instances_) names.push_back(key);
  return Error(Code::invalid, fmt::format("no price for instance \"{}\"", type),
               fmt::format("there are prices for {}; add others with --prices FILE",
                           fmt::join(names, ", ")));
}

const StoragePrice* PriceBook::disk(const InstancePrice& instance, double gigabytes) const {
  if (instance.nvme_gb >= gigabytes && instance.nvme_gb > 0) return nullptr;
  const bool sagemaker = instance.type.starts_with("ml.");
  return &storage_.find(volumes_.find(sagemaker ? "sagemaker" : "ec2")->second)->second;
}

Cost PriceBook::cost(const InstancePrice& instance, const Usage& usage) const {
  Cost cost;
  cost.instance = instance.usd_per_hour * usage.seconds / 3600;

  const double gigabytes = static_cast<double>(usage.set_bytes) / kGigabyte;
  const double read = static_cast<double>(usage.bytes_read) / kGigabyte;
  const auto medium = media_.find(usage.medium);
  const bool bucket = usage.in_bucket && usage.mode != "direct";
  std::string_view kept;  // empty: on the instance's disk
  if (medium != media_.end()) {
    kept = medium->second;
  } else if (bucket) {
    kept = "s3-standard";
  }
  const auto* own_disk = disk(instance, gigabytes);
  const auto* place = kept.empty() ? own_disk : &storage_.find(kept)->second;
  if (place != nullptr) {
    cost.storage += pro_rata(*place, gigabytes, usage.seconds);
    cost.requests += place->usd_per_gb_read * read;
  }
  const bool copies = usage.mode == "file" || usage.mode == "keep";
  if (copies && own_disk != nullptr) cost.storage += pro_rata(*own_disk, gigabytes, usage.seconds);
  const auto requests = requests_.find(kept);
  if (requests != requests_.end()) {
    cost.requests +=
        static_cast<double>(usage.requests) / 1000 * requests->second.usd_per_1000_reads +
        requests->second.usd_per_gb_read * read;
  }
  return cost;
}

Result<PriceBook> PriceBook::load(const std::string& path) {
  HEADRACE_TRY(const auto file, read_data_file(path, "prices.yaml"));
  return parse(file.text, file.path);
}

}  // namespace headrace::advisor
