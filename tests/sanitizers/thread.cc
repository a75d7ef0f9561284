// SPDX-License-Identifier: Apache-2.0
// Writes one integer from two threads without a lock, so that ThreadSanitizer must report it.
#include <cstdio>
#include <thread>

int main() {
  int shared = 0;
  const auto add = [&shared] {
    for (int i = 0; i < 1000; ++i) ++shared;
  };
  {
    const std::jthread one(add);
    const std::jthread two(add);
  }
  std::printf("%d\n", shared);
  return 0;
}
