// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/s3_store.h"

#include <fmt/format.h>

#include "headrace/storage/near_lister.h"
#include "headrace/storage/ranges.h"
#include "headrace/storage/s3/call.h"
#include "headrace/storage/s3/read_call.h"
#include "headrace/storage/s3/s3_writer.h"
#include "headrace/storage/s3/xml.h"

namespace headrace {
namespace {

bool is_archive(std::string_view storage_class) {
  return storage_class == "GLACIER" || storage_class == "DEEP_ARCHIVE";
}

/// `archive_status` is told by HEAD alone: of Intelligent-Tiering, a list does not say.
bool is_archived(const s3::Answer& head) {
  const bool cold = is_archive(head.storage_class) || head.archive_status == "ARCHIVE_ACCESS" ||
                    head.archive_status == "DEEP_ARCHIVE_ACCESS";
  return cold && head.restore.find("ongoing-request=\"false\"") == std::string::npos;
}

class S3Store final : public Store, public NearLister {
 public:
  S3Store(std::string prefix, std::unique_ptr<s3::Service> service)
      : prefix_(std::move(prefix)),
        name_(fmt::format("s3://{}/{}", service->bucket(), prefix_)),
        service_(std::move(service)) {}

  std::string describe() const override { return name_; }

  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    const std::string place = object_place(name_, key);
    HEADRACE_TRY(
        const s3::Answer answer,
        s3::call_now(*service_,
                     {.method = http::Method::head, .key = prefix_ + key, .place = place}, stop));
    if (!answer.length) return Error(Code::corrupt, "the server tells no size").at(place);
    ObjectInfo info{.key = key, .size = *answer.length, .pin = answer.pin(*answer.length)};
    info.archived = is_archived(answer);
    if (info.pin.weak()) service_->notice_weak_pin(place);
    return info;
  }

  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return list_from("", request, stop, sink);
  }

  bool lists_near() const override { return true; }
  Result<void> list_near(const std::string& prefix, const std::string& near,
                         const std::stop_token& stop,
                         const std::function<Result<bool>(ListPage&&)>& sink) override {
    return list_from(near, {.prefix = prefix}, stop, sink);
  }

  void read(ReadRequest request, ReadDone done) override {
    std::string place = object_place(name_, request.key);
    if (auto same = service_->check_process(); !same)
      return done(std::move(same).error().at(place));
    if (request.stop.stop_requested()) return done(Error(Code::cancelled, "stopped").at(place));
    if (is_nothing(request)) {
      // Also a range of nothing must lie in its object, as far as its size is known.
      if (request.pin) {
        if (auto range = resolve(request.range, request.pin->size); !range)
          return done(Result<ReadResult>(std::move(range).error()).at(place));
      }
      return done(ReadResult{Bytes(), request.pin.value_or(Pin{})});
    }
    std::string key = prefix_ + request.key;
    s3::start_read(*service_, std::move(key), std::move(place), std::move(request),
                   std::move(done));
  }

  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override {
    std::string place = object_place(name_, key);
    HEADRACE_TRY(service_->check_process().at(place));
    if ((prefix_ + key).empty()) return Error(Code::invalid, "an empty key").at(place);
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped").at(place);
    return s3::make_writer(*service_, prefix_ + key, std::move(place), stop);
  }

  Result<void> remove(const std::string& key, const std::stop_token& stop) override {
    HEADRACE_TRY(s3::call_now(
        *service_,
        {.method = http::Method::remove, .key = prefix_ + key, .place = object_place(name_, key)},
        stop));
    return {};
  }

 private:
  /// One page after another; `near`: where the first begins.
  Result<void> list_from(const std::string& near, const ListRequest& request,
                         const std::stop_token& stop,
                         const std::function<Result<bool>(ListPage&&)>& sink) {
    const std::string place = object_place(name_, request.prefix);
    std::string from;  // a continuation token, or under v1 a marker
    bool v1 = service_->list_v1();
    for (;;) {
      auto listed = list_page(ask_list(request, near, v1, from, place), stop);
      if (!listed) {
        if (v1 || !from.empty() || !near.empty() || !may_lack_v2(listed.error()))
          return std::move(listed).error();
        v1 = true;
        auto first = list_page(ask_list(request, near, v1, from, place), stop);
        if (!first) return std::move(listed).error();  // the reason that came first is the reason
        service_->set_list_v1();
        listed = std::move(first);
      }
      HEADRACE_TRY(ListPage page, page_of(request, *listed, place));
      HEADRACE_TRY(const bool more, sink(std::move(page)));
      if (!more || !listed->truncated) return {};
      if (listed->next.empty()) {  // it answered as the first version does
        v1 = true;
        service_->set_list_v1();
      }
      std::string& next = v1 ? listed->marker : listed->next;
      if (next == from) {
        return Error(Code::corrupt,
                     "the server's list does not get on: it begins again where it was")
            .at(place);
      }
      from = std::move(next);
    }
  }

  static bool is_nothing(const ReadRequest& request) {
    if (request.range.length == 0) return true;
    return request.range.length == ByteRange::kToEnd && request.pin &&
           request.range.offset == request.pin->size;
  }

