// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace headrace {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::invalid:
      return "invalid";
    case Code::not_found:
      return "not_found";
    case Code::denied:
      return "denied";
    case Code::changed:
      return "changed";
    case Code::corrupt:
      return "corrupt";
    case Code::unavailable:
      return "unavailable";
    case Code::exhausted:
      return "exhausted";
    case Code::cancelled:
      return "cancelled";
  }
  return "unknown";
}

Error Error::at(std::string_view place) && {
  if (place_.empty()) {
    place_ = place;
  } else if (!std::string_view(place_).starts_with(place)) {
    place_ = fmt::format("{}: {}", place, place_);
  }
  return std::move(*this);
}

Error Error::advise(std::string_view remedy) && {
  if (remedy_.empty()) remedy_ = remedy;
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string text;
  if (!place_.empty()) text = place_ + ": ";
  text += cause_;
  if (!remedy_.empty()) text += " (" + remedy_ + ")";
  return text;
}

namespace {

Code code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::denied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EFBIG:
      return Code::exhausted;
    case EINVAL:
    case ENAMETOOLONG:
    case EISDIR:
    case EEXIST:
    case ELOOP:
      return Code::invalid;
    case ESTALE:
      return Code::changed;
    case ECANCELED:
      return Code::cancelled;
    default:
      return Code::unavailable;
  }
}

std::string_view remedy_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free space on the volume, or point the command at another one";
    case EMFILE:
      return "raise the limit of open files: ulimit -n";
    default:
      return "";
  }
}

}  // namespace

Error errno_error(int error_number, std::string_view doing) {
  return {code_of(error_number),
          fmt::format("{}: {}", doing, std::generic_category().message(error_number)),
          std::string(remedy_of(error_number))};
}

}  // namespace headrace
