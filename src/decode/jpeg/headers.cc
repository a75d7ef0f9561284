// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/headers.h"

#include <algorithm>

namespace headrace::jpeg {

namespace {

constexpr int kSoi = 0xd8, kSos = 0xda, kDqt = 0xdb, kDri = 0xdd, kDht = 0xc4;
constexpr int kSof0 = 0xc0, kSof1 = 0xc1, kDac = 0xcc, kApp0 = 0xe0, kApp14 = 0xee, kCom = 0xfe;
constexpr std::string_view kJfif("JFIF\0", 5);

/// Walks the segments; the first thing it does not take ends the walk with a reason.
class Parser {
 public:
  explicit Parser(ByteSpan bytes) : bytes_(bytes) {}

  ParseOutcome run() {
    if (bytes_.size() < 4 || at(0) != 0xff || at(1) != kSoi) return {{}, "no SOI"};
    pos_ = 2;
    while (why_.empty() && !done_) segment();
    if (!why_.empty()) return {{}, why_};
    return {headers_, {}};
  }

 private:
  int at(std::size_t pos) const { return std::to_integer<int>(bytes_[pos]); }
  std::uint32_t at16(std::size_t pos) const {
    return static_cast<std::uint32_t>((at(pos) << 8) | at(pos + 1));
  }
  void refuse(std::string_view why) { why_ = why; }

  void segment() {
    if (pos_ + 4 > bytes_.size() || at(pos_) != 0xff) return refuse("bytes between segments");
    while (pos_ + 4 <= bytes_.size() && at(pos_ + 1) == 0xff) ++pos_;  // fill bytes are legal
    if (pos_ + 4 > bytes_.size()) return refuse("cut in the headers");
    const int marker = at(pos_ + 1);
    const std::size_t length = at16(pos_ + 2);
    const std::size_t begin = pos_ + 4;
    if (length < 2 || pos_ + 2 + length > bytes_.size()) return refuse("cut in the headers");
    const ByteSpan body = bytes_.subspan(begin, length - 2);
    pos_ += 2 + length;
    switch (marker) {
      case kSof0:
      case kSof1:
        return frame(body);
      case kDht:
        return huffman(body);
      case kDqt:
        return quantisation(body);
      case kDri:
        if (body.size() != 2) return refuse("bad DRI");
        headers_.restart_interval = at16(begin);
        return;
      case kSos:
        return scan(body);
      case kApp14:
        return adobe(body);
      case kApp0:
        return jfif(body);
      default:
        if ((marker > kApp0 && marker <= 0xef) || marker == kCom) return;  // of no effect on pixels
        return refuse(marker == 0xc2   ? "progressive"
                      : marker == kDac ? "arithmetic"
                                       : "unusual marker");
    }
  }

  void frame(ByteSpan body) {
    const std::size_t begin = pos_ - body.size();
    if (frame_seen_) return refuse("two frames");
    frame_seen_ = true;
    if (body.size() < 6 || at(begin) != 8) return refuse("not 8 bit");
    headers_.height = at16(begin + 1);
    headers_.width = at16(begin + 3);
    const auto count = static_cast<std::uint32_t>(at(begin + 5));
    if (headers_.height == 0 || headers_.width == 0) return refuse("no size in the frame");
    if (count != 1 && count != 3) return refuse("neither grey nor three components");
    if (body.size() != 6 + 3 * std::size_t{count}) return refuse("bad frame length");
    headers_.component_count = count;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t at_component = begin + 6 + 3 * std::size_t{i};
      Component& c = headers_.components[i];
      c.id = static_cast<std::uint8_t>(at(at_component));
      c.h = static_cast<std::uint32_t>(at(at_component + 1)) >> 4U;
      c.v = static_cast<std::uint32_t>(at(at_component + 1)) & 15U;
      c.quant = static_cast<std::uint8_t>(at(at_component + 2));
      if (c.quant > 3) return refuse("bad table number");
    }
    auto& c = headers_.components;
    if (count == 1) {
      c[0].h = c[0].v = 1;  // a scan of one component has one block an MCU, whatever it says
      return;
    }
    const bool plain_chroma = c[1].h == 1 && c[1].v == 1 && c[2].h == 1 && c[2].v == 1;
    const bool known_luma =
        (c[0].h == 1 && c[0].v == 1) || (c[0].h == 2 && (c[0].v == 1 || c[0].v == 2));
    if (!plain_chroma || !known_luma) return refuse("unusual sampling");
  }

