// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/errno_code.h"

#include <cerrno>

namespace headrace::mount {

int errno_code(Code code) {
  switch (code) {
    case Code::invalid:
      return EINVAL;
    case Code::not_found:
      return ENOENT;
    case Code::denied:
      return EACCES;
    case Code::changed:
      return ESTALE;
    case Code::exhausted:
      return ENOMEM;
    case Code::cancelled:
      return EINTR;
    case Code::corrupt:
    case Code::unavailable:
      break;
  }
  return EIO;
}

}  // namespace headrace::mount
