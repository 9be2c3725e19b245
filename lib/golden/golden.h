// The voice as data: identity, NEVER list, exchanges, fixed replies, hints, router patterns, guard
// phrases and the extractive voice's lines. Compiled in from golden/; a directory can override any
// file, so that the voice is tuned without a rebuild.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml.h"

namespace stoka::golden {

struct GoldenExchange {
  std::string visitor;
  std::string stoka;
};

// A router rule: the first one that has a matching pattern decides. See golden/router.toml.
struct RouterRule {
  std::string name;   // "meta.greeting", "deal.override"
  std::string reply;  // name of the reply
  std::vector<std::string> patterns;
};

struct RouterData {
  std::vector<RouterRule> rules;  // in order: meta first, then deal
  std::vector<std::string> offtopic_signals;
  std::string offtopic_reply;
  std::vector<std::string> not_content;
  int followup_max_words = 8;
  std::vector<std::string> followup_openers;
};

struct PageHint {
  std::string page;  // exact, or ends in * for everything below
  std::string line;
};

struct Golden {
  std::string identity;                       // layer 0
  std::vector<std::string> never;             // layer 1: 15 items
  std::string voice;                          // layer 2
  std::string exchanges;                      // layer 2, as written
  std::vector<GoldenExchange> exchange_list;  // the same, taken apart
  std::map<std::string, std::vector<std::string>, std::less<>> replies;
  RouterData router;
  std::vector<PageHint> page_hints;
  std::vector<std::string> product_hints;
  std::vector<std::string> post_hints;
  std::vector<TomlEntry> guard;        // of guard.toml, for cite::GuardRules
  std::vector<TomlEntry> voice_lines;  // of voice_lines.toml, for generate::VoiceLines
  std::vector<TomlEntry> framing;      // of framing.toml, for generate::FramingVoice

  // The n-th line of a reply, taken in turn. The name must exist.
  const std::string& reply(std::string_view name, int n = 0) const;
  // The hint of a page that is named in full; empty if it is not.
  std::string hint(std::string_view page) const;
  // The hint of the longest page ending in * that the page is below; empty if there is none.
  std::string hint_below(std::string_view page) const;
};

// Yields an overriding text of a golden file ("replies.toml"), or nothing to use the built-in one.
using Override = std::function<Result<std::optional<std::string>>(std::string_view file)>;

// A file that is malformed, lacks what it must have or has what nothing reads is a config error
// that names it.
Result<Golden> load(const Override& override_file = {});

}  // namespace stoka::golden
