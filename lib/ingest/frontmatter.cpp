#include "ingest/frontmatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

#include "base/ascii.h"
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

// Returns the line that begins at `at` and moves `at` to the beginning of the next line.
std::string_view next_line(std::string_view text, size_t& at) {
  size_t end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(at, end - at);
  at = std::min(end + 1, text.size());
  return line;
}

bool looks_like_field(std::string_view line, char separator) {
  const size_t end = line.find(separator);
  if (end == std::string_view::npos) return false;
  std::string_view key = line.substr(0, end);
  while (separator == '=' && key.ends_with(' ')) key.remove_suffix(1);
  if (!is_simple_key(key)) return false;
  return separator != ':' || end + 1 == line.size() || line[end + 1] == ' ';
}

bool continues_fields(std::string_view line, char separator) {
  return looks_like_field(line, separator) || line.starts_with("- ") || line.starts_with("#") ||
         line.starts_with("  ") || line.starts_with("\t") || line.starts_with("[");
}

// For frontmatter without a closing delimiter: takes the lines up to the first one that cannot be a
// part of the fields.
FrontmatterSplit split_unclosed(std::string_view text, size_t begin, FrontmatterFormat format) {
  char separator = format == FrontmatterFormat::yaml ? ':' : '=';
  size_t end = begin;
  while (end < text.size() && end < kMaxBytes) {
    size_t next = end;
    if (!continues_fields(next_line(text, next), separator)) break;
    end = next;
  }
  return {format, text.substr(begin, end - begin), text.substr(end), false};
}

FrontmatterSplit split_delimited(std::string_view text, size_t begin, std::string_view delimiter) {
  auto format = delimiter == "---" ? FrontmatterFormat::yaml : FrontmatterFormat::toml;
  char separator = format == FrontmatterFormat::yaml ? ':' : '=';
  bool fields = false;
  size_t at = begin;
  while (at < text.size() && at - begin <= kMaxBytes) {
    size_t line_begin = at;
    std::string_view line = trim_right(next_line(text, at));
    fields = fields || looks_like_field(line, separator);
    bool end = line == delimiter || (line == "..." && format == FrontmatterFormat::yaml);
    if (!end) continue;
    std::string_view raw = text.substr(begin, line_begin - begin);
    bool blank = raw.find_first_not_of(" \t\n") == std::string_view::npos;
    // Text without a field between two "---" is prose between two thematic breaks.
    if (!fields && !blank && raw.find_first_not_of(" \t\n{#[\"") == raw.find_first_not_of(" \t\n"))
      return {FrontmatterFormat::none, {}, text, true};
    return {format, raw, text.substr(at), true};
  }
  size_t first = begin;
  if (!looks_like_field(trim_right(next_line(text, first)), separator))
    return {FrontmatterFormat::none, {}, text, true};
  return split_unclosed(text, begin, format);
}

// Finds the JSON object at the front of the text. An object that does not end is not frontmatter.
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

// Keys are compared without case, dashes and underscores, so that pubDate, pub_date and pubdate are
// the same.
std::string normalize_key(std::string_view key) {
  std::string out;
  for (char c : key)
    if (c != '-' && c != '_') out += to_lower(c);
  return out;
}

class FieldIndex {
 public:
  explicit FieldIndex(const std::vector<Field>& fields) {
    for (const Field& field : fields) plain_.push_back({normalize_key(field.key), &field});
  }

  const Field* find(std::string_view key) const {
    for (const auto& [name, field] : plain_)
      if (name == key && !field->values.empty()) return field;
    return nullptr;
  }

