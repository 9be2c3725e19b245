// A key or a password. A formatted Secret is printed as ***, so that no log shows it by mistake.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace stoka {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}
  bool empty() const { return value_.empty(); }
  // Returns the secret itself, for the code that sends it. The secret must never be put into a
  // log, an error message, a URL or a file.
  const std::string& reveal() const { return value_; }
  // A secret of fewer bytes is taken for a placeholder ("EMPTY", "ollama") and is not redacted,
  // because the same word may occur in ordinary text.
  static constexpr size_t kMinLength = 8;
  // Replaces every occurrence of the secret in the text with ***, also where JSON escapes it
  // ("sk\/1"). Some servers repeat in their error message the key that they refuse.
  std::string redact(std::string_view text) const;

 private:
  std::string value_;
};

}  // namespace stoka

template <>
struct fmt::formatter<stoka::Secret> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const stoka::Secret& secret, Context& context) const {
    return fmt::formatter<std::string_view>::format(secret.empty() ? "" : "***", context);
  }
};
