#include "base/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace {

[[noreturn]] void refuse_toml() { throw std::invalid_argument("malformed key or table"); }

}  // namespace

// toml++ 3.3 has assertions where malformed text ("[{") should be an error, and a release build has
// undefined behaviour there. With this definition toml++ throws in every build.
#undef NDEBUG
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(expr) ((expr) ? void() : refuse_toml())
// The character classes of toml++ have undefined behaviour for many characters beyond ASCII, such
// as U+00E9, where they should return false.
// clang-format off
#include <toml++/impl/forward_declarations.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE __builtin_unreachable()
#include <toml++/toml.h>
// clang-format on

namespace stoka {
namespace {

std::string scalar_text(const toml::node& node) {
  if (auto text = node.as_string()) return text->get();
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) out << value.get();
  });
  if (node.is_boolean()) return node.as_boolean()->get() ? "true" : "false";
  return out.str();
}

TomlType type_of(const toml::node& node) {
  if (node.is_string()) return TomlType::text;
  return node.is_integer() ? TomlType::integer : TomlType::other;
}

Error not_flat(std::string_view source, const std::string& key, uint32_t line) {
  return {ErrorKind::data,
          fmt::format("{}:{}: '{}' is nested deeper than stoka reads", source, line, key),
          "use plain tables, values and lists of values"};
}

Result<> flatten(const toml::table& table, const std::string& prefix, std::string_view source,
                 TomlNested nested, std::vector<TomlEntry>& out) {
  for (const auto& [name, node] : table) {
    std::string key = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table()) {
      STOKA_TRY(flatten(*inner, key + ".", source, nested, out));
      continue;
    }
    TomlEntry entry{key, {}, node.is_array(), static_cast<int>(node.source().begin.line)};
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& item : *list) {
        if (!item.is_array() && !item.is_table()) {
          const bool fits = entry.values.empty() || entry.type == type_of(item);
          entry.type = fits ? type_of(item) : TomlType::other;
          entry.values.push_back(scalar_text(item));
        } else if (nested == TomlNested::refuse) {
          return fail(not_flat(source, key, node.source().begin.line));
        }
      }
    } else {
      entry.type = type_of(node);
      entry.values.push_back(scalar_text(node));
    }
    out.push_back(std::move(entry));
  }
  return {};
}

}  // namespace

Result<std::vector<TomlEntry>> parse_toml(std::string_view text, std::string_view source,
                                          TomlNested nested) {
  std::vector<TomlEntry> out;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  try {
    toml::table table = toml::parse(text, source);
    STOKA_TRY(flatten(table, "", source, nested, out));
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::data,
                fmt::format("{}:{}: {}", source, error.source().begin.line, error.description()),
                "mend the TOML at that line");
  } catch (const std::invalid_argument& error) {
    return fail(ErrorKind::data, fmt::format("{}: {}", source, error.what()), "mend the TOML");
  }
  // toml++ sorts tables by key; callers expect the order of the file.
  std::stable_sort(out.begin(), out.end(),
                   [](const TomlEntry& a, const TomlEntry& b) { return a.line < b.line; });
  return out;
}

}  // namespace stoka
