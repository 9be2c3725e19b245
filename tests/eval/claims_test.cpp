#include <array>

#include "sample_answer.h"

namespace claims_test {

namespace {

using namespace stoka::eval;

struct Turn {
  std::string_view query;
  std::string_view answer;
};

TEST_CASE("a question is echoed whole, in its content words, or by saying so") {
  constexpr Turn held[] = {
      {"what is bounded execution", "what is bounded execution? an essay. {bounded}"},
      {"why do agents need limits?", "Why do agents need limits? {bounded}"},
      {"why do agents need limits?", "you asked about limits. {bounded}"},
      {"why do agents need limits?", "so you want to know about limits. {bounded}"},
      {"why do agents need limits?", "agents and why they need limits: {bounded}"},
      {"how does the deck pipeline handle errors",
       "how the deck pipeline handles errors: {bounded}"},
      {"what did you learn from restore drills",
       "you want what was learned from restore drills? {bounded}"},
      {"how big should chunks be for retrieval?",
       "how big chunks should be for retrieval. {bounded}"},
      {"restore drills every month", "\"restore drills every month\". {bounded}"},
      {"why limit what an agent may do", "your question about agents is an old one. {bounded}"},
  };
  for (const Turn& turn : held) {
    CAPTURE(turn.answer);
    CHECK(judged("echo", said(turn.answer, turn.query)));
  }
}

TEST_CASE("an answer may use the words of its question") {
  constexpr Turn free[] = {
      {"tell me about bounded execution", "bounded execution. start with the part you would cut."},
      {"why do agents need limits?",
       "agents need limits for the reason children do: bills. {bounded}"},
      {"how do you handle failures?",
       "which kind? the ones we planned for, or the ones that surprised us? {immortal}"},
      {"what's your best blog post?", "depends what you think \"best\" means. {bounded}"},
      {"what is this?", "what is this? a terminal."},
      {"halyard", "halyard. {bounded}"},
      {"how does the deck pipeline handle errors",
       "the deck pipeline remembers its errors and stops. {bounded}"},
      {"what did you ask", "not quite what you asked. close enough to argue with. {bounded}"},
      {"does it scale", "your question has no page of its own. this one borders on it. {bounded}"},
      {"restore drills for backups", "backups that nobody could restore, hence drills. {bounded}"},
      {"", "it's written down. {bounded}"},
      {"?!", "it's written down. {bounded}"},
  };
  for (const Turn& turn : free) {
    const auto why = judged("echo", said(turn.answer, turn.query));
    CHECK_MESSAGE(!why, turn.answer << ": " << why.value_or(""));
  }
}

TEST_CASE("a citation is invented if it was not retrieved, and a tag must not show") {
  constexpr auto held = std::to_array<std::string_view>({
      "look. {made-up}",
      "{bounded} {Bounded}",
      "look <cite slug=\"bounded\" quote=\"x\"/>",
      "look <CITE slug=bounded>",
      "look </cite>",
      "slug=\"bounded\" quote=\"x\"",
      "quote='x'/>",
      "look /> there",
      "look [cite: bounded]",
      "&lt;cite slug=bounded",
      "`<cite slug=\"bounded\"/>`",
      "look ＜cite there",
  });
  check_held("invented", held);
  constexpr auto free = std::to_array<std::string_view>({
      "look. {bounded} {immortal}",
      "it cites a < b and b > a.",
      "`<br/>` is a tag. `/>` ends it.",
      "write <br/> there.",
      "/blog?slug=bounded is the page.",
      "citing is not quoting. {bounded}",
      "the slug is the name. {bounded}",
      "a cite/quote pair. {bounded}",
      "",
  });
  check_free("invented", free);
}

}  // namespace

}  // namespace claims_test
