// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/shaped/media.h"

namespace headrace {

Medium scaled(Medium medium, double factor) {
  for (Credits* credits : {&medium.throughput_credits, &medium.request_credits}) {
    credits->start *= factor;
    credits->cap *= factor;
  }
  return medium;
}

}  // namespace headrace
