// A configuration file: TOML as a flat list, and its values in a Config.
#include <algorithm>
#include <string>

#include "base/config.h"
#include "base/toml.h"
#include "fuzz/targets.h"
#include "text/utf8.h"

namespace stoka::fuzz {
namespace {

const std::vector<Setting> kFileSettings = {
    {"store", "STOKA_DB_URL", ValueType::text, "default.db", "where"},
    {"retrieval.mode", "", ValueType::choice, "hybrid", "how", {"hybrid", "dense"}},
    {"retrieval.k", "", ValueType::integer, "100", "how many", {}, 1, 1000},
    {"retrieval.weight", "", ValueType::number, "0.5", "how much", {}, 0, 1},
    {"serve.open", "", ValueType::boolean, "true", "whether"},
    {"tags", "", ValueType::list, "", "which"},
};

bool is_same(const TomlEntry& a, const TomlEntry& b) {
  return a.key == b.key && a.values == b.values && a.is_list == b.is_list && a.line == b.line &&
         a.type == b.type;
}

void check_toml(std::string_view input) {
  const auto flat = parse_toml(input, "x.toml");
  const auto skipped = parse_toml(input, "x.toml", TomlNested::skip);
  for (const auto* parsed : {&flat, &skipped}) {
    if (*parsed) continue;
    check((*parsed).error().kind == ErrorKind::data, "malformed TOML is a data error");
    check((*parsed).error().message.starts_with("x.toml:"), "an error names the file");
  }
  if (!skipped) {
    check(!flat.has_value(), "what is malformed is refused with nested lists, too");
    return;
  }
  const int lines = 1 + static_cast<int>(std::count(input.begin(), input.end(), '\n'));
  int line = 1;
  for (const TomlEntry& entry : *skipped) {
    check(entry.line >= line && entry.line <= lines, "entries are in the order of the file");
    line = entry.line;
    check(entry.is_list || entry.values.size() == 1, "what is not a list has one value");
    check(text::is_valid_utf8(entry.key), "a key is valid UTF-8");
    for (const std::string& value : entry.values)
      check(text::is_valid_utf8(value), "a value is valid UTF-8");
  }
  if (flat)
    check(std::equal(flat->begin(), flat->end(), skipped->begin(), skipped->end(), is_same),
          "without nested lists both ways of parsing agree");
}

void check_config(std::string_view input) {
  Config config(kFileSettings);
  if (const Result<> loaded = config.load_file(input, "x.toml"); !loaded) {
    check(loaded.error().kind == ErrorKind::config, "a wrong file is a configuration error");
    check(loaded.error().message.starts_with("x.toml:"), "an error names the file");
  }
  // Also after an error, every value fits its setting.
  check(config.integer("retrieval.k") >= 1 && config.integer("retrieval.k") <= 1000,
        "a whole number is in its range");
  check(config.number("retrieval.weight") >= 0 && config.number("retrieval.weight") <= 1,
        "a number is in its range");
  const std::string& mode = config.text("retrieval.mode");
  check(mode == "hybrid" || mode == "dense", "a choice is one of the allowed ones");
  for (const std::string& item : config.list("tags"))
    check(!item.empty() && item.find(',') == std::string::npos, "a list has no empty items");
  for (const Setting& setting : kFileSettings) {
    Config copy(kFileSettings);
    check(copy.set_flag(setting.key, config.text(setting.key)).has_value(),
          "a value of the file is also valid as a flag");
    check(copy.text(setting.key) == config.text(setting.key), "a flag has the value it was given");
  }
}

}  // namespace

void fuzz_config(std::string_view input) {
  check_toml(input);
  check_config(input);
}

}  // namespace stoka::fuzz
