// How both stores represent text, lists and records in columns. Lists and records are JSON;
// elements of the wrong type are ignored when they are read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/document.h"
#include "model/session.h"
#include "store/index_reader.h"

namespace stoka::store {

// `ms` is in milliseconds since 1970 UTC, as times are stored.
inline Instant instant(int64_t ms) { return Instant(std::chrono::milliseconds(ms)); }

// The first function returns whether `text` is valid UTF-8 without NUL; the second returns the text
// with U+FFFD in place of everything that is not.
bool is_valid_text(std::string_view text);
std::string sanitize_text(std::string_view text);

std::string strings_to_json(std::span<const std::string> texts);
std::vector<std::string> strings_from_json(std::string_view json);

std::string exchanges_to_json(std::span<const Exchange> exchanges);
std::vector<Exchange> exchanges_from_json(std::string_view json);

std::string history_to_json(std::span<const HistoryEntry> history);
std::vector<HistoryEntry> history_from_json(std::string_view json);

// The fields of a chunk that have no column of their own: tags, pubDate, author, readingTime, url.
std::string metadata_to_json(const Document& document, const Chunk& chunk);
// Reads what metadata_to_json() wrote. Returns false if the text is not a JSON object.
bool read_metadata(std::string_view json, Chunk& chunk);

// Writes and reads an identity as a JSON object; reading another text returns nothing.
std::string identity_to_json(const IndexIdentity& identity);
std::optional<IndexIdentity> identity_from_json(std::string_view json);

}  // namespace stoka::store
