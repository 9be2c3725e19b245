// Layered configuration for a declared set of settings: a flag overrides the environment, which
// overrides the file, which overrides the default. Values are kept as text; the application
// converts them to the option structs of the libraries under lib.
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
  std::string key;  // a name such as "retrieval.mode", which is [retrieval] mode in a file
  std::string env;  // an environment variable, e.g. "STOKA_RETRIEVAL_MODE"; may be empty
  ValueType type = ValueType::text;
  std::string default_value;  // the default value, as text
  std::string help;           // a description in one line, shown by --help and `stoka status -v`
  std::vector<std::string> choices = {};
  double min_value = -1e300;  // smallest number allowed
  double max_value = 1e300;   // largest number allowed
  bool is_secret = false;     // true if the value must never be shown
};

// The layer that a value comes from: the default, a file, an environment variable or a flag.
enum class Origin { default_value, file, environment, flag };
std::string_view to_string(Origin origin);

// The configuration. It is not thread safe while values are being loaded.
class Config {
 public:
  // A function that returns the value of a variable, or nothing if the variable is not set.
  using Environment = std::function<std::optional<std::string>(const std::string&)>;

  // The settings must outlive the Config.
  explicit Config(std::span<const Setting> settings);

  // Each load function checks every value against its setting. A value that does not fit and an
  // unknown key are errors of kind config (usage for a flag); for an unknown key, the message
  // suggests the closest known one. `source` is the name of the file in messages.
  Result<> load_file(std::string_view toml, std::string_view source);
  Result<> load_environment(const Environment& getenv);
  Result<> set_flag(std::string_view key, std::string value);

  // The getters return the value of the highest layer that has one. The key must be declared.
  const std::string& text(std::string_view key) const;
  long integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::vector<std::string> list(std::string_view key) const;  // for comma-separated values
  Origin origin(std::string_view key) const;
  std::span<const Setting> settings() const { return settings_; }

 private:
  struct Value {
    std::string text;
    Origin origin = Origin::default_value;
  };
  const Value& value(std::string_view key) const;
  Result<> set(std::string_view key, std::string text, Origin origin, std::string_view where);

  std::span<const Setting> settings_;
  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace stoka
