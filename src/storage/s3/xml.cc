// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/xml.h"

#include <fmt/format.h>

#include <chrono>
#include <pugixml.hpp>

#include "headrace/base/parse_number.h"
#include "headrace/storage/object_time.h"
#include "headrace/storage/s3/url.h"

namespace headrace::s3 {
namespace {

// A key may be blanks alone, and its line ends are its own. No DTD, so no entities to expand.
constexpr unsigned kOptions =
    pugi::parse_escapes | pugi::parse_cdata | pugi::parse_ws_pcdata_single;

bool load(pugi::xml_document& document, std::string_view text) {
  return static_cast<bool>(
      document.load_buffer(text.data(), text.size(), kOptions, pugi::encoding_utf8));
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto parsed = parse_number<Number>(text);
  if (parsed) number = *parsed;
  return parsed.has_value();
}

std::string with_quotes(std::string_view etag) {
  if (etag.empty() || etag.ends_with('"')) return std::string(etag);
  return fmt::format("\"{}\"", etag);  // as every header has it
}

Error bad_list(std::string_view why) {
  return {Code::corrupt, fmt::format("the answer to a LIST is not what S3 sends: {}", why),
          "check that the endpoint is an S3 server"};
}

Result<ListedObject> parse_object(const pugi::xml_node& node, bool encoded) {
  const pugi::xml_node key = node.child("Key");
  if (!key) return bad_list("an object without a key");
  ListedObject object;
  object.key = encoded ? decode_form(key.text().get()) : key.text().get();
  if (!read_number(std::string_view(node.child_value("Size")), object.size))
    return bad_list("an object without a size");
  object.etag = with_quotes(node.child_value("ETag"));
  object.modified_ns = object_time(parse_iso_date(node.child_value("LastModified")));
  object.storage_class = node.child_value("StorageClass");
  // Of what was never restored there is no status.
  object.restored =
      std::string_view(node.child("RestoreStatus").child_value("IsRestoreInProgress")) == "false";
  return object;
}

}  // namespace

Result<ListAnswer> parse_list(std::string_view xml) {
  pugi::xml_document document;
  if (!load(document, xml)) return bad_list("no well-formed XML");
  const pugi::xml_node root = document.child("ListBucketResult");
  if (!root) return bad_list("no ListBucketResult");
  const bool encoded = std::string_view(root.child_value("EncodingType")) == "url";
  const auto plain = [encoded](const char* text) {
    return encoded ? decode_form(text) : std::string(text);
  };
  ListAnswer answer;
  for (const pugi::xml_node& node : root.children("Contents")) {
    HEADRACE_TRY(auto object, parse_object(node, encoded));
    answer.objects.push_back(std::move(object));
  }
  for (const pugi::xml_node& node : root.children("CommonPrefixes"))
    answer.folders.push_back(plain(node.child("Prefix").text().get()));
  answer.truncated = std::string_view(root.child_value("IsTruncated")) == "true";
  if (!answer.truncated) return answer;
  answer.next = root.child_value("NextContinuationToken");
  if (!answer.next.empty()) return answer;
  answer.marker = plain(root.child("NextMarker").text().get());
  // Objects and folders are interleaved in the server's order: the last of the page is the greater.
  if (answer.marker.empty() && !answer.objects.empty()) answer.marker = answer.objects.back().key;
  if (root.child("NextMarker").empty() && !answer.folders.empty())
    answer.marker = std::max(answer.marker, answer.folders.back());
  if (answer.marker.empty())
    return bad_list("more follows, but neither continuation token nor marker is given");
  return answer;
}

ErrorAnswer parse_error(std::string_view body) {
  pugi::xml_document document;
  if (!load(document, body)) return {};
  const pugi::xml_node root = document.child("Error");
  return {root.child_value("Code"), root.child_value("Message"), root.child_value("Region")};
}

std::string child_text(std::string_view xml, const char* name) {
  pugi::xml_document document;
  if (!load(document, xml)) return {};
  return document.document_element().child(name).text().get();
}

std::int64_t parse_iso_date(std::string_view text) {
  // 2024-01-02T03:04:05
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':') {
    return 0;
  }
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!read_number(text.substr(0, 4), year) || !read_number(text.substr(5, 2), month) ||
      !read_number(text.substr(8, 2), day) || !read_number(text.substr(11, 2), hour) ||
      !read_number(text.substr(14, 2), minute) || !read_number(text.substr(17, 2), second)) {
    return 0;
  }
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(month),
                            std::chrono::day(day)};
  if (!date.ok()) return 0;
  const auto time = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  return duration_cast<seconds>(time.time_since_epoch()).count();
}

}  // namespace headrace::s3
