// Texts, lists and records as stores keep them in one column. Lists are JSON; reading it is
// lenient: what does not fit is left out.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/document.h"
#include "model/session.h"

namespace stoka::store {

// Times are kept in milliseconds since 1970.
inline Instant instant(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

// Text as every store keeps it: malformed UTF-8 and NUL become U+FFFD, all else stays.
bool is_storable(std::string_view text);
std::string storable(std::string_view text);

std::string texts_json(std::span<const std::string> texts);
std::vector<std::string> texts_from_json(std::string_view json);

std::string exchanges_json(std::span<const Exchange> exchanges);
std::vector<Exchange> exchanges_from_json(std::string_view json);

std::string history_json(std::span<const Reading> history);
std::vector<Reading> history_from_json(std::string_view json);

// What a chunk row says besides its columns: tags, pubDate, author, readingTime, url.
std::string metadata_json(const Document& document, const Chunk& chunk);
// False if the text is no JSON object.
bool read_metadata(std::string_view json, Chunk& chunk);

}  // namespace stoka::store