  // The value of the first of these keys that has a value, as a single line.
  std::string text(std::initializer_list<std::string_view> keys) const {
    for (std::string_view key : keys) {
      const Field* field = find(key);
      if (!field) continue;
      std::string value = text::collapse_whitespace(
          text::one_line(fmt::format("{}", fmt::join(field->values, ", "))));
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

// Tables in which authors and themes put their own fields: "extra.private", "params.robotsNoIndex".
constexpr auto kVisibilityTables =
    std::to_array<std::string_view>({"metadata.", "meta.", "extra.", "params.", "seo."});
// A page with one of these fields is hidden from readers unless the value is_negative().
constexpr auto kHidingKeys = std::to_array<std::string_view>(
    {"secret", "issecret", "private", "isprivate", "noindex", "robotsnoindex", "robots.noindex",
     "unlisted", "password", "sitemap.disable", "sitemap.exclude", "sitemapexclude"});
// A page with one of these fields is hidden if the value is "false" or "never".
constexpr auto kPublishingKeys = std::to_array<std::string_view>(
    {"sitemap", "publish", "robots.index", "build.list", "build.render"});
constexpr auto kHiddenStates =
    std::to_array<std::string_view>({"private", "unlisted", "hidden", "secret"});

std::string visibility_key(std::string_view key) {
  std::string name = normalize_key(key);
  for (std::string_view group : kVisibilityTables)
    if (name.starts_with(group)) return name.substr(group.size());
  return name;
}

// Whether a robots directive such as "noindex, nofollow" or "none" forbids indexing. The "none" in
// "max-image-preview: none" is the value of another directive.
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

bool hides_page(std::string_view name, std::string_view value) {
  if (contains(kHidingKeys, name)) return !is_negative(value);
  if (contains(kPublishingKeys, name)) return is_false(value) || text::fold(value) == "never";
  if (name == "robots") return forbids_index(value);
  return (name == "visibility" || name == "status") && contains(kHiddenStates, text::fold(value));
}

// Why these fields hide a page from readers; empty if they do not. The message does not repeat the
// value, because it may be a password.
std::string unpublished_reason(const std::vector<Field>& fields) {
  for (const Field& field : fields)
    for (const std::string& value : field.values)
      if (hides_page(visibility_key(field.key), value))
        return fmt::format("its field '{}' keeps it from readers", text::one_line(field.key));
  return {};
}

std::optional<Date> parse_date_field(std::string_view text) {
  if (auto date = parse_date(text)) return date;
  size_t weekday = text.find(", ");  // as in "Sun, 12 Apr 2026"
  if (weekday != std::string_view::npos && weekday <= 9)
    return parse_date(text.substr(weekday + 2));
  size_t space = text.find(' ');  // as in "Sun Apr 12 2026"
  return space == 3 ? parse_date(text.substr(4)) : std::nullopt;
}

// The first number in a text such as "8 min read", rounded up: "7.5" becomes 8.
std::optional<int> parse_minutes(std::string_view text) {
  size_t at = text.find_first_of("0123456789");
  if (at == std::string_view::npos) return std::nullopt;
  double minutes = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), minutes);
  int whole = static_cast<int>(std::min(minutes, 1e6));
  whole += minutes > whole;
  constexpr int kMaxMinutes = 600;
  if (whole < 1 || whole > kMaxMinutes) return std::nullopt;
  return whole;
}

// A tag in lower case, trimmed, with "-" for spaces and without a leading "#". May be empty.
std::string normalize_tag(std::string_view tag) {
  std::string folded = text::fold(tag);
  while (folded.starts_with('#')) folded.erase(0, 1);
  std::replace(folded.begin(), folded.end(), ' ', '-');
  return folded;
}

void add_tags(const Field& field, std::vector<std::string>& tags) {
  auto add = [&](std::string_view text) {
    std::string tag = normalize_tag(text);
    if (!tag.empty() && tag.size() <= kMaxTagBytes && tags.size() < kMaxTags &&
        std::find(tags.begin(), tags.end(), tag) == tags.end())
      tags.push_back(std::move(tag));
  };
  for (std::string_view value : field.values) {
    if (field.is_list) {
      add(value);
      continue;
    }
    // A plain string is read as a list, separated by commas or, in Jekyll, by spaces.
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
  std::string_view first = trim_right(next_line(text, at));
  if (first == "---" || first == "+++") return split_delimited(text, at, first);
  bool object = text.substr(begin).starts_with('{') && begin + 1 < text.size() &&
                std::string_view(" \t\n\"}").find(text[begin + 1]) != std::string_view::npos;
  return object ? split_json(text, begin)
                : FrontmatterSplit{FrontmatterFormat::none, {}, text, true};
}

bool is_visibility_field(std::string_view key) {
  std::string name = visibility_key(key);
  return contains(kHidingKeys, name) || contains(kPublishingKeys, name) || name == "robots" ||
         name == "visibility" || name == "published";
}

bool is_negative(std::string_view value) {
  std::string folded = text::fold(value);
  return is_false(folded) ||
         contains(std::to_array<std::string_view>({"", "n", "none", "null", "nil", "never", "~"}),
                  folded);
}

Frontmatter interpret_fields(const std::vector<Field>& fields) {
  FieldIndex keys(fields);
  Frontmatter out;
  out.title = keys.text({"title", "name", "heading"});
  // A title with "{{" is a placeholder of a template that was never filled in.
  if (out.title.find("{{") != std::string::npos) out.title.clear();
  out.slug = keys.text({"slug"});
  out.permalink = keys.text({"permalink", "url", "path"});
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
  out.unpublished = draft ? std::string(kDraftReason) : unpublished_reason(fields);
  for (std::string_view key :
       {"pubdate", "date", "publishdate", "publishedat", "publisheddate", "datepublished",
        "published", "created", "createdat", "lastmod", "updated", "updateddate", "modified"}) {
    std::string text = keys.text({key});
    if (text.empty() || is_true(text) || is_false(text)) continue;
    out.date = parse_date_field(text);
    if (out.date) break;
    out.warnings.push_back(
        fmt::format("cannot read the {} '{}'", key, text::one_line(text.substr(0, 40))));
  }
  out.reading_minutes =
      parse_minutes(keys.text({"readingtime", "readingtime.minutes", "readtime", "readingminutes",
                               "estimatedreadingtime", "minutes"}));
  return out;
}

void set_metadata(Document& document, const Frontmatter& meta) {
  document.description = meta.description;
  document.author = meta.author;
  document.tags = meta.tags;
  document.date = meta.date;
}

Frontmatter parse_frontmatter(const FrontmatterSplit& split) {
  if (split.format == FrontmatterFormat::none) return {};
  bool yaml = split.format == FrontmatterFormat::yaml;
  auto fields = yaml                                      ? parse_yaml_fields(split.raw)
                : split.format == FrontmatterFormat::toml ? parse_toml_fields(split.raw)
                                                          : parse_json_fields(split.raw);
  std::vector<std::string> warnings;
  if (!split.closed) warnings.push_back("frontmatter has no closing delimiter");
  if (!fields) {
    warnings.push_back(
        fmt::format("frontmatter read line by line: {}",
                    text::collapse_whitespace(text::one_line(fields.error().message))));
    fields = salvage_fields(split.raw, split.format == FrontmatterFormat::toml ? '=' : ':');
  }
  Frontmatter out = interpret_fields(*fields);
  out.warnings.insert(out.warnings.begin(), warnings.begin(), warnings.end());
  return out;
}

}  // namespace stoka::ingest
