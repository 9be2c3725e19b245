#include "ingest/frontmatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

#include "ingest/walk.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

constexpr size_t kMaxBytes = 64 * 1024;
constexpr size_t kMaxTags = 32;
constexpr size_t kMaxTagBytes = 64;

std::string_view trim_right(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

// The line that begins at `at`, and in `at` the beginning of the next one.
std::string_view take_line(std::string_view text, size_t& at) {
  size_t end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(at, end - at);
  at = std::min(end + 1, text.size());
  return line;
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

bool looks_like_field(std::string_view line, char separator) {
  size_t n = 0;
  while (n < line.size() && is_key_character(line[n])) ++n;
  if (n == 0 || n > 40) return false;
  while (n < line.size() && line[n] == ' ' && separator == '=') ++n;
  if (n >= line.size() || line[n] != separator) return false;
  return separator != ':' || n + 1 == line.size() || line[n + 1] == ' ';
}

bool continues_fields(std::string_view line, char separator) {
  return looks_like_field(line, separator) || line.starts_with("- ") || line.starts_with("#") ||
         line.starts_with("  ") || line.starts_with("\t") || line.starts_with("[");
}

// A fence without an end: the fields are the lines up to the first that does not look like one.
FrontmatterSplit split_unclosed(std::string_view text, size_t begin, FrontmatterFormat format) {
  char separator = format == FrontmatterFormat::yaml ? ':' : '=';
  size_t end = begin;
  while (end < text.size() && end < kMaxBytes) {
    size_t next = end;
    if (!continues_fields(take_line(text, next), separator)) break;
    end = next;
  }
  return {format, text.substr(begin, end - begin), text.substr(end), false};
}

FrontmatterSplit split_fenced(std::string_view text, size_t begin, std::string_view fence) {
  auto format = fence == "---" ? FrontmatterFormat::yaml : FrontmatterFormat::toml;
  char separator = format == FrontmatterFormat::yaml ? ':' : '=';
  bool fields = false;
  size_t at = begin;
  while (at < text.size() && at - begin <= kMaxBytes) {
    size_t line_begin = at;
    std::string_view line = trim_right(take_line(text, at));
    fields = fields || looks_like_field(line, separator);
    bool end = line == fence || (line == "..." && format == FrontmatterFormat::yaml);
    if (!end) continue;
    std::string_view raw = text.substr(begin, line_begin - begin);
    bool blank = raw.find_first_not_of(" \t\n") == std::string_view::npos;
    // Between two rules stands prose.
    if (!fields && !blank && raw.find_first_not_of(" \t\n{#[\"") == raw.find_first_not_of(" \t\n"))
      return {FrontmatterFormat::none, {}, text, true};
    return {format, raw, text.substr(at), true};
  }
  size_t first = begin;
  if (!looks_like_field(trim_right(take_line(text, first)), separator))
    return {FrontmatterFormat::none, {}, text, true};
  return split_unclosed(text, begin, format);
}

// The object at the front of the text, or nothing if it does not end.
FrontmatterSplit split_json(std::string_view text, size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (size_t at = begin; at < text.size() && at - begin <= kMaxBytes; ++at) {
    char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return {FrontmatterFormat::json, text.substr(begin, at + 1 - begin), text.substr(at + 1),
              true};
    }
  }
  return {FrontmatterFormat::none, {}, text, true};
}

// Keys are compared without case, dashes and underscores: pubDate, pub_date and pubdate are one.
std::string plain_key(std::string_view key) {
  std::string out;
  for (char c : key)
    if (c != '-' && c != '_') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

class Keys {
 public:
  explicit Keys(const std::vector<Field>& fields) {
    for (const Field& field : fields) plain_.push_back({plain_key(field.key), &field});
  }

  const Field* find(std::string_view key) const {
    for (const auto& [name, field] : plain_)
      if (name == key && !field->values.empty()) return field;
    return nullptr;
  }

  // The first of these keys that holds something, as one line.
  std::string text(std::initializer_list<std::string_view> keys) const {
    for (std::string_view key : keys) {
      const Field* field = find(key);
      if (!field) continue;
      std::string value =
          text::squeeze(text::one_line(fmt::format("{}", fmt::join(field->values, ", "))));
      if (!value.empty()) return value;
    }
    return {};
  }

 private:
  std::vector<std::pair<std::string, const Field*>> plain_;
};

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool is_true(std::string_view text) {
  return contains(std::to_array<std::string_view>({"true", "yes", "on", "1"}), text::fold(text));
}
bool is_false(std::string_view text) {
  return contains(std::to_array<std::string_view>({"false", "no", "off", "0"}), text::fold(text));
}

// Where authors and themes put fields of their own: "extra.private", "params.robotsNoIndex".
constexpr auto kGroups =
    std::to_array<std::string_view>({"metadata.", "meta.", "extra.", "params.", "seo."});
// With any value that does not say no, these keep a page from readers.
constexpr auto kHiding = std::to_array<std::string_view>(
    {"secret", "issecret", "private", "isprivate", "noindex", "robotsnoindex", "robots.noindex",
     "unlisted", "password", "sitemap.disable", "sitemap.exclude", "sitemapexclude"});
// With "false" or "never", these do.
constexpr auto kShowing = std::to_array<std::string_view>(
    {"sitemap", "publish", "robots.index", "build.list", "build.render"});
constexpr auto kHiddenStates =
    std::to_array<std::string_view>({"private", "unlisted", "hidden", "secret"});

std::string visibility_name(std::string_view key) {
  std::string name = plain_key(key);
  for (std::string_view group : kGroups)
    if (name.starts_with(group)) return name.substr(group.size());
  return name;
}

// "noindex, nofollow", "none"; not the value of "max-image-preview: none".
bool forbids_index(std::string_view robots) {
  const std::string directives = text::fold(robots);
  bool is_value = false;
  for (size_t at = 0; at < directives.size();) {
    const size_t end = std::min(directives.find_first_of(" ,", at), directives.size());
    const std::string_view word = std::string_view(directives).substr(at, end - at);
    if (word == "noindex" || (word == "none" && !is_value)) return true;
    if (!word.empty()) is_value = word.ends_with(':');
    at = end + 1;
  }
  return false;
}

bool keeps_from_readers(std::string_view name, std::string_view value) {
  if (contains(kHiding, name)) return !says_no(value);
  if (contains(kShowing, name)) return is_false(value) || text::fold(value) == "never";
  if (name == "robots") return forbids_index(value);
  return (name == "visibility" || name == "status") && contains(kHiddenStates, text::fold(value));
}

// Why these fields keep a page from readers; empty if they do not. Values are not repeated: one
// may be a password.
std::string unpublished_reason(const std::vector<Field>& fields) {
  for (const Field& field : fields)
    for (const std::string& value : field.values)
      if (keeps_from_readers(visibility_name(field.key), value))
        return fmt::format("its field '{}' keeps it from readers", text::one_line(field.key));
  return {};
}

std::optional<Date> read_date(std::string_view text) {
  if (auto date = parse_date(text)) return date;
  size_t weekday = text.find(", ");  // "Sun, 12 Apr 2026"
  if (weekday != std::string_view::npos && weekday <= 9)
    return parse_date(text.substr(weekday + 2));
  size_t space = text.find(' ');  // "Sun Apr 12 2026"
  return space == 3 ? parse_date(text.substr(4)) : std::nullopt;
}

// The first number in "8 min read", "7.5" (eight are begun).
std::optional<int> read_minutes(std::string_view text) {
  size_t at = text.find_first_of("0123456789");
  if (at == std::string_view::npos) return std::nullopt;
  double minutes = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), minutes);
  int whole = static_cast<int>(std::min(minutes, 1e6));
  whole += minutes > whole;
  constexpr int kAbsurd = 600;
  if (whole < 1 || whole > kAbsurd) return std::nullopt;
  return whole;
}

