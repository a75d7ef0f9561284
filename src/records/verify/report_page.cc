// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/verify/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "headrace/records/picture_kind.h"
#include "headrace/records/read_ahead.h"

namespace headrace {

namespace embedded {  // by embed() of cmake/Embed.cmake
extern const std::string_view verify_page_css;
}

namespace {

constexpr std::size_t kPictures = 24;      // of the bad ones
constexpr std::size_t kRows = 200;         // of a table
constexpr std::size_t kBars = 60;          // of a chart
constexpr std::size_t kLargest = 300'000;  // bytes of a picture that is shown

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return safe;
}

std::string base64(ByteSpan bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::array<unsigned, 3> group{};
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < count; ++k) group.at(k) = std::to_integer<unsigned>(bytes[i + k]);
    const unsigned word = group[0] << 16U | group[1] << 8U | group[2];
    text += kDigits[word >> 18U];
    text += kDigits[word >> 12U & 63U];
    text += count > 1 ? kDigits[word >> 6U & 63U] : '=';
    text += count > 2 ? kDigits[word & 63U] : '=';
  }
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits.at(unit));
}

std::string class_text(float label, const std::vector<std::string>& classes) {
  if (label >= 0 && label < static_cast<float>(classes.size()) && label == std::trunc(label))
    return classes[static_cast<std::size_t>(label)];
  return fmt::format("{}", label);
}

using Bars = std::vector<std::pair<std::string, std::uint64_t>>;

/// Lying bars, a line each.
std::string chart(const Bars& bars) {
  constexpr double kLine = 22;
  constexpr double kLeft = 190;
  constexpr double kWidth = 620;
  std::uint64_t most = 1;
  for (const auto& [name, count] : bars) most = std::max(most, count);
  std::string svg = fmt::format(R"(<svg viewBox="0 0 900 {}" role="img">)",
                                kLine * static_cast<double>(bars.size()));
  double y = 0;
  for (const auto& [name, count] : bars) {
    const double width = kWidth * static_cast<double>(count) / static_cast<double>(most);
    const std::string shown = name.size() > 28 ? name.substr(0, 27) + "…" : name;
    svg += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"{}\" y=\"{}\" "
        "width=\"{:.1f}\" "
        "height=\"14\" rx=\"3\"/><text x=\"{:.1f}\" y=\"{}\">{}</text>",
        kLeft - 8, y + 15, escaped(shown), kLeft, y + 4, width, kLeft + width + 6, y + 15, count);
    y += kLine;
  }
  return svg + "</svg>";
}

std::string tile(std::string_view what, const std::string& value, bool bad = false) {
  return fmt::format(R"(<div class="tile"><span class="soft">{}</span><b{}>{}</b></div>)", what,
                     bad ? " class=\"bad\"" : "", escaped(value));
}

std::string figure(const PageContext& context, std::uint64_t sample, const std::string& caption) {
  const auto found = context.pictures.find(sample);
  std::string picture = "<div class=\"none\">not shown</div>";
  if (found != context.pictures.end()) {
    const std::string_view kind = picture_kind(found->second.span());
    picture = fmt::format(R"(<img alt="" src="data:image/{};base64,{}">)",
                          kind == "unknown" ? std::string_view("jpeg") : kind,
                          base64(found->second.span()));
  }
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>", picture, caption);
}

class Page {
 public:
  Page(const VerifyReport& report, const PageContext& context)
      : report_(report), context_(context) {}

  std::string text() {
    head();
    classes();
    sizes();
    bad();
    odd();
    repeated();
    notices();
    return std::move(html_) + "</main></body></html>\n";
  }

 private:
  void head() {
    html_ += fmt::format(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>{}: {}</title><style>{}</style></head><body><main>"
        "<p class=\"soft\">headrace verify · {} · {}</p>",
        verdict(), escaped(context_.uri), embedded::verify_page_css, escaped(context_.uri),
        escaped(context_.format));
    html_ += fmt::format("<h1{}>{}</h1>", report_.clean() ? "" : " class=\"bad\"", verdict());
    html_ += fmt::format("<p>{}</p>", report_.decoded
                                          ? "Every picture was decoded."
                                          : "Pictures were held against their structure, from "
                                            "their first bytes to their end; none was decoded.");
    if (!report_.missing.empty())
      html_ += fmt::format("<p class=\"bad\">{}</p>", escaped(report_.missing));
    html_ += "<div class=\"tiles\">" + tile("samples", fmt::format("{}", report_.samples)) +
             tile("bad", fmt::format("{}", report_.bad), report_.bad != 0) +
             tile("repeated", fmt::format("{}", report_.repeated)) +
             tile("of pictures", bytes_text(report_.payload_bytes)) +
             tile("smallest", bytes_text(report_.smallest)) +
             tile("largest", bytes_text(report_.largest));
    for (const auto& [kind, count] : report_.kinds) html_ += tile(kind, fmt::format("{}", count));
    html_ += "</div>";
    html_ += fmt::format("<p class=\"soft\">set digest <code>{}</code></p>",
                         report_.set_digest.to_hex());
  }

  std::string verdict() const { return report_.clean() ? "Clean" : "Not clean"; }