  /// What makes no sense is asked for again: a gateway may have answered instead of the server.
  Result<s3::ListAnswer> list_page(const s3::Ask& ask, const std::stop_token& stop) {
    constexpr int kAttempts = 5;
    for (int attempt = 1;; ++attempt) {
      HEADRACE_TRY(const s3::Answer answer, s3::call_now(*service_, ask, stop));
      auto listed = s3::parse_list(answer.body);
      if (listed || attempt == kAttempts) return std::move(listed).at(ask.place);
      service_->context().metrics->add(Metric::retries, 1);
      if (!service_->context().clock->sleep_for(service_->options().retry.base * (1 << attempt),
                                                stop)) {
        return Error(Code::cancelled, "stopped").at(ask.place);
      }
    }
  }

  /// A refusal that a server without the second version of LIST may give.
  static bool may_lack_v2(const Error& error) { return error.code() == Code::invalid; }

  s3::Ask ask_list(const ListRequest& request, const std::string& near, bool v1,
                   const std::string& from, const std::string& place) const {
    s3::Ask ask{.method = http::Method::get, .place = place, .is_list = true};
    ask.query = {{"encoding-type", "url"}, {"prefix", prefix_ + request.prefix}};
    if (request.by_folder) ask.query.emplace_back("delimiter", "/");
    if (!from.empty()) ask.query.emplace_back(v1 ? "marker" : "continuation-token", from);
    if (from.empty() && !near.empty())
      ask.query.emplace_back(v1 ? "marker" : "start-after", prefix_ + near);
    // What was restored keeps the class of the archive it lies in. Others need not know the header.
    const bool aws = service_->identity()->endpoint.aws;
    if (aws) ask.headers.emplace_back("x-amz-optional-object-attributes", "RestoreStatus");
    if (v1) return ask;
    ask.query.emplace_back("list-type", "2");
    // Only where lists are in the order of bytes; elsewhere it would leave keys out.
    if (!request.start_after.empty() && near.empty() && aws)
      ask.query.emplace_back("start-after", prefix_ + request.start_after);
    return ask;
  }

  Result<ListPage> page_of(const ListRequest& request, s3::ListAnswer& answer,
                           const std::string& place) {
    ListPage page;
    const std::string wanted = prefix_ + request.prefix;
    page.objects.reserve(answer.objects.size());
    for (auto& listed : answer.objects) {
      if (!listed.key.starts_with(wanted)) {
        return Error(Code::corrupt,
                     fmt::format("the list holds '{}', which is not below it", listed.key))
            .at(place);
      }
      ObjectInfo object{.key = listed.key.substr(prefix_.size()), .size = listed.size};
      if (object.key.empty() || is_folder_marker(object.key, object.size) ||
          object.key <= request.start_after) {
        continue;
      }
      object.pin = {
          .etag = std::move(listed.etag), .modified_ns = listed.modified_ns, .size = listed.size};
      object.archived = is_archive(listed.storage_class) && !listed.restored;
      if (object.pin.weak()) service_->notice_weak_pin(object_place(name_, object.key));
      page.objects.push_back(std::move(object));
    }
    for (auto& folder : answer.folders) {
      if (folder.size() > prefix_.size() && folder.starts_with(prefix_))
        page.folders.push_back(folder.substr(prefix_.size()));
    }
    return page;
  }

  const std::string prefix_;
  const std::string name_;
  const std::unique_ptr<s3::Service> service_;
};

}  // namespace

Result<std::unique_ptr<Store>> make_s3_store(const std::string& bucket, const std::string& prefix,
                                             const Context& context, const S3Options& options,
                                             const std::stop_token& stop) {
  HEADRACE_TRY(auto service, s3::Service::make(bucket, context, options, stop)
                                 .at(fmt::format("s3://{}/{}", bucket, prefix)));
  return std::unique_ptr<Store>(std::make_unique<S3Store>(prefix, std::move(service)));
}

Result<OpenedS3> find_s3_store(const std::string& bucket, const std::string& path,
                               const Context& context, const S3Options& options,
                               const std::stop_token& stop) {
  const std::string place = fmt::format("s3://{}/{}", bucket, path);
  HEADRACE_TRY(auto service, s3::Service::make(bucket, context, options, stop).at(place));
  OpenedS3 opened;
  std::string prefix = path;
  if (!path.empty() && !path.ends_with('/')) {
    const auto pin = s3::head_pin(*service, path, place, stop);
    if (!pin && pin.error().code() != Code::not_found && pin.error().code() != Code::denied)
      return pin.error();
    if (pin && pin->size > 0) {
      // A SageMaker manifest names objects anywhere in its bucket.
      const auto slash = path.ends_with(".manifest") ? std::string::npos : path.rfind('/');
      prefix = slash == std::string::npos ? "" : path.substr(0, slash + 1);
      opened.only_key = path.substr(prefix.size());
    } else {
      prefix += '/';
    }
  }
  opened.store = std::make_unique<S3Store>(std::move(prefix), std::move(service));
  return opened;
}

}  // namespace headrace