  void huffman(ByteSpan body) {
    std::size_t pos = pos_ - body.size();
    while (pos < pos_) {
      if (pos + 17 > pos_) return refuse("bad DHT");
      const int id = at(pos);
      const bool is_ac = (id & 0x10) != 0;
      if ((id & ~0x13) != 0) return refuse("bad table number");
      HuffmanSpec& spec = (is_ac ? headers_.ac : headers_.dc).at(static_cast<std::size_t>(id & 3));
      spec = {};
      std::size_t total = 0;
      for (std::size_t length = 1; length <= 16; ++length) {
        spec.counts[length] = static_cast<std::uint8_t>(at(pos + length));
        total += spec.counts[length];
      }
      pos += 17;
      if (total > 256 || pos + total > pos_) return refuse("bad DHT");
      for (std::size_t i = 0; i < total; ++i) {
        const int symbol = at(pos + i);
        // Larger categories cannot occur in 8-bit pictures; libjpeg-turbo has its own words for
        // them.
        if (is_ac ? (symbol & 15) > 10 : symbol > 11) return refuse("category out of range");
        spec.symbols[i] = static_cast<std::uint8_t>(symbol);
      }
      spec.present = true;
      pos += total;
    }
  }

  void quantisation(ByteSpan body) {
    std::size_t pos = pos_ - body.size();
    while (pos < pos_) {
      const int id = at(pos);
      if (id > 3) return refuse("16-bit quantisation, or a bad table number");
      if (pos + 65 > pos_) return refuse("bad DQT");
      auto& table = headers_.quant.at(static_cast<std::size_t>(id));
      for (std::size_t k = 0; k < 64; ++k) {
        table[kNaturalOrder[k]] = static_cast<std::uint16_t>(at(pos + 1 + k));
      }
      quant_seen_[static_cast<std::size_t>(id)] = true;
      pos += 65;
    }
  }

  void jfif(ByteSpan body) {
    if (body.size() < 14 || !as_text(body).starts_with(kJfif)) return;
    if (std::to_integer<int>(body[kJfif.size()]) != 1) return refuse("a later JFIF");  // warned of
    jfif_ = true;
  }

  void adobe(ByteSpan body) {
    if (body.size() >= 12 && as_text(body).starts_with("Adobe")) {
      adobe_transform_ = std::to_integer<int>(body[11]);
    }
  }

  /// libjpeg's rule: JFIF beats Adobe, Adobe beats component ids.
  bool is_ycc() const {
    if (headers_.component_count == 1 || jfif_) return true;
    if (adobe_transform_) return *adobe_transform_ == 1;
    const auto& c = headers_.components;
    return c[0].id == 1 && c[1].id == 2 && c[2].id == 3;
  }

  void scan(ByteSpan body) {
    const std::size_t begin = pos_ - body.size();
    if (!frame_seen_) return refuse("scan before frame");
    const std::uint32_t count = headers_.component_count;
    if (body.size() != 4 + 2 * std::size_t{count} || at(begin) != static_cast<int>(count)) {
      return refuse("more than one scan");
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::size_t at_component = begin + 1 + 2 * std::size_t{i};
      Component& c = headers_.components[i];
      if (at(at_component) != c.id) return refuse("components out of order");
      c.dc = static_cast<std::uint8_t>(at(at_component + 1) >> 4);
      c.ac = static_cast<std::uint8_t>(at(at_component + 1) & 15);
      if (c.dc > 3 || c.ac > 3) return refuse("bad table number");
      if (!headers_.dc[c.dc].present || !headers_.ac[c.ac].present)
        return refuse("no Huffman table");
      if (!quant_seen_[c.quant]) return refuse("no quantisation table");
    }
    const std::size_t tail = begin + 1 + 2 * std::size_t{count};
    if (at(tail) != 0 || at(tail + 1) != 63 || at(tail + 2) != 0)
      return refuse("spectral selection");
    if (!is_ycc()) return refuse("colours that are not YCbCr");
    headers_.scan_begin = pos_;
    done_ = true;
  }

  const ByteSpan bytes_;
  std::size_t pos_ = 0;
  std::string_view why_;
  bool done_ = false;
  bool frame_seen_ = false;
  bool jfif_ = false;
  std::optional<int> adobe_transform_;
  std::array<bool, 4> quant_seen_{};
  Headers headers_;
};

}  // namespace

ParseOutcome parse(ByteSpan bytes) { return Parser(bytes).run(); }

}  // namespace headrace::jpeg