void add_tags(const Field& field, std::vector<std::string>& tags) {
  auto add = [&](std::string_view text) {
    std::string tag = fold_tag(text);
    if (!tag.empty() && tag.size() <= kMaxTagBytes && tags.size() < kMaxTags &&
        std::find(tags.begin(), tags.end(), tag) == tags.end())
      tags.push_back(std::move(tag));
  };
  for (std::string_view value : field.values) {
    if (field.is_list) {
      add(value);
      continue;
    }
    // A plain string is a list with commas or, as Jekyll has it, with spaces.
    std::string_view separators = value.find(',') == std::string_view::npos ? " " : ",";
    while (!value.empty()) {
      size_t end = std::min(value.find_first_of(separators), value.size());
      add(value.substr(0, end));
      value.remove_prefix(std::min(end + 1, value.size()));
    }
  }
}

}  // namespace

FrontmatterSplit split_frontmatter(std::string_view text) {
  size_t begin = std::min(text.find_first_not_of(" \t\n"), text.size());
  size_t at = begin;
  std::string_view first = trim_right(take_line(text, at));
  if (first == "---" || first == "+++") return split_fenced(text, at, first);
  bool object = text.substr(begin).starts_with('{') && begin + 1 < text.size() &&
                std::string_view(" \t\n\"}").find(text[begin + 1]) != std::string_view::npos;
  return object ? split_json(text, begin)
                : FrontmatterSplit{FrontmatterFormat::none, {}, text, true};
}

