#include "golden/schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/suggestion.h"

namespace stoka::golden {
namespace {

struct FileKeys {
  std::string_view file;
  std::vector<KeyRule> keys;
};

const std::vector<FileKeys>& all_keys() {
  static const std::vector<FileKeys> keys = {
      {"replies.toml",
       {{"what"},
        {"identity"},
        {"greeting"},
        {"praise"},
        {"broad"},
        {"offtopic"},
        {"deal"},
        {"nothing"},
        {"closest"}}},
      {"hints.toml", {{"pages.*", KeyType::text}, {"product.lines"}, {"post.lines"}}},
      {"router.toml",
       {{"meta.*.reply", KeyType::text},
        {"meta.*.patterns"},
        {"deal.*.reply", KeyType::text},
        {"deal.*.patterns"},
        {"offtopic.reply", KeyType::text},
        {"offtopic.signals"},
        {"offtopic.not_content"},
        {"followup.max_words", KeyType::count},
        {"followup.openers"}}},
      {"guard.toml", {{"openers.*"}}},
      {"framing.toml", {{"task", KeyType::text}, {"pieces"}, {"lines"}}},
      {"voice_lines.toml",
       {{"direct.*"}, {"framing.*"}, {"adjacent"}, {"followup"}, {"lateral"}, {"closers"}}},
  };
  return keys;
}

// A key name split at its *. Without a * the whole name is in `before`.
struct SplitName {
  std::string_view before, after;
  bool has_star = false;
};

SplitName split_name(std::string_view name) {
  const size_t star = name.find('*');
  if (star == std::string_view::npos) return {name, {}, false};
  return {name.substr(0, star), name.substr(star + 1), true};
}

bool matches(const KeyRule& known, std::string_view key) {
  const SplitName p = split_name(known.name);
  if (!p.has_star) return key == known.name;
  return key.size() > p.before.size() + p.after.size() && key.starts_with(p.before) &&
         key.ends_with(p.after);
}

// The known key that the author of `key` may have meant: its * is replaced by the part of `key` at
// the same position. Empty if `key` has no such part.
std::string intended_key(const KeyRule& known, std::string_view key) {
  const SplitName p = split_name(known.name);
  if (!p.has_star) return known.name;
  const size_t first = key.find('.');
  const size_t last = p.after.empty() ? key.size() : key.rfind('.');
  if (first == std::string_view::npos || last == std::string_view::npos || first + 1 >= last)
    return "";
  return fmt::format("{}{}{}", p.before, key.substr(first + 1, last - first - 1), p.after);
}

std::string_view describe(KeyType type) {
  switch (type) {
    case KeyType::text:
      return "a string";
    case KeyType::list:
      return "a list of strings";
    case KeyType::count:
      break;
  }
  return "a whole number from 0";
}

bool has_type(const TomlEntry& entry, KeyType type) {
  if (type == KeyType::list) return entry.is_list && entry.type == TomlType::text;
  if (type == KeyType::text) return !entry.is_list && entry.type == TomlType::text;
  if (entry.is_list || entry.type != TomlType::integer) return false;
  return parse_number<int>(entry.values[0]).value_or(-1) >= 0;
}

Error wrong(std::string_view file, const TomlEntry& entry, std::string_view what,
            std::string hint) {
  return {ErrorKind::config, fmt::format("golden file {}:{}: {}", file, entry.line, what),
          std::move(hint)};
}

}  // namespace

std::vector<KeyRule> known_keys(std::string_view file) {
  for (const FileKeys& known : all_keys())
    if (known.file == file) return known.keys;
  return {};
}

Result<> check_keys(std::string_view file, std::span<const TomlEntry> entries,
                    std::span<const KeyRule> known) {
  for (const TomlEntry& entry : entries) {
    const auto key = std::find_if(known.begin(), known.end(),
                                  [&](const KeyRule& k) { return matches(k, entry.key); });
    if (key == known.end()) {
      std::vector<std::string> names, likely;
      for (const KeyRule& k : known) {
        if (std::find(names.begin(), names.end(), k.name) == names.end()) names.push_back(k.name);
        if (std::string name = intended_key(k, entry.key); !name.empty()) likely.push_back(name);
      }
      return fail(
          wrong(file, entry,
                fmt::format("unknown key '{}'{}", entry.key, did_you_mean(entry.key, likely)),
                fmt::format("{} has {}", file, fmt::join(names, ", "))));
    }
    if (!has_type(entry, key->type))
      return fail(wrong(file, entry, fmt::format("'{}' must be {}", entry.key, describe(key->type)),
                        "compare it with the one that ships in golden/"));
  }
  return {};
}

}  // namespace stoka::golden
