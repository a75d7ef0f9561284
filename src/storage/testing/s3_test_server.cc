// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/s3_test_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "headrace/base/sha256.h"
#include "headrace/storage/s3/checksum.h"
#include "headrace/storage/s3/sigv4.h"
#include "headrace/storage/s3/url.h"

namespace headrace::testing {
namespace {

/// In a target '+' is itself.
std::string decode(std::string_view text) {
  std::string plus;
  for (const char c : text) plus += c == '+' ? std::string("%2B") : std::string(1, c);
  return s3::decode_form(plus);
}

std::string xml_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      escaped += fmt::format("&#x{:x};", static_cast<int>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string form_encode(const std::string& text) {  // as S3: a blank is '+'
  std::string encoded;
  for (const char c : s3::encode_path(text)) encoded += c;
  for (std::size_t at = 0; (at = encoded.find("%20", at)) != std::string::npos;)
    encoded.replace(at, 3, "+");
  return encoded;
}

/// "Tue, 20 Jan 2026 02:40:00 GMT": curl and S3 both ignore the name of the day.
std::string http_date(std::int64_t seconds) {
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::string amz = s3::amz_date(seconds);
  const auto month = std::stoul(amz.substr(4, 2));
  return fmt::format("Mon, {} {} {} {}:{}:{} GMT", amz.substr(6, 2), kMonths[month - 1],
                     amz.substr(0, 4), amz.substr(9, 2), amz.substr(11, 2), amz.substr(13, 2));
}

std::string iso_date(std::int64_t seconds) {
  const std::string amz = s3::amz_date(seconds);
  return fmt::format("{}-{}-{}T{}:{}:{}.000Z", amz.substr(0, 4), amz.substr(4, 2), amz.substr(6, 2),
                     amz.substr(9, 2), amz.substr(11, 2), amz.substr(13, 2));
}

S3Seen understand(HttpSeen raw, bool virtual_host) {
  S3Seen seen;
  if (raw.target.starts_with("http://"))  // as a proxy is asked
    raw.target.erase(0, std::min(raw.target.find('/', 7), raw.target.size()));
  if (virtual_host) {
    const std::string host = raw.headers["host"];
    raw.target = "/" + host.substr(0, host.find('.')) + raw.target;
  }
  static_cast<HttpSeen&>(seen) = raw;
  const auto mark = std::min(raw.target.find('?'), raw.target.size());
  const std::string path = raw.target.substr(1, mark - 1);
  const auto slash = std::min(path.find('/'), path.size());
  seen.bucket = decode(path.substr(0, slash));
  if (slash < path.size()) seen.key = decode(path.substr(slash + 1));
  for (auto at = mark + 1; at < raw.target.size();) {
    const auto end = std::min(raw.target.find('&', at), raw.target.size());
    const std::string item = raw.target.substr(at, end - at);
    const auto equals = std::min(item.find('='), item.size());
    seen.query[decode(item.substr(0, equals))] =
        equals < item.size() ? decode(item.substr(equals + 1)) : "";
    at = end + 1;
  }
  return seen;
}

struct Wanted {
  std::size_t begin = 0;
  std::size_t end = 0;  // behind the last
  bool ranged = false;
  bool possible = true;
};

Wanted wanted_of(const S3Seen& request, std::size_t size, bool honours) {
  const auto header = request.headers.find("range");
  if (header == request.headers.end() || !honours) return {0, size};
  std::size_t begin = 0;
  std::size_t last = size == 0 ? 0 : size - 1;
  const std::string text = header->second.substr(std::string("bytes=").size());
  const auto dash = text.find('-');
  std::from_chars(text.data(), text.data() + dash, begin);
  if (dash + 1 < text.size()) {
    std::from_chars(text.data() + dash + 1, text.data() + text.size(), last);
    if (last < begin) return {0, size};  // no range at all, as RFC 9110 has it
  }
  if (begin >= size) return {0, 0, true, false};
  return {begin, std::min(last + 1, size), true};
}

}  // namespace

S3Plan fail_first(int count, const std::string& method, const HttpAnswer& other) {
  auto left = std::make_shared<std::atomic<int>>(count);
  return [left, method, other](const S3Seen& request, HttpAnswer& right) {
    if (request.method == method && left->fetch_sub(1) > 0) {
      const bool no_body = right.no_body;
      right = other;
      right.no_body = no_body;
    }
  };
}

HttpAnswer s3_error(int status, const std::string& code,
                    std::vector<std::pair<std::string, std::string>> headers) {
  return {.status = status,
          .headers = std::move(headers),
          .body = fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>on order"
                              "</Message></Error>",
                              code)};
}

S3TestServer::S3TestServer(S3Habits habits) : habits_(std::move(habits)) {
  server_ = std::make_unique<HttpServer>([this](const HttpSeen& raw) { return handle(raw); },
                                         habits_.tls);
}

std::string S3TestServer::endpoint() const {
  return fmt::format("{}://{}:{}", habits_.tls == nullptr ? "http" : "https",
                     habits_.virtual_host ? "localhost" : "127.0.0.1", server_->port());
}

S3Options S3TestServer::options() const {
  S3Options options;
  s3::Settings settings;
  settings.credentials = {.access_key = "AKTEST", .secret_key = "secret", .source = "the test"};
  settings.region = "r1";
  settings.endpoint = endpoint();
  if (habits_.virtual_host) settings.addressing = s3::Addressing::virtual_host;
  options.settings = settings;
  options.loops = 1;
  options.retry = {.base = std::chrono::milliseconds(1),
                   .cap = std::chrono::milliseconds(20),
                   .outage = std::chrono::seconds(5)};
  options.retry_seed = 1;
  return options;
}

void S3TestServer::plan(S3Plan plan) {
  const MutexLock lock(mutex_);
  plan_ = std::move(plan);
}

void S3TestServer::put(const std::string& key, const std::string& content) {
  const MutexLock lock(mutex_);
  store(key, content);
}

std::vector<S3Seen> S3TestServer::seen() const {
  const MutexLock lock(mutex_);
  return seen_;
}

std::size_t S3TestServer::open_uploads() const {
  const MutexLock lock(mutex_);
  return uploads_.size();
}

std::string S3TestServer::store(const std::string& key, std::string content) {
  constexpr std::int64_t kStart = 1'768'876'800;
  Object& object = objects_[key];
  object.content = std::move(content);
  object.modified = kStart + static_cast<std::int64_t>(++generation_);
  object.etag = fmt::format("\"{:032x}\"", generation_);
  return object.etag;
}

HttpAnswer S3TestServer::handle(const HttpSeen& raw) {
  S3Seen request = understand(raw, habits_.virtual_host);
  HttpAnswer answer;
  S3Plan plan;
  {
    const MutexLock lock(mutex_);
    request.number = seen_.size();
    seen_.push_back(request);
    seen_.back().body.clear();
    answer = right_answer(request);
    plan = plan_;
  }
  answer.no_body = request.method == "HEAD";
  if (plan) plan(request, answer);
  return answer;
}

HttpAnswer S3TestServer::right_answer(const S3Seen& request) {
  if (!habits_.region.empty()) {
    const auto authorization = request.headers.find("authorization");
    if (authorization != request.headers.end() &&
        authorization->second.find("/" + habits_.region + "/s3/") == std::string::npos)
      return s3_error(301, "PermanentRedirect", {{"x-amz-bucket-region", habits_.region}});
  }
  if (habits_.requester_pays && !request.headers.contains("x-amz-request-payer"))
    return s3_error(403, "AccessDenied");
  if (request.bucket != "b") return s3_error(404, "NoSuchBucket");
  if (request.key.empty()) return list(request);
  if (request.method == "PUT") return put_object(request);
  if (request.method == "POST") return post(request);
  if (request.method == "DELETE") {
    if (const auto upload = request.query.find("uploadId"); upload != request.query.end()) {
      uploads_.erase(upload->second);
    } else {
      objects_.erase(request.key);
    }
    return {.status = 204};
  }
  return get(request);
}

HttpAnswer S3TestServer::get(const S3Seen& request) {
  const auto found = objects_.find(request.key);
  if (found == objects_.end()) return s3_error(404, "NoSuchKey");
  const Object& object = found->second;
  const auto if_match = request.headers.find("if-match");
  if (habits_.honours_if_match && if_match != request.headers.end() &&
      if_match->second != object.etag) {
    return s3_error(412, "PreconditionFailed");
  }
  const std::size_t size = object.content.size();
  const Wanted wanted = wanted_of(request, size, habits_.honours_range);
  if (!wanted.possible)
    return s3_error(416, "InvalidRange", {{"Content-Range", fmt::format("bytes */{}", size)}});
  HttpAnswer answer{.status = wanted.ranged ? 206 : 200,
                    .body = object.content.substr(wanted.begin, wanted.end - wanted.begin),
                    .chunked = habits_.chunked && request.method == "GET"};
  if (habits_.etags) answer.headers.emplace_back("ETag", object.etag);
  if (habits_.last_modified)
    answer.headers.emplace_back("Last-Modified", http_date(object.modified));
  if (!habits_.storage_class.empty())
    answer.headers.emplace_back("x-amz-storage-class", habits_.storage_class);
  const bool tells = !wanted.ranged || habits_.range_sum != S3Habits::RangeSum::none;
  if (habits_.checksums && request.headers.contains("x-amz-checksum-mode") && tells) {
    s3::BodyChecksum checksum(s3::BodyChecksum::Kind::crc64nvme);
    const bool whole = habits_.range_sum == S3Habits::RangeSum::whole;
    checksum.add(as_byte_span(whole ? object.content : answer.body));
    answer.headers.emplace_back("x-amz-checksum-crc64nvme", checksum.value());
    answer.headers.emplace_back("x-amz-checksum-type", "FULL_OBJECT");
  }
  if (wanted.ranged) {
    answer.headers.emplace_back("Content-Range",
                                fmt::format("bytes {}-{}/{}", wanted.begin, wanted.end - 1, size));
  }
  return answer;
}

std::vector<std::pair<std::string, bool>> S3TestServer::entries_of(const std::string& prefix,
                                                                   bool by_folder,
                                                                   const std::string& after) const {
  std::vector<std::pair<std::string, bool>> entries;
  const std::size_t most = habits_.byte_order ? habits_.page + 1 : objects_.size();
  auto at = objects_.lower_bound(prefix);
  const auto behind = [](std::string folder) {
    folder.back() = '0';  // follows '/'
    return folder;
  };
  if (habits_.byte_order && !after.empty())
    at = after.ends_with('/') && by_folder ? objects_.lower_bound(behind(after))
                                           : objects_.upper_bound(std::max(after, prefix));
  while (at != objects_.end() && at->first.starts_with(prefix) && entries.size() < most) {
    const auto slash = at->first.find('/', prefix.size());
    if (!by_folder || slash == std::string::npos) {
      entries.emplace_back(at->first, false);
      ++at;
    } else {
      entries.emplace_back(at->first.substr(0, slash + 1), true);
      at = objects_.lower_bound(behind(entries.back().first));
    }
  }
  if (habits_.byte_order) return entries;
  std::ranges::reverse(entries);
  const auto follows = [&after](const auto& entry) { return after.empty() || entry.first < after; };
  entries.erase(entries.begin(), std::ranges::find_if(entries, follows));
  return entries;
}

HttpAnswer S3TestServer::list(const S3Seen& request) {
  const auto query = [&](const char* name) {
    const auto found = request.query.find(name);
    return found == request.query.end() ? std::string() : found->second;
  };
  const bool second = query("list-type") == "2";
  if (second && habits_.second_list == S3Habits::SecondList::refused)
    return s3_error(501, "NotImplemented");
  const bool v1 = !second || habits_.second_list == S3Habits::SecondList::ignored;
  const std::string prefix = query("prefix");
  const bool folders = query("delimiter") == "/";
  const bool encoded = habits_.url_encodes && query("encoding-type") == "url";
  const auto name = [&](const std::string& key) {
    return encoded ? form_encode(key) : xml_text(key);
  };
  // The token is the last name with characters that must be encoded in a query.
  std::string after;
  if (const std::string token = query("continuation-token"); token.starts_with("/+=&"))
    after = token.substr(4);
  if (after.empty() && second && !query("start-after").empty()) {
    if (habits_.start_after == S3Habits::StartAfter::refused)
      return s3_error(400, "InvalidArgument");
    if (habits_.start_after == S3Habits::StartAfter::honoured) after = query("start-after");
  }
  if (v1) after = query("marker");
  const auto entries = entries_of(prefix, folders, after);
  const std::size_t end = std::min(habits_.page, entries.size());
  std::string xml = R"(<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>)";
  if (encoded) xml += "<EncodingType>url</EncodingType>";
  xml += fmt::format("<IsTruncated>{}</IsTruncated>", end < entries.size());
  if (end < entries.size() && v1 && habits_.next_marker)
    xml += fmt::format("<NextMarker>{}</NextMarker>", name(entries[end - 1].first));
  if (end < entries.size() && !v1)
    xml += fmt::format("<NextContinuationToken>/+=&amp;{}</NextContinuationToken>",
                       xml_text(entries[end - 1].first));
  for (std::size_t at = 0; at < end; ++at) {
    const auto& [key, is_folder] = entries[at];
    if (is_folder) {
      xml += "<CommonPrefixes><Prefix>" + name(key) + "</Prefix></CommonPrefixes>";
      continue;
    }
    const Object& object = objects_.at(key);
    xml += fmt::format("<Contents><Key>{}</Key><Size>{}</Size>", name(key), object.content.size());
    if (habits_.etags) xml += "<ETag>" + xml_text(object.etag) + "</ETag>";
    if (habits_.last_modified)
      xml += "<LastModified>" + iso_date(object.modified) + "</LastModified>";
    if (!habits_.storage_class.empty())
      xml += "<StorageClass>" + habits_.storage_class + "</StorageClass>";
    xml += "</Contents>";
  }
  return {.body = xml + "</ListBucketResult>"};
}

HttpAnswer S3TestServer::put_object(const S3Seen& request) {
  const auto hash = request.headers.find("x-amz-content-sha256");
  if (hash != request.headers.end() && hash->second != sha256_hex(as_byte_span(request.body)))
    return s3_error(400, "XAmzContentSHA256Mismatch");
  if (const auto upload = request.query.find("uploadId"); upload != request.query.end()) {
    const auto parts = uploads_.find(upload->second);
    if (parts == uploads_.end()) return s3_error(404, "NoSuchUpload");
    const int number = std::stoi(request.query.at("partNumber"));
    parts->second[number] = request.body;
    return {.headers = {{"ETag", fmt::format("\"part-{}\"", number)}}};
  }
  const std::string etag = store(request.key, request.body);
  HttpAnswer answer;
  if (habits_.etags) answer.headers.emplace_back("ETag", etag);
  return answer;
}

HttpAnswer S3TestServer::post(const S3Seen& request) {
  if (request.query.contains("uploads")) {
    const std::string id = fmt::format("upload/+{}", ++generation_);
    uploads_[id];
    return {.body = "<InitiateMultipartUploadResult><UploadId>" + id +
                    "</UploadId></InitiateMultipartUploadResult>"};
  }
  const auto upload = uploads_.find(request.query.at("uploadId"));
  if (upload == uploads_.end()) return s3_error(404, "NoSuchUpload");
  std::string content;
  for (const auto& [number, part] : upload->second) content += part;
  uploads_.erase(upload);
  const std::string etag = store(request.key, content);
  return {.body = "<CompleteMultipartUploadResult>" +
                  (habits_.etags ? "<ETag>" + xml_text(etag) + "</ETag>" : "") +
                  "</CompleteMultipartUploadResult>"};
}

}  // namespace headrace::testing