bool is_visibility_field(std::string_view key) {
  std::string name = visibility_name(key);
  return contains(kHiding, name) || contains(kShowing, name) || name == "robots" ||
         name == "visibility" || name == "published";
}

bool says_no(std::string_view value) {
  std::string folded = text::fold(value);
  return is_false(folded) ||
         contains(std::to_array<std::string_view>({"", "n", "none", "null", "nil", "never", "~"}),
                  folded);
}

std::string fold_tag(std::string_view tag) {
  std::string folded = text::fold(tag);
  while (folded.starts_with('#')) folded.erase(0, 1);
  std::replace(folded.begin(), folded.end(), ' ', '-');
  return folded;
}

Frontmatter interpret_fields(const std::vector<Field>& fields) {
  Keys keys(fields);
  Frontmatter out;
  out.title = keys.text({"title", "name", "heading"});
  // An archetype or layout that was never filled in.
  if (out.title.find("{{") != std::string::npos) out.title.clear();
  out.slug = keys.text({"slug"});
  out.location = keys.text({"permalink", "url", "path"});
  out.description = keys.text({"description", "summary", "excerpt", "subtitle", "tldr"});
  out.author = keys.text(
      {"author", "authors", "author.name", "authors.name", "extra.author", "params.author"});
  out.type = keys.text({"type", "contenttype"});
  for (std::string_view key : {"tags", "tag", "taxonomies.tags", "categories", "category",
                               "taxonomies.categories", "keywords", "topics"})
    if (const Field* field = keys.find(key)) add_tags(*field, out.tags);

  std::string published = keys.text({"published"});
  bool draft = is_true(keys.text({"draft"})) || is_false(published) ||
               text::fold(keys.text({"status"})) == "draft";
  out.unpublished = draft ? std::string(kDraft) : unpublished_reason(fields);
  for (std::string_view key :
       {"pubdate", "date", "publishdate", "publishedat", "publisheddate", "datepublished",
        "published", "created", "createdat", "lastmod", "updated", "updateddate", "modified"}) {
    std::string text = keys.text({key});
    if (text.empty() || is_true(text) || is_false(text)) continue;
    out.date = read_date(text);
    if (out.date) break;
    out.warnings.push_back(
        fmt::format("cannot read the {} '{}'", key, text::one_line(text.substr(0, 40))));
  }
  out.reading_minutes =
      read_minutes(keys.text({"readingtime", "readingtime.minutes", "readtime", "readingminutes",
                              "estimatedreadingtime", "minutes"}));
  return out;
}

Frontmatter parse_frontmatter(const FrontmatterSplit& split) {
  if (split.format == FrontmatterFormat::none) return {};
  bool yaml = split.format == FrontmatterFormat::yaml;
  auto fields = yaml                                      ? yaml_fields(split.raw)
                : split.format == FrontmatterFormat::toml ? toml_fields(split.raw)
                                                          : json_fields(split.raw);
  std::vector<std::string> warnings;
  if (!split.closed) warnings.push_back("frontmatter has no end");
  if (!fields) {
    warnings.push_back(fmt::format("frontmatter read line by line: {}",
                                   text::squeeze(text::one_line(fields.error().message))));
    fields = salvage_fields(split.raw, split.format == FrontmatterFormat::toml ? '=' : ':');
  }
  Frontmatter out = interpret_fields(*fields);
  out.warnings.insert(out.warnings.begin(), warnings.begin(), warnings.end());
  return out;
}

}  // namespace stoka::ingest
