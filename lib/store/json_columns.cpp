#include "store/json_columns.h"

#include <nlohmann/json.hpp>

#include "text/utf8.h"

namespace stoka::store {
namespace {

using Json = nlohmann::ordered_json;

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

// Older rows have slugs only, as strings.
std::vector<CitationRecord> as_citations(const Json& list) {
  std::vector<CitationRecord> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) {
    const auto text = [&item](const char* key) {
      const auto found = item.find(key);
      return found != item.end() && found->is_string() ? found->get<std::string>() : "";
    };
    if (item.is_string()) out.push_back({item.get<std::string>()});
    if (item.is_object() && item.contains("slug"))
      out.push_back({text("slug"), text("title"), text("quote"), text("url")});
  }
  return out;
}

Json parse(std::string_view json) { return Json::parse(json, nullptr, false); }

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
  const Json list = parse(json);
  if (!list.is_array()) return exchanges;
  for (const Json& item : list) {
    if (!item.is_object()) continue;
    Exchange& exchange = exchanges.emplace_back();
    for (const auto& [key, value] : item.items()) {
      if (key == "user" && value.is_string()) exchange.user = value.get<std::string>();
      if (key == "assistant" && value.is_string()) exchange.assistant = value.get<std::string>();
      if (key == "cited") exchange.citations = as_citations(value);
    }
  }
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
  const Json list = parse(json);
  if (!list.is_array()) return history;
  for (const Json& item : list) {
    if (!item.is_object()) continue;
    HistoryEntry reading;
    for (const auto& [key, value] : item.items()) {
      if (key == "slug" && value.is_string()) reading.slug = value.get<std::string>();
      if (key == "timestamp" && value.is_number_integer())
        reading.at = Instant(std::chrono::milliseconds(value.get<int64_t>()));
      if (key == "scroll_pct" && value.is_number_integer()) reading.scroll_pct = value.get<int>();
    }
    if (!reading.slug.empty()) history.push_back(std::move(reading));
  }
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
  for (const auto& [key, value] : json.items()) {
    if (key == "tags") chunk.tags = as_texts(value);
    if (key == "url" && value.is_string()) chunk.url = value.get<std::string>();
    if (key == "pubDate" && value.is_string()) chunk.date = parse_date(value.get<std::string>());
    if (key == "readingTime" && value.is_number_integer()) chunk.reading_minutes = value.get<int>();
  }
  return true;
}

}  // namespace stoka::store