  void classes() {
    if (report_.labels.empty()) return;
    Bars bars;
    for (const auto& [label, count] : report_.labels)
      bars.emplace_back(class_text(label, context_.classes), count);
    const std::size_t all = bars.size();
    std::ranges::stable_sort(bars, std::ranges::greater(), &Bars::value_type::second);
    html_ += fmt::format("<h2>Classes</h2><p>{} labels, {} to {}; {} to {} samples each.</p>", all,
                         report_.labels.begin()->first, report_.labels.rbegin()->first,
                         bars.back().second, bars.front().second);
    if (!report_.empty_classes.empty()) {
      html_ += fmt::format("<p>Without a sample: {}</p>",
                           escaped(fmt::format("{}", fmt::join(report_.empty_classes, ", "))));
    }
    if (all > kBars) {  // the largest and the smallest
      bars.erase(bars.begin() + kBars / 2, bars.end() - kBars / 2);
      html_ += fmt::format("<p class=\"soft\">The largest {} and the smallest {} of them.</p>",
                           kBars / 2, kBars / 2);
    }
    html_ += "<div class=\"card\">" + chart(bars) + "</div>";
  }

  void sizes() {
    if (report_.good == 0) return;
    Bars bars;
    const auto filled = [](std::uint64_t count) { return count != 0; };
    const auto first = std::ranges::find_if(report_.sizes, filled) - report_.sizes.begin();
    auto last = static_cast<std::ptrdiff_t>(report_.sizes.size()) - 1;
    while (report_.sizes.at(static_cast<std::size_t>(last)) == 0) --last;
    for (auto bin = first; bin <= last; ++bin) {
      const auto i = static_cast<std::size_t>(bin);
      bars.emplace_back(fmt::format("from {}", bytes_text(std::uint64_t{1} << i)),
                        report_.sizes.at(i));
    }
    html_ += "<h2>Sizes</h2><div class=\"card\">" + chart(bars) + "</div>";
  }

  void bad() {
    if (report_.first_bad.empty()) return;
    html_ += R"(<h2 class="bad">Bad samples</h2><div class="card pictures">)";
    const std::span<const BadSample> all(report_.first_bad);
    for (const BadSample& one : all.first(std::min(kPictures, all.size()))) {
      html_ += figure(context_, one.sample,
                      fmt::format("<code>{}</code><br>{}", escaped(one.name), escaped(one.why)));
    }
    html_ +=
        "</div><div class=\"card\" style=\"margin-top:12px\"><table><tr><th>sample</th><th>name"
        "</th><th>bytes</th><th>why</th></tr>";
    for (const BadSample& one : all.first(std::min(kRows, all.size()))) {
      html_ += fmt::format(
          "<tr><td>{}</td><td><code>{}</code></td><td>{} [{}, {})</td><td>{}</td></tr>", one.sample,
          escaped(one.name), escaped(one.key), one.begin, one.end, escaped(one.why));
    }
    html_ += "</table>";
    if (report_.bad > kRows)
      html_ += fmt::format("<p class=\"soft\">{} more are not shown.</p>", report_.bad - kRows);
    html_ += "</div>";
  }

  void odd() {
    using Kind = OddPicture::Kind;
    constexpr std::array<std::pair<Kind, std::string_view>, 3> kTitles = {
        {{Kind::stretched, "Most stretched"},
         {Kind::smallest, "Smallest"},
         {Kind::largest, "Largest"}}};
    for (const auto& [kind, title] : kTitles) {
      std::string figures;
      for (const OddPicture& one : report_.odd) {
        if (one.kind != kind) continue;
        std::string caption =
            fmt::format("<code>{}</code><br>{}", escaped(one.name), bytes_text(one.bytes));
        if (one.size.width != 0)
          caption += fmt::format(", {} × {}", one.size.width, one.size.height);
        figures += figure(context_, one.sample, caption);
      }
      if (!figures.empty())
        html_ += fmt::format("<h2>{}</h2><div class=\"card pictures\">{}</div>", title, figures);
    }
  }

  void repeated() {
    if (report_.first_repeated.empty()) return;
    html_ +=
        "<h2>Repeated pictures</h2><div class=\"card\"><table><tr><th>times</th><th>bytes</th>"
        "<th>labels</th><th>names</th></tr>";
    const std::span<const SameContent> all(report_.first_repeated);
    for (const SameContent& one : all.first(std::min(kRows, all.size()))) {
      html_ += fmt::format("<tr><td>{}</td><td>{}</td><td{}</td><td><code>{}</code></td></tr>",
                           one.count, bytes_text(one.bytes),
                           one.labels_differ ? " class=\"bad\">differ" : ">same",
                           escaped(fmt::format("{}", fmt::join(one.names, ", "))));
    }
    html_ += "</table></div>";
  }

  void notices() {
    if (context_.notices.empty()) return;
    html_ += "<h2>Notices</h2><div class=\"card\">";
    for (const Notice& notice : context_.notices)
      html_ += fmt::format("<p>{} <span class=\"soft\">× {}</span></p>", escaped(notice.text),
                           notice.count);
    html_ += "</div>";
  }

  const VerifyReport& report_;
  const PageContext& context_;
  std::string html_;
};

}  // namespace

std::map<std::uint64_t, Bytes> read_shown(Store& store, const Dataset& set,
                                          const VerifyReport& report, const std::stop_token& stop) {
  std::vector<std::uint64_t> wanted;
  for (const BadSample& one : report.first_bad)
    if (wanted.size() < kPictures) wanted.push_back(one.sample);
  for (const OddPicture& one : report.odd) wanted.push_back(one.sample);
  std::map<std::uint64_t, Bytes> pictures;
  for (const std::uint64_t sample : wanted) {
    const SampleId id{sample};
    if (set.frame_bytes(id) > kLargest) continue;
    const auto frame = read_frame(store, set, id, false, stop);
    if (!frame) continue;
    const auto parsed = set.parse(id, *frame);
    const Bytes& picture = parsed ? parsed->payload : *frame;
    if (picture.size() <= kLargest && !picture.empty()) pictures.emplace(sample, picture);
  }
  return pictures;
}

std::string report_page(const VerifyReport& report, const PageContext& context) {
  return Page(report, context).text();
}

}  // namespace headrace
