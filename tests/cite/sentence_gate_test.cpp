#include "cite/sentence_gate.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sentence_gate_test {

namespace {

using namespace stoka;
using namespace stoka::cite;

Grounds grounds() {
  Grounds out;
  Chunk chunk;
  chunk.slug = "leash";
  chunk.title = "The Leash File";
  chunk.type = "blog";
  chunk.content =
      "Foreman 3.4.10 refuses to start a job without `leash.toml`. It costs 1,024 cents. "
      "Usually is a statistical word, said Ilse.";
  chunk.date = Date(std::chrono::year(2026) / 4 / 12);
  chunk.reading_minutes = 8;
  out.add(chunk);
  out.add("does v2.1 of Tern stop it?");
  return out;
}

const GuardRules& rules() {
  static const GuardRules out{
      {},
      {{"alternatives", {"you might try"}}, {"filler", {"so"}}, {"common_name", {"monday"}}},
      {"alternatives"}};
  return out;
}

struct Run {
  std::string text;
  std::map<std::string, size_t> changes;
};

// An '@' stands for a citation.
Run run(std::string_view input, size_t piece) {
  Run out;
  Interventions all;
  SentenceGate gate(
      grounds(), rules(), "does v2.1 of Tern stop it?",
      [&](std::string_view text) {
        CHECK_FALSE(text.empty());
        out.text += text;
      },
      &all);
  while (!input.empty()) {
    const size_t length = std::min(piece, std::min(input.find('@'), input.size()));
    if (length > 0) gate.push(input.substr(0, length));
    input.remove_prefix(length);
    if (!input.starts_with('@')) continue;
    gate.mark_citation();
    out.text += '@';
    input.remove_prefix(1);
  }
  gate.finish();
  for (const Intervention& one : all) out.changes[std::string(to_string(one.kind))] = one.count;
  return out;
}

struct Case {
  std::string_view input;
  std::string_view text;
  std::map<std::string, size_t> changes = {};
};

}  // namespace

TEST_CASE("sentences are released, cut and dropped") {
  const std::vector<Case> cases = {
      {"one. two. three.", "one. two. three."},
      {"one. two. three. four. five.", "one. two. three.", {{"cut", 2}}},
      {"one. two. three. four.\n@five. six. seven. eight.",
       "one. two. three.\n@five. six. seven.",
       {{"cut", 2}}},
      {"one. two @ three. four. five", "one. two @three. four. five"},
      // The full stop of a version or an abbreviation ends no sentence.
      {"v2.1 stops it, e.g. on Monday. so does 3.4 today. three. four.",
       "v2.1 stops it, e.g. on Monday. so does 3.4 today. three.",
       {{"cut", 1}}},
      {"one, in v2.2. two.", "two.", {{"unsupported", 1}}},
      {"it costs 1024 cents. or 1025.", "it costs 1024 cents.", {{"unsupported", 1}}},
      {"since April, for 8 minutes. since June.",
       "since April, for 8 minutes.",
       {{"unsupported", 1}}},
      {"ask Ilse. ask Bob. on a Monday.", "ask Ilse. on a Monday.", {{"unsupported", 1}}},
      {"it reads `leash.toml`. it reads `rope.toml`.",
       "it reads `leash.toml`.",
       {{"unsupported", 1}}},
      {"see leash.toml. see rope.toml.", "see leash.toml.", {{"unsupported", 1}}},
      {"\"usually is a statistical word\", it says. \"it never stops\", it says.",
       "\"usually is a statistical word\", it says.",
       {{"unsupported", 1}}},
      {"define \"work.\" then ask.", "define \"work.\" then ask."},
      {"you might try rope. one.", "one.", {{"forbidden", 1}}},
      {"one. does v2.1 of Tern stop it? it does.", "one. it does.", {{"forbidden", 1}}},
      {"ask Bob.\n@ one.", "@one.", {{"unsupported", 1}}},
      {"one. ask Bob.\n@", "one.\n@", {{"unsupported", 1}}},
      {"", ""},
      {"...", "..."},
      {"\u4e00\u3002\u4e8c\u3002\u4e09\u3002\u56db\u3002",
       "\u4e00\u3002\u4e8c\u3002\u4e09\u3002",
       {{"cut", 1}}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.input);
    const Run whole = run(c.input, c.input.size() + 1);
    CHECK(whole.text == c.text);
    CHECK(whole.changes == c.changes);
    // Whole code points are never split, so only ASCII is split at every byte.
    if (c.input.find('\xE4') != std::string_view::npos) continue;
    for (size_t piece = 1; piece < c.input.size(); ++piece) {
      const Run split = run(c.input, piece);
      CHECK(split.text == whole.text);
      CHECK(split.changes == whole.changes);
    }
  }
}

TEST_CASE("a sentence is released when the next one begins") {
  Interventions all;
  std::string out;
  SentenceGate gate(
      grounds(), rules(), "why?", [&](std::string_view text) { out += text; }, &all);
  gate.push("one sentence. ");
  CHECK(out.empty());
  gate.push("a");
  CHECK(out == "one sentence.");
  gate.push("nother");
  gate.mark_citation();
  CHECK(out == "one sentence. another");
}

TEST_CASE("what a citation shows may be said after it") {
  Interventions all;
  std::string out;
  SentenceGate gate(
      grounds(), rules(), "why?", [&](std::string_view text) { out += text; }, &all);
  Citation citation;
  citation.quote = "Ask Bob in 1999.";
  gate.push("first Bob.");
  gate.mark_citation();
  gate.allow(citation);
  gate.push("then Bob, 1999.");
  gate.finish();
  CHECK(out == "then Bob, 1999.");
}

TEST_CASE("text without an end is not held back for ever") {
  Interventions all;
  std::string out;
  SentenceGate gate(
      grounds(), rules(), "why?", [&](std::string_view text) { out += text; }, &all);
  for (int i = 0; i < 10000; ++i) gate.push("word ");
  CHECK(out.size() > 3000);
  CHECK(out.size() <= 3600);  // three times as much as is held back
  gate.finish();
  CHECK(all.size() == 1);
}

}  // namespace sentence_gate_test
