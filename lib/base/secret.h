// A key or a password. What prints it prints ***; only who sends it asks for it.
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
  // For the place that sends it. Never for a log, an error, a URL or a file.
  const std::string& reveal() const { return value_; }
  // The text with every occurrence of the secret as ***, also as JSON escapes it ("sk\/1"): servers
  // like to repeat a key they refuse.
  // What is shorter than this is a word that fills the place of a key ("EMPTY", "ollama"), and
  // stays: answers may hold it too.
  static constexpr size_t kLeastSecret = 8;
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
