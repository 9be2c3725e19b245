#include "eval/phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/toml.h"

namespace stoka::eval {
namespace {

constexpr auto kListNames = std::to_array<std::string_view>(
    {"filler", "greeting", "greeting_word", "greeting_next", "no_greeting", "flattery",
     "flattery_lead", "flattery_degree", "flattery_adjective", "flattery_noun", "flattery_next",
     "sycophancy", "apology", "energy", "emoticon", "alternatives", "echo", "common_name",
     "fixed_line"});

std::vector<std::string> phrase_words(std::string_view phrase) {
  std::vector<std::string> out;
  for (Token& token : tokens(phrase)) out.push_back(std::move(token.word));
  return out;
}

}  // namespace

Result<Phrases> read_phrases(std::string_view toml) {
  constexpr std::string_view kFile = "phrases.toml";
  auto entries = parse_toml(toml, kFile);
  if (!entries) {
    Error error = entries.error();
    error.kind = ErrorKind::config;
    return fail(std::move(error));
  }
  Phrases out;
  for (TomlEntry& entry : *entries) {
    if (std::find(kListNames.begin(), kListNames.end(), entry.key) == kListNames.end()) {
      return fail(ErrorKind::config,
                  fmt::format("{} line {}: unknown '{}'", kFile, entry.line, entry.key),
                  fmt::format("the lists are {}", fmt::join(kListNames, ", ")));
    }
    if (!entry.is_list) {
      return fail(ErrorKind::config,
                  fmt::format("{} line {}: '{}' is not a list", kFile, entry.line, entry.key),
                  fmt::format("write {} = [\"a phrase\"]", entry.key));
    }
    for (const std::string& phrase : entry.values) {
      if (entry.key != "emoticon" ? !phrase_words(phrase).empty() : !phrase.empty()) continue;
      return fail(
          ErrorKind::config,
          fmt::format("{} line {}: a phrase of '{}' has no word", kFile, entry.line, entry.key),
          "remove it");
    }
    out[entry.key] = std::move(entry.values);
  }
  return out;
}

}  // namespace stoka::eval
