#include "golden/keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/nearest.h"

namespace stoka::golden {
namespace {

struct FileKeys {
  std::string_view file;
  std::vector<Key> keys;
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
      {"hints.toml", {{"pages.*", Shape::text}, {"product.lines"}, {"post.lines"}}},
      {"router.toml",
       {{"meta.*.reply", Shape::text},
        {"meta.*.patterns"},
        {"deal.*.reply", Shape::text},
        {"deal.*.patterns"},
        {"offtopic.reply", Shape::text},
        {"offtopic.signals"},
        {"offtopic.not_content"},
        {"followup.max_words", Shape::count},
        {"followup.openers"}}},
      {"guard.toml", {{"openers.*"}}},
      {"framing.toml", {{"task", Shape::text}, {"pieces"}, {"lines"}}},
      {"voice_lines.toml",
       {{"direct.*"}, {"framing.*"}, {"adjacent"}, {"followup"}, {"lateral"}, {"closers"}}},
  };
  return keys;
}

// A key name around its *; without one the whole name stands before it.
struct Parts {
  std::string_view before, after;
  bool any = false;  // there is a *
};

Parts parts(std::string_view name) {
  const size_t star = name.find('*');
  if (star == std::string_view::npos) return {name, {}, false};
  return {name.substr(0, star), name.substr(star + 1), true};
}

bool matches(const Key& known, std::string_view key) {
  const Parts p = parts(known.name);
  if (!p.any) return key == known.name;
  return key.size() > p.before.size() + p.after.size() && key.starts_with(p.before) &&
         key.ends_with(p.after);
}

// The known key as somebody who wrote `key` may have meant it: the * replaced by what stands in
// its place there. Empty when nothing does.
std::string meant(const Key& known, std::string_view key) {
  const Parts p = parts(known.name);
  if (!p.any) return known.name;
  const size_t first = key.find('.');
  const size_t last = p.after.empty() ? key.size() : key.rfind('.');
  if (first == std::string_view::npos || last == std::string_view::npos || first + 1 >= last)
    return "";
  return fmt::format("{}{}{}", p.before, key.substr(first + 1, last - first - 1), p.after);
}

std::string_view wanted(Shape shape) {
  switch (shape) {
    case Shape::text:
      return "a string";
    case Shape::list:
      return "a list of strings";
    case Shape::count:
      break;
  }
  return "a whole number from 0";
}

bool has_shape(const TomlEntry& entry, Shape shape) {
  if (shape == Shape::list) return entry.is_list && entry.type == TomlType::text;
  if (shape == Shape::text) return !entry.is_list && entry.type == TomlType::text;
  if (entry.is_list || entry.type != TomlType::integer) return false;
  const std::string& text = entry.values[0];
  int number = 0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc() &&
         number >= 0;
}

Error wrong(std::string_view file, const TomlEntry& entry, std::string_view what,
            std::string hint) {
  return {ErrorKind::config, fmt::format("golden file {}:{}: {}", file, entry.line, what),
          std::move(hint)};
}

}  // namespace

std::vector<Key> known_keys(std::string_view file) {
  for (const FileKeys& known : all_keys())
    if (known.file == file) return known.keys;
  return {};
}

Result<> check_keys(std::string_view file, std::span<const TomlEntry> entries,
                    std::span<const Key> known) {
  for (const TomlEntry& entry : entries) {
    const auto key = std::find_if(known.begin(), known.end(),
                                  [&](const Key& k) { return matches(k, entry.key); });
    if (key == known.end()) {
      std::vector<std::string> names, likely;
      for (const Key& k : known) {
        if (std::find(names.begin(), names.end(), k.name) == names.end()) names.push_back(k.name);
        if (std::string name = meant(k, entry.key); !name.empty()) likely.push_back(name);
      }
      return fail(
          wrong(file, entry,
                fmt::format("unknown key '{}'{}", entry.key, did_you_mean(entry.key, likely)),
                fmt::format("{} has {}", file, fmt::join(names, ", "))));
    }
    if (!has_shape(entry, key->shape))
      return fail(wrong(file, entry, fmt::format("'{}' must be {}", entry.key, wanted(key->shape)),
                        "compare it with the one that ships in golden/"));
  }
  return {};
}

}  // namespace stoka::golden
