// The flags and arguments of the program and of its commands. They are declared once, as data: the
// parser, --help, the shell completions and the manual pages are all made from this table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stoka::app {

// What a shell offers while a value is typed that is not one of a fixed set of words.
enum class Offer { nothing, files, folders };

struct Flag {
  // Where the parsed value goes; it must outlive the parsing. A bool is a switch without a value.
  // An optional stays empty when the flag is not given. A null pointer: the parser's own flag.
  using Target =
      std::variant<bool*, int*, size_t*, double*, std::string*, std::optional<std::string>*,
                   std::vector<std::string>*, std::optional<std::vector<std::string>>*>;

  std::string names{};  // "--page", "-n,--dry-run"; an argument has a name in capitals: "QUERY"
  Target target{};
  std::string help{};
  std::string value{};  // what --help calls the value: "URL"; empty for switches and arguments
  Offer offer = Offer::nothing;
  bool required = false;
  bool comma_separated = false;  // of a list: "a,b" are two values
  bool optional_value = false;   // the flag may be given without a value
  bool show_default = false;     // in --help
  std::vector<std::string> choices{};
  double min = 0;  // of a number; the range is checked if max is above min
  double max = 0;
  // Returns what is wrong with a value, or nothing; replaces the check against `choices`.
  std::function<std::string(const std::string&)> check{};
  std::vector<std::string> needs{};     // other flags, by their long name
  std::vector<std::string> excludes{};  // other flags, by their long name

  bool is_argument() const { return !names.starts_with('-'); }
  bool is_switch() const { return std::holds_alternative<bool*>(target); }
  bool is_list() const {
    return std::holds_alternative<std::vector<std::string>*>(target) ||
           std::holds_alternative<std::optional<std::vector<std::string>>*>(target);
  }
  std::string short_name() const;  // "-n"; empty if there is none
  std::string long_name() const;   // "--dry-run"; of an argument its name
};

using FlagList = std::vector<Flag>;

inline void add(FlagList& list, FlagList more) {
  for (Flag& flag : more) list.push_back(std::move(flag));
}

}  // namespace stoka::app
