// SPDX-License-Identifier: Apache-2.0
/// \file `Result<T>`: a value or an Error, and the compiler warns when it is ignored.
///
/// As thread-safe as T. Example:
///
///     Result<std::uint64_t> size_of(const std::string& key) {
///       HEADRACE_TRY(auto info, store.head(key));   // returns the error to our caller
///       return info.size;
///     }
///
/// A wrapper, since the packaged tl::expected 1.0 is not [[nodiscard]] (docs/DEPENDENCIES.md).
#pragma once

#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

#include "headrace/base/error.h"

namespace headrace {

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : content_(std::move(value)) {}
  /// From what converts to T: a unique_ptr of a derived class, a value for an optional.
  // NOLINTBEGIN(bugprone-forwarding-reference-overload): the constraint excludes copies
  template <class U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result> &&
           !std::is_same_v<std::remove_cvref_t<U>, Error>) Result(U&& value)
      : content_(T(std::forward<U>(value))) {}
  // NOLINTEND(bugprone-forwarding-reference-overload)
  Result(Error error) : content_(tl::unexpect, std::move(error)) {}

  bool ok() const { return content_.has_value(); }
  explicit operator bool() const { return ok(); }

  /// REQUIRES: ok()
  T& operator*() & { return *content_; }
  const T& operator*() const& { return *content_; }
  T&& operator*() && { return *std::move(content_); }
  T* operator->() { return &*content_; }
  const T* operator->() const { return &*content_; }

  /// REQUIRES: !ok()
  const Error& error() const& { return content_.error(); }
  Error&& error() && { return std::move(content_).error(); }

  /// The same, with the place added if it is an error.
  [[nodiscard]] Result at(std::string_view place) && {
    if (ok()) return std::move(*this);
    return std::move(*this).error().at(place);
  }

 private:
  tl::expected<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : content_(tl::unexpect, std::move(error)) {}

  bool ok() const { return content_.has_value(); }
  explicit operator bool() const { return ok(); }

  /// REQUIRES: !ok()
  const Error& error() const& { return content_.error(); }
  Error&& error() && { return std::move(content_).error(); }

  [[nodiscard]] Result at(std::string_view place) && {
    if (ok()) return {};
    return std::move(*this).error().at(place);
  }

 private:
  tl::expected<void, Error> content_;
};

}  // namespace headrace

/// HEADRACE_TRY(expr): returns expr's error from the enclosing function, if it is one.
/// HEADRACE_TRY(auto x, expr): the same, else binds the value. The only macro of the project.
#define HEADRACE_TRY(...) \
  HEADRACE_TRY_PICK(__VA_ARGS__, HEADRACE_TRY_BIND, HEADRACE_TRY_VOID, )(__VA_ARGS__)
#define HEADRACE_TRY_PICK(a, b, chosen, ...) chosen
#define HEADRACE_TRY_VOID(expr)                                      \
  do {                                                               \
    auto headrace_result = (expr);                                   \
    if (!headrace_result) return std::move(headrace_result).error(); \
  } while (false)
#define HEADRACE_TRY_BIND(lhs, expr) \
  HEADRACE_TRY_BIND_AS(HEADRACE_TRY_NAME(headrace_result_, __LINE__), lhs, expr)
#define HEADRACE_TRY_BIND_AS(name, lhs, expr)  \
  auto name = (expr);                          \
  if (!(name)) return std::move(name).error(); \
  lhs = *std::move(name)
#define HEADRACE_TRY_NAME(a, b) HEADRACE_TRY_NAME_(a, b)
#define HEADRACE_TRY_NAME_(a, b) a##b
