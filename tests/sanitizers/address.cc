// SPDX-License-Identifier: Apache-2.0
// Reads memory after it was freed, so that AddressSanitizer must report it.
#include <cstdio>
#include <memory>

int main() {
  auto owner = std::make_unique<volatile int>(1);
  const volatile int* gone = owner.get();
  owner.reset();
  std::printf("%d\n", *gone);
  return 0;
}
