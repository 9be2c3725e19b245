#include "store/json_columns.h"

#include <nlohmann/json.hpp>

#include "text/utf8.h"

namespace stoka::store {
namespace {

using Json = nlohmann::ordered_json;

Json parse(std::string_view json) { return Json::parse(json, nullptr, false); }

// The named member of an object; null if there is none.
const Json& member_of(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

// Returns the value of a member. If it is missing or has another type: empty, or `otherwise`.
std::string text_of(const Json& object, const char* key) {
  const Json& member = member_of(object, key);
  return member.is_string() ? member.get<std::string>() : std::string();
}
int64_t integer_of(const Json& object, const char* key, int64_t otherwise = 0) {
  const Json& member = member_of(object, key);
  return member.is_number_integer() ? member.get<int64_t>() : otherwise;
}

template <class Read>
void each_object(const Json& list, const Read& read) {
  if (!list.is_array()) return;
  for (const Json& item : list)
    if (item.is_object()) read(item);
}

Json as_list(std::span<const std::string> texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(sanitize_text(text));
  return list;
}

std::vector<std::string> as_texts(const Json& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const Json& item : list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

Json as_list(std::span<const CitationRecord> citations) {
  Json list = Json::array();
  for (const CitationRecord& cited : citations) {
    list.push_back({{"slug", sanitize_text(cited.slug)},
                    {"title", sanitize_text(cited.title)},
                    {"quote", sanitize_text(cited.quote)},
                    {"url", sanitize_text(cited.url)}});
  }
  return list;
}

// Citations in older rows are only slugs, as strings.
std::vector<CitationRecord> as_citations(const Json& list) {
  std::vector<CitationRecord> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) {
    if (item.is_string()) out.push_back({item.get<std::string>()});
    if (item.is_object() && item.contains("slug"))
      out.push_back({text_of(item, "slug"), text_of(item, "title"), text_of(item, "quote"),
                     text_of(item, "url")});
  }
  return out;
}

}  // namespace

bool is_valid_text(std::string_view text) {
  return text.find('\0') == std::string_view::npos && text::is_valid_utf8(text);
}

std::string sanitize_text(std::string_view text) {
  if (is_valid_text(text)) return std::string(text);
  constexpr char32_t kReplacement = 0xFFFD;
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const char32_t code_point = text::next_code_point(text, at);
    text::append_utf8(out, code_point == 0 ? kReplacement : code_point);
  }
  return out;
}

std::string strings_to_json(std::span<const std::string> texts) { return as_list(texts).dump(); }

std::vector<std::string> strings_from_json(std::string_view json) { return as_texts(parse(json)); }

std::string exchanges_to_json(std::span<const Exchange> exchanges) {
  Json list = Json::array();
  for (const Exchange& exchange : exchanges) {
    list.push_back({{"user", sanitize_text(exchange.user)},
                    {"assistant", sanitize_text(exchange.assistant)},
                    {"cited", as_list(exchange.citations)}});
  }
  return list.dump();
}

std::vector<Exchange> exchanges_from_json(std::string_view json) {
  std::vector<Exchange> exchanges;
  each_object(parse(json), [&](const Json& item) {
    exchanges.push_back({text_of(item, "user"), text_of(item, "assistant"),
                         as_citations(member_of(item, "cited"))});
  });
  return exchanges;
}

std::string history_to_json(std::span<const HistoryEntry> history) {
  Json list = Json::array();
  for (const HistoryEntry& reading : history) {
    list.push_back({{"slug", sanitize_text(reading.slug)},
                    {"timestamp", reading.at.time_since_epoch().count()},
                    {"scroll_pct", reading.scroll_pct}});
  }
  return list.dump();
}

std::vector<HistoryEntry> history_from_json(std::string_view json) {
  std::vector<HistoryEntry> history;
  each_object(parse(json), [&](const Json& item) {
    HistoryEntry reading{text_of(item, "slug"), instant(integer_of(item, "timestamp"))};
    reading.scroll_pct = static_cast<int>(integer_of(item, "scroll_pct", reading.scroll_pct));
    if (!reading.slug.empty()) history.push_back(std::move(reading));
  });
  return history;
}

std::string metadata_to_json(const Document& document, const Chunk& chunk) {
  Json json = {{"tags", as_list(chunk.tags)},
               {"readingTime", chunk.reading_minutes},
               {"author", sanitize_text(document.author)},
               {"url", sanitize_text(chunk.url)}};
  if (chunk.date) json["pubDate"] = iso_date(*chunk.date);
  return json.dump();
}

bool read_metadata(std::string_view text, Chunk& chunk) {
  const Json json = parse(text);
  if (!json.is_object()) return false;
  chunk.tags = as_texts(member_of(json, "tags"));
  chunk.url = text_of(json, "url");
  chunk.date = parse_date(text_of(json, "pubDate"));
  chunk.reading_minutes = static_cast<int>(integer_of(json, "readingTime", chunk.reading_minutes));
  return true;
}

std::string identity_to_json(const IndexIdentity& identity) {
  const Json json = {{"embedder", sanitize_text(identity.embedder)},
                     {"dim", identity.dim},
                     {"chunker", sanitize_text(identity.chunker)},
                     {"query_prefix", sanitize_text(identity.query_prefix)},
                     {"document_template", sanitize_text(identity.document_template)}};
  return json.dump();
}

std::optional<IndexIdentity> identity_from_json(std::string_view text) {
  const Json json = parse(text);
  if (!json.is_object()) return std::nullopt;
  IndexIdentity identity{text_of(json, "embedder"), static_cast<int>(integer_of(json, "dim")),
                         text_of(json, "chunker"), text_of(json, "query_prefix")};
  // Older indexes have no template: they were made with the default one.
  if (std::string pattern = text_of(json, "document_template"); !pattern.empty())
    identity.document_template = std::move(pattern);
  return identity;
}

}  // namespace stoka::store
