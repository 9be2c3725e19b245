#include "base/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/ascii.h"
#include "base/suggestion.h"
#include "base/toml.h"

namespace stoka {
namespace {

std::optional<bool> parse_bool(std::string_view text) {
  for (std::string_view yes : {"true", "1", "yes", "on"})
    if (text == yes) return true;
  for (std::string_view no : {"false", "0", "no", "off"})
    if (text == no) return false;
  return std::nullopt;
}

// Describes the values that a setting accepts, for messages: "a whole number from 1 to 10".
std::string expected_value(const Setting& setting) {
  switch (setting.type) {
    case ValueType::integer:
    case ValueType::number:
      return fmt::format("a {}number from {:g} to {:g}",
                         setting.type == ValueType::integer ? "whole " : "", setting.min_value,
                         setting.max_value);
    case ValueType::boolean:
      return "true or false";
    case ValueType::choice:
      return fmt::format("one of {}", fmt::join(setting.choices, ", "));
    case ValueType::text:
    case ValueType::list:
      break;
  }
  return "text";
}

bool is_valid(const Setting& setting, std::string_view text) {
  switch (setting.type) {
    case ValueType::integer: {
      auto value = parse_number<long>(text);
      return value && static_cast<double>(*value) >= setting.min_value &&
             static_cast<double>(*value) <= setting.max_value;
    }
    case ValueType::number: {
      // The comparisons of the range are written so that NaN fails them.
      auto value = parse_number<double>(text);
      return value && *value >= setting.min_value && *value <= setting.max_value;
    }
    case ValueType::boolean:
      return parse_bool(text).has_value();
    case ValueType::choice:
      return std::find(setting.choices.begin(), setting.choices.end(), text) !=
             setting.choices.end();
    case ValueType::text:
    case ValueType::list:
      break;
  }
  return true;
}

}  // namespace

std::string_view to_string(Origin origin) {
  constexpr std::string_view kNames[] = {"default", "file", "environment", "flag"};
  return kNames[static_cast<int>(origin)];
}

Config::Config(std::span<const Setting> settings) : settings_(settings) {
  for (const Setting& setting : settings)
    values_[setting.key] = {setting.default_value, Origin::default_value};
}

Result<> Config::set(std::string_view key, std::string text, Origin origin,
                     std::string_view where) {
  auto found = std::find_if(settings_.begin(), settings_.end(),
                            [&](const Setting& s) { return s.key == key; });
  if (found == settings_.end()) {
    std::vector<std::string> known;
    for (const Setting& s : settings_) known.push_back(s.key);
    return fail(ErrorKind::config,
                fmt::format("{}: unknown key '{}'{}", where, key, did_you_mean(key, known)),
                "remove the key or correct its spelling");
  }
  if (!is_valid(*found, text))
    return fail(origin == Origin::flag ? ErrorKind::usage : ErrorKind::config,
                fmt::format("{}: {} is '{}', wanted {}", where, key, text, expected_value(*found)));
  values_.find(key)->second = {std::move(text), origin};
  return {};
}

Result<> Config::load_file(std::string_view toml, std::string_view source) {
  auto entries = parse_toml(toml, source);
  if (!entries) return fail(ErrorKind::config, entries.error().message, entries.error().hint);
  for (TomlEntry& entry : *entries)
    STOKA_TRY(set(entry.key, fmt::format("{}", fmt::join(entry.values, ",")), Origin::file,
                  fmt::format("{}:{}", source, entry.line)));
  return {};
}

Result<> Config::load_environment(const Environment& getenv) {
  for (const Setting& setting : settings_) {
    if (setting.env.empty()) continue;
    auto text = getenv(setting.env);
    // An environment variable with an empty text counts as not set.
    if (text && !text->empty())
      STOKA_TRY(set(setting.key, *text, Origin::environment, setting.env));
  }
  return {};
}

Result<> Config::set_flag(std::string_view key, std::string value) {
  return set(key, std::move(value), Origin::flag, "command line");
}

const Config::Value& Config::value(std::string_view key) const {
  auto found = values_.find(key);
  assert(found != values_.end() && "key is not declared");
  return found->second;
}

const std::string& Config::text(std::string_view key) const { return value(key).text; }
long Config::integer(std::string_view key) const {
  return parse_number<long>(value(key).text).value_or(0);
}
double Config::number(std::string_view key) const {
  return parse_number<double>(value(key).text).value_or(0);
}
bool Config::boolean(std::string_view key) const {
  return parse_bool(value(key).text).value_or(false);
}
Origin Config::origin(std::string_view key) const { return value(key).origin; }

std::vector<std::string> Config::list(std::string_view key) const {
  std::vector<std::string> out;
  std::string_view rest = value(key).text;
  while (!rest.empty()) {
    size_t comma = std::min(rest.find(','), rest.size());
    std::string_view item = rest.substr(0, comma);
    if (item = trimmed(item); !item.empty()) out.emplace_back(item);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return out;
}

}  // namespace stoka
