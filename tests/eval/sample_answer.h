// Answers for the tests of predicates.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "eval/predicates.h"

namespace stoka::testing {

inline std::string read_source(const std::string& path) {
  std::ifstream file(std::string(STOKA_SOURCE_DIR "/") + path);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The phrases of evals/phrases.toml.
inline const eval::Phrases& shipped_phrases() {
  static const eval::Phrases phrases = [] {
    auto read = eval::read_phrases(read_source("evals/phrases.toml"));
    REQUIRE_MESSAGE(read.has_value(), (read ? "" : read.error().message));
    return *read;
  }();
  return phrases;
}

inline Hit hit(std::string slug, std::string title, std::string content) {
  Hit out;
  out.chunk.slug = std::move(slug);
  out.chunk.title = std::move(title);
  out.chunk.type = "philosophy";
  out.chunk.reading_minutes = 8;
  out.chunk.date = Date(std::chrono::year(2026) / 4 / 12);
  out.chunk.url = "/blog/" + out.chunk.slug;
  out.chunk.tags = {"agents", "SQLite"};
  out.chunk.content = std::move(content);
  return out;
}

inline std::vector<Hit> retrieved() {
  return {hit("bounded", "Bounded execution",
              "Autonomy without constraint is just chaos with better marketing. Every agent at "
              "Halyard gets a leash file that names its budget, its deadline and seven tools. "
              "Version 3.4.10 enforced it, after 1,024 runs had cost 38 euros. The kernel calls "
              "check_leash() before each step and refuses what the file does not allow."),
          hit("immortal", "Immortal systems",
              "A system that can't describe its own death isn't immortal. It's just lucky. The "
              "failure ledger at https://stoka.example/ledger remembers what broke and why.")};
}

// An answer with this text, in which {slug} is a citation.
inline eval::Answer make_answer(std::string_view text,
                                std::string_view query = "why do agents need limits") {
  eval::Answer out;
  out.query = query;
  out.ranked = retrieved();
  const auto add_text = [&](std::string_view part) {
    if (!part.empty()) out.parts.push_back({std::string(part), std::nullopt});
  };
  while (true) {
    const size_t open = text.find('{'), close = text.find('}', open);
    if (open == text.npos || close == text.npos || text[close - 1] == ' ') break;
    add_text(text.substr(0, open));
    Citation citation;
    citation.slug = text.substr(open + 1, close - open - 1);
    citation.quote = "Chaos is cheap.";
    out.parts.push_back({{}, citation});
    text.remove_prefix(close + 1);
  }
  add_text(text);
  return out;
}

inline std::optional<std::string> match(std::string_view predicate, const eval::Answer& answer) {
  const eval::Predicate* found = eval::find_predicate(predicate);
  REQUIRE(found != nullptr);
  return found->match(answer, shipped_phrases());
}

inline void check_no_match(std::string_view predicate, std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) {
    const auto why = match(predicate, make_answer(text));
    CHECK_MESSAGE(!why, predicate << " must not match: " << text << "\n  " << why.value_or(""));
  }
}

inline void check_matches(std::string_view predicate, std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) {
    CHECK_MESSAGE(match(predicate, make_answer(text)).has_value(),
                  predicate << " must match: " << text);
  }
}

}  // namespace stoka::testing
