// SPDX-License-Identifier: Apache-2.0
// Overflows a signed integer, so that UndefinedBehaviorSanitizer must report it.
#include <cstdio>
#include <limits>

int main() {
  volatile int large = std::numeric_limits<int>::max();
  std::printf("%d\n", large + 1);
  return 0;
}
