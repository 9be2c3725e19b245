// A page with frontmatter in YAML, TOML or JSON: the split, and the meaning of the fields.
#include <string>

#include "fuzz/targets.h"
#include "ingest/frontmatter.h"
#include "text/normalize.h"
#include "text/utf8.h"

namespace stoka::fuzz {
namespace {

using namespace stoka::ingest;

bool is_within(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_split(const FrontmatterSplit& split, std::string_view page) {
  check(is_within(split.raw, page) && is_within(split.body, page), "both parts are of the page");
  check(page.ends_with(split.body), "the body is the end of the page");
  if (split.format == FrontmatterFormat::none)
    check(split.raw.empty() && split.body == page, "without frontmatter the page is the body");
  check(split.raw.size() + split.body.size() <= page.size(), "the parts do not overlap");
  check(split.raw.size() <= 68 * 1024, "frontmatter has a limit");
}

bool is_line(const std::string& text) {
  return text::is_valid_utf8(text) && text == text::one_line(text);
}

void check_meaning(const Frontmatter& meta) {
  for (const std::string& text :
       {meta.title, meta.slug, meta.permalink, meta.description, meta.author, meta.type}) {
    check(is_line(text), "a field is one line of UTF-8");
    check(text == text::collapse_whitespace(text), "white space in a field is collapsed");
  }
  check(is_line(meta.unpublished), "the reason why a page is hidden is one line of UTF-8");
  for (const std::string& warning : meta.warnings)
    check(is_line(warning), "a warning is one line of UTF-8");
  check(meta.tags.size() <= 32, "a page has at most 32 tags");
  for (const std::string& tag : meta.tags) {
    check(is_line(tag), "a tag is one line of UTF-8");
    check(!tag.empty() && !tag.starts_with('#') && tag.find(' ') == tag.npos,
          "a tag has neither '#' nor spaces");
    check(tag == text::fold(tag), "a tag is folded");
  }
  check(!meta.reading_minutes || (*meta.reading_minutes >= 1 && *meta.reading_minutes <= 600),
        "the reading time is 1 to 600 minutes");
  check(!meta.date || parse_date(iso_date(*meta.date)) == meta.date,
        "a date can be written and read");
}

}  // namespace

void fuzz_frontmatter(std::string_view input) {
  const std::string page = text::repair_utf8(input);
  const FrontmatterSplit split = split_frontmatter(page);
  check_split(split, page);
  check_meaning(parse_frontmatter(split));
  // Every parser must cope with every text, whatever delimiters it was found between.
  for (const auto format :
       {FrontmatterFormat::yaml, FrontmatterFormat::toml, FrontmatterFormat::json})
    if (format != split.format) check_meaning(parse_frontmatter({format, page, {}, true}));
}

}  // namespace stoka::fuzz
