// The flags and arguments of the program and of its commands. They are declared once, as data, from
// which the parser, --help, the shell completions and the manual pages are generated.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stoka::app {

// The names that a shell completes for a value without fixed choices: none, files or folders.
enum class Completion { none, files, folders };

struct Flag {
  // A pointer to the variable for the parsed value, which must outlive the parser. A bool is a
  // switch without a value. An optional stays empty if the flag is not given. The pointer is null
  // for a flag that the parser handles itself.
  using Target =
      std::variant<bool*, int*, size_t*, double*, std::string*, std::optional<std::string>*,
                   std::vector<std::string>*, std::optional<std::vector<std::string>>*>;

  std::string names{};  // "--page" or "-n,--dry-run"; an argument has a name in capitals: "QUERY"
  Target target{};
  std::string help{};
  std::string value{};  // the name of the value in --help: "URL"; empty for switches and arguments
  Completion completion = Completion::none;
  bool required = false;
  bool comma_separated = false;  // a list flag splits its value: "a,b" is two values
  bool optional_value = false;   // the flag may be given without a value
  bool show_default = false;     // --help shows the default value
  std::vector<std::string> choices{};
  double min = 0;  // the smallest number allowed; the range is checked if max > min
  double max = 0;
  // A check in place of `choices`: a function that returns an error message or an empty string.
  std::function<std::string(const std::string&)> check{};
  std::vector<std::string> needs{};  // long names of other flags that must be given with this one
  std::vector<std::string> excludes{};  // long names of other flags that exclude this one

  bool is_argument() const { return !names.starts_with('-'); }
  bool is_switch() const { return std::holds_alternative<bool*>(target); }
  bool is_list() const {
    return std::holds_alternative<std::vector<std::string>*>(target) ||
           std::holds_alternative<std::optional<std::vector<std::string>>*>(target);
  }
  // Returns the short name such as "-n", which comes first in `names`, or an empty string.
  std::string short_name() const {
    const bool has_short = names.size() > 1 && names[0] == '-' && names[1] != '-';
    return has_short ? names.substr(0, names.find(',')) : "";
  }
  // Returns the long name such as "--dry-run", or the name of an argument.
  std::string long_name() const {
    const size_t comma = names.find(',');
    return comma == std::string::npos ? names : names.substr(comma + 1);
  }
};

using FlagList = std::vector<Flag>;

inline void add(FlagList& list, FlagList more) {
  for (Flag& flag : more) list.push_back(std::move(flag));
}

}  // namespace stoka::app
