// SPDX-License-Identifier: Apache-2.0
/// \file A picture made smaller, or stored at another quality, as JPEG: what `convert --resize` and
/// `--quality` do. The pixels are those that the loader sees: EXIF orientation is not applied.
///
/// Thread-safe. Keeps a decoder for each call that runs at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/mutex.h"
#include "headrace/base/result.h"
#include "headrace/decode/decoder.h"

namespace headrace {

struct ReencodeOptions {
  std::uint32_t resize = 0;  ///< shorter side, antialiased; 0: as it is. Nothing is made larger
  int quality = 0;           ///< 1 to 100; 0: 95, and what need not be resized stays untouched

  /// "resize 256 quality 95": names every choice.
  std::string to_text() const;
};

class Reencoder {
 public:
  explicit Reencoder(const ReencodeOptions& options);
  Reencoder(const Reencoder&) = delete;
  Reencoder& operator=(const Reencoder&) = delete;
  ~Reencoder();

  /// The picture itself, if there is nothing to do. `corrupt` if it cannot be decoded.
  Result<Bytes> apply(const Bytes& picture);

 private:
  struct Worker;
  std::unique_ptr<Worker> take();
  void give_back(std::unique_ptr<Worker> worker);

  const ReencodeOptions options_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Worker>> free_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace
