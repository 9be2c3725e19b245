// Result<T>: a T or an Error, spelled like std::expected<T, Error>.
#pragma once

#include <tl/expected.hpp>

#include "base/error.h"

namespace stoka {

template <class T = void>
using Result = tl::expected<T, Error>;

// return fail(ErrorKind::data, "what is wrong", "what to do next");
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error(kind, std::move(message), std::move(hint)));
}

// return fail(other.error());
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace stoka

// STOKA_TRY(expr): returns the error of a Result to the caller, else goes on.
#define STOKA_TRY(expr)                                      \
  do {                                                       \
    if (auto stoka_result = (expr); !stoka_result)           \
      return ::stoka::fail(std::move(stoka_result).error()); \
  } while (0)

#define STOKA_CONCAT2(a, b) a##b
#define STOKA_CONCAT(a, b) STOKA_CONCAT2(a, b)
// STOKA_ASSIGN(auto x, expr): x is the value of a Result, or the error is returned to the caller.
#define STOKA_ASSIGN(decl, expr) \
  STOKA_ASSIGN_IMPL(STOKA_CONCAT(stoka_result_, __LINE__), decl, expr)
#define STOKA_ASSIGN_IMPL(tmp, decl, expr)                \
  auto tmp = (expr);                                      \
  if (!tmp) return ::stoka::fail(std::move(tmp).error()); \
  decl = std::move(*tmp)
