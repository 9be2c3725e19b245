// Configuration layers: flag > environment > file > default, for a declared set of keys. Values are
// text until an app turns them into the option structs of the rooms.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stoka {

enum class ValueType { text, integer, number, boolean, choice, list };

struct Setting {
  std::string key;  // "retrieval.mode"; also the file's [retrieval] mode
  std::string env;  // "STOKA_RETRIEVAL_MODE"; empty: none
  ValueType type = ValueType::text;
  std::string fallback;  // default, as text
  std::string help;      // one line
  std::vector<std::string> choices = {};
  double least = -1e300;  // of numbers
  double most = 1e300;
  bool secret = false;  // not to be shown
};

enum class Origin { fallback, file, environment, flag };
std::string_view name(Origin origin);

class Config {
 public:
  // getenv returns an empty optional for a variable that is not set.
  using Environment = std::function<std::optional<std::string>(const std::string&)>;

  explicit Config(std::span<const Setting> settings);

  // Each checks every value against its setting. Unknown keys are errors that name the nearest.
  Result<> load_file(std::string_view toml, std::string_view source);
  Result<> load_environment(const Environment& getenv);
  Result<> set_flag(std::string_view key, std::string value);

  // The key must be a declared one.
  const std::string& text(std::string_view key) const;
  long integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::vector<std::string> list(std::string_view key) const;  // comma separated
  Origin origin(std::string_view key) const;
  std::span<const Setting> settings() const { return settings_; }

 private:
  struct Value {
    std::string text;
    Origin origin = Origin::fallback;
  };
  const Value& value(std::string_view key) const;
  Result<> set(std::string_view key, std::string text, Origin origin, std::string_view where);

  std::span<const Setting> settings_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace stoka
