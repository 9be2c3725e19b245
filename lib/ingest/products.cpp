#include "ingest/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/json.h"
#include "ingest/frontmatter.h"
#include "ingest/plain_text.h"
#include "ingest/slug.h"
#include "text/normalize.h"

namespace stoka::ingest {
namespace {

using Json = nlohmann::json;

constexpr int kMaxNesting = 16;

// Whether brackets outside of strings nest at most kMaxNesting deep.
bool is_shallow(std::string_view json) {
  int depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < json.size(); ++at) {
    char c = json[at];
    if (quoted) {
      if (c == '\\') ++at;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxNesting) return false;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return true;
}

// A key in words: "supportedPlatforms" and "supported_platforms" become "supported platforms".
std::string readable_key(std::string_view key) {
  std::string out;
  for (char c : key) {
    if (is_ascii_upper(c) && !out.empty() && is_ascii_lower(out.back())) {
      out += ' ';
      out += to_lower(c);
    } else {
      out += c == '_' || c == '-' || c == '.' ? ' ' : c;
    }
  }
  return text::collapse_whitespace(out);
}

std::string joined(const std::vector<std::string>& values) {
  return text::collapse_whitespace(fmt::format("{}", fmt::join(values, ", ")));
}

// Keys that have a meaning of their own; the others become paragraphs.
const std::set<std::string_view> kDocumentKeys = {
    "slug", "id",   "name",  "title", "tagline", "description", "url",
    "tags", "date", "image", "icon",  "logo",    "draft",       "type"};

PlainText product_text(const std::vector<Field>& fields) {
  PlainText out;
  for (std::string_view key : {"tagline", "description"}) {
    PlainText part = parse_plain_text(fmt::format("{}", fmt::join(values_of(fields, key), ", ")));
    std::move(part.blocks.begin(), part.blocks.end(), std::back_inserter(out.blocks));
    out.secret_code += part.secret_code;
  }
  for (const Field& field : fields) {
    if (kDocumentKeys.contains(field.key) || is_visibility_field(field.key)) continue;
    std::string value = joined(field.values);
    if (value.empty()) continue;
    bool is_sentence = value.find_last_of(".!?") == value.size() - 1;
    out.blocks.push_back(
        {BlockKind::paragraph, 0,
         fmt::format("{}: {}{}", readable_key(field.key), value, is_sentence ? "" : ".")});
  }
  return out;
}

std::string field_text(const std::vector<Field>& fields, std::string_view key) {
  return joined(values_of(fields, key));
}

class ProductReader {
 public:
  explicit ProductReader(const SourceBytes& source)
      : path_(display_path(source.file.path)), chunk_options_(source.chunk_options) {}

  LoadedFile run(std::string_view text) {
    if (!is_shallow(text)) {
      skip("", fmt::format("JSON is nested more than {} levels", kMaxNesting));
      return std::move(out_);
    }
    Json root = Json::parse(text, nullptr, false);
    const Json* list = &root;
    if (root.is_object() && root.contains("products")) list = &root["products"];
    if (root.is_discarded()) {
      skip("", "not well-formed JSON");
    } else if (!list->is_array()) {
      skip("", "neither a list of products nor an object with \"products\"");
    } else {
      for (size_t i = 0; i < list->size(); ++i)
        read_entry(fmt::format("product {}", i + 1), (*list)[i]);
    }
    return std::move(out_);
  }

 private:
  void skip(std::string_view entry, std::string reason, SkipKind kind = SkipKind::unreadable) {
    bool part = !entry.empty();
    out_.skipped.push_back(
        {path_, part ? fmt::format("{}: {}", entry, reason) : reason, kind, part});
  }

  void skip_unparsed(std::string_view entry, std::string reason) {
    out_.is_incomplete = true;
    skip(entry, std::move(reason));
  }

  void read_entry(const std::string& which, const Json& json) {
    if (!json.is_object()) return skip_unparsed(which, "not an object");
    std::string bytes = to_json_text(json);
    auto fields = parse_json_fields(bytes);
    if (!fields) return skip_unparsed(which, fields.error().message);
    Frontmatter meta = interpret_fields(*fields);
    // The name takes precedence over a title, which is meant for headings.
    std::string name = text::collapse_whitespace(text::one_line(field_text(*fields, "name")));
    std::string slug = slugify(field_text(*fields, "slug"), "._~");
    bool explicit_slug = !slug.empty();
    if (!explicit_slug) slug = slugify(field_text(*fields, "id"), "._~");
    if (name.empty()) name = meta.title;
    if (slug.empty()) slug = slugify(name);
    Page page;
    Document& document = page.document;
    document.slug = slug;
    document.title = name.empty() ? slug : name;
    document.type = "product";
    document.path = path_;
    document.url = field_text(*fields, "url");
    page.has_explicit_url = !document.url.empty();
    if (document.url.empty()) document.url = "/products/" + slug;
    if (!meta.unpublished.empty()) {
      out_.unpublished.push_back(std::move(document));
      return skip(which, meta.unpublished, SkipKind::unpublished);
    }
    if (slug.empty()) return skip(which, "has neither slug, id nor name");
    for (std::string& warning : meta.warnings)
      out_.warnings.push_back(fmt::format("{}: {}: {}", path_, which, warning));

    page.has_explicit_slug = explicit_slug;
    page.is_product_entry = true;
    page.folders = {"product"};
    PlainText text = product_text(*fields);
    page.blocks = std::move(text.blocks);
    if (text.secret_code > 0)
      out_.left_out.push_back(
          {path_, fmt::format("{}: {}", which, secret_code_reason(text.secret_code))});
    set_metadata(document, meta);
    if (document.description.empty()) document.description = field_text(*fields, "tagline");
    document.reading_minutes = reading_minutes(page.blocks);
    document.content_hash = content_hash(fmt::format("{}\n{}", bytes, chunk_options_));
    out_.pages.push_back(std::move(page));
  }

  std::string path_, chunk_options_;
  LoadedFile out_;
};

}  // namespace

LoadedFile read_products(const SourceBytes& source, RepairReport& repairs) {
  LoadedFile skipped;
  // A JSON string may not contain line breaks, so a control character becomes a space.
  const std::optional<std::string> json = read_text(source, " ", repairs, skipped);
  return json ? ProductReader(source).run(*json) : skipped;
}

}  // namespace stoka::ingest
