// Golden data: the voice of stoka as data. It holds the identity, the NEVER list, example
// exchanges, canned replies, hints, router patterns, phrases of the voice guard and lines of the
// extractive voice. The files under golden/ are compiled in; a directory can override each of them,
// so that the voice can be changed without a rebuild.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml.h"
#include "golden/site_facts.h"

namespace stoka::golden {

// An example of a question and its answer, which shows a model the voice.
struct GoldenExchange {
  std::string visitor;
  std::string stoka;
  std::string text = {};                // the lines of the exchange in the file
  std::vector<std::string> slugs = {};  // slugs that the answer cites
};

// A rule of the router. The first rule with a matching pattern decides. See golden/router.toml.
struct RouterRule {
  std::string name;   // "meta.greeting", "deal.override"
  std::string reply;  // name of the canned reply
  std::vector<std::string> patterns;
  std::vector<std::string> pages = {};  // for an intent, names of a page that answers the question

  // Whether the rule is for an intent: a rule of site or talk, which has no canned reply.
  bool is_intent() const { return name.starts_with("site.") || name.starts_with("talk."); }
};

struct RouterData {
  std::vector<RouterRule> rules;  // the rules in the order of the file
  std::vector<std::string> offtopic_signals;
  std::string offtopic_reply;
  std::vector<std::string> not_content;
  int followup_max_words = 8;
  std::vector<std::string> followup_openers;
};

struct PageHint {
  std::string page;  // a path; with a * at its end, all paths below it
  std::string line;
  std::string condition = {};  // a condition that the site must meet; usually empty
};

struct Golden {
  std::string identity;            // layer 0 of the prompt
  std::vector<std::string> never;  // layer 1 of the prompt: the 15 items of the NEVER list
  std::string voice;               // the first part of layer 2 of the prompt
  std::string exchanges;           // the second part of layer 2: all exchanges as text
  std::vector<GoldenExchange> exchange_list;  // the exchanges in that text
  std::map<std::string, std::vector<std::string>, std::less<>> replies;
  RouterData router;
  std::vector<PageHint> page_hints;
  std::vector<std::string> product_hints;
  std::vector<std::string> post_hints;
  std::vector<TomlEntry> guard;        // guard.toml, which cite::GuardRules reads
  std::vector<TomlEntry> voice_lines;  // voice_lines.toml, which generate::VoiceLines reads
  std::vector<TomlEntry> framing;      // framing.toml, which generate::FramingVoice reads

  // Line n of a canned reply, modulo the number of its lines. A reply of this name must exist.
  const std::string& reply(std::string_view name, int n = 0) const;
  // The hint for exactly this page, or an empty string. A hint with a condition that the site meets
  // comes first.
  std::string hint(std::string_view page, const SiteFacts& site = {}) const;
  // The hint of the longest pattern with a * that matches the page, or an empty string.
  std::string hint_below(std::string_view page, const SiteFacts& site = {}) const;
  // The examples that cite only slugs of the index, as text for a prompt. An example of a page that
  // does not exist would teach a model to cite it.
  using HasSlug = std::function<bool(std::string_view slug)>;
  std::string exchanges_in(const HasSlug& has_slug) const;
  // The slugs that examples cite and the index lacks, each once, in the order of the file.
  std::vector<std::string> missing_slugs(const HasSlug& has_slug) const;
};

// Returns the text that replaces a golden file ("replies.toml"), or nothing to use the built-in
// file.
using FileOverride = std::function<Result<std::optional<std::string>>(std::string_view file)>;

// Loads the golden data. A file that is malformed, lacks a required entry or has an unknown one is
// an error of kind config that names the file.
Result<Golden> load(const FileOverride& override_file = {});

}  // namespace stoka::golden
