// Result<T> holds a T or an Error. It has the interface of std::expected<T, Error>.
#pragma once

#include <tl/expected.hpp>

#include "base/error.h"

namespace stoka {

template <class T = void>
using Result = tl::expected<T, Error>;

// Makes an error. Example: return fail(ErrorKind::data, "what is wrong", "what to do next");
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error(kind, std::move(message), std::move(hint)));
}

// Passes an error on, for example: return fail(other.error());
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace stoka

// STOKA_TRY(expr) returns from the function with the error of a Result, if it has one.
#define STOKA_TRY(expr)                                      \
  do {                                                       \
    if (auto stoka_result = (expr); !stoka_result)           \
      return ::stoka::fail(std::move(stoka_result).error()); \
  } while (0)

#define STOKA_CONCAT2(a, b) a##b
#define STOKA_CONCAT(a, b) STOKA_CONCAT2(a, b)
// STOKA_ASSIGN(auto x, expr) sets x to the value of a Result, or returns from the function with its
// error.
#define STOKA_ASSIGN(decl, expr) \
  STOKA_ASSIGN_IMPL(STOKA_CONCAT(stoka_result_, __LINE__), decl, expr)
#define STOKA_ASSIGN_IMPL(tmp, decl, expr)                \
  auto tmp = (expr);                                      \
  if (!tmp) return ::stoka::fail(std::move(tmp).error()); \
  decl = std::move(*tmp)
