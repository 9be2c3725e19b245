#include <array>

#include "sample_answer.h"

namespace energy_test {

namespace {

using namespace stoka::eval;

TEST_CASE("enthusiasm of every kind is energy") {
  constexpr auto held = std::to_array<std::string_view>({
      "wow, agents. {bounded}",
      "yay. {bounded}",
      "sooo many limits. {bounded}",
      "yesss {bounded}",
      "IT WORKS. {bounded}",
      "this one, AND IT NEVER STOPS. {bounded}",
      "awesome. {bounded}",
      "it stops! {bounded}",
      "it stops \xF0\x9F\x94\xA5 {bounded}",
      "i'm so excited about this one. {bounded}",
      "really?? {bounded}",
      "omg. {bounded}",
      "this is so cool. {bounded}",
      "that's awesome, right?",
      "AMAZING WRITING. {bounded}",
      "love it. {bounded}",
      "well, whoa. {bounded}",
      "can't wait to show you. {bounded}",
      "let's go. {bounded}",
      "haha, no. {bounded}",
  });
  check_held("energy", held);
}

TEST_CASE("a flat answer is flat, acronyms and stress included") {
  constexpr auto free = std::to_array<std::string_view>({
      "noted.",
      "it NEVER retries. {bounded}",
      "HTTP and TLS, then nothing. {bounded}",
      "AWS, GCP. same bill. {bounded}",
      "WAL mode, fsync off. {bounded}",
      "www.stoka.example has it.",
      "part iii of viii. {bounded}",
      "the wow of the first week. {bounded}",
      "a ?? b is an operator.",
      "the GPU and the CPU disagree. {bounded}",
      "the file says SQLite and means it. {bounded}",
      "an amazing amount of logs. {bounded}",
      "it prints `WOW AAAA!!` {bounded}",
      "small, great, or forgotten. {bounded}",
      "agents can't wait to be stopped. {bounded}",
      "it logs xxx and aaa. {bounded}",
      "I. {bounded}",
  });
  check_free("energy", free);
}

TEST_CASE(
    "capitals that were retrieved or asked about are terms, unless the question was shouted") {
  Answer answer = said("FOR UPDATE SKIP LOCKED is the queue. {bounded}");
  CHECK(judged("energy", answer));
  answer.query = "what does FOR UPDATE SKIP LOCKED do";
  CHECK_FALSE(judged("energy", answer));
  answer.query = "FOR UPDATE SKIP LOCKED";
  CHECK(judged("energy", answer));
  answer.ranked[0].chunk.content = "The query ends in FOR UPDATE SKIP LOCKED.";
  CHECK_FALSE(judged("energy", answer));
}

}  // namespace

}  // namespace energy_test
