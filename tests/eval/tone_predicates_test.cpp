#include <array>

#include "sample_answer.h"

namespace tone_predicates_test {

namespace {

using namespace stoka::eval;
using namespace stoka::testing;

TEST_CASE("the predicate greeting matches a greeting at the start of a sentence") {
  constexpr auto matching = std::to_array<std::string_view>({
      "hi there! what do you want to read?",
      "Hello.",
      "hey, it's on.",
      "Welcome to the terminal.",
      "well, hello again.",
      "stoka: hi. ask something.",
      "Hi\nwhat are you looking for?",
      "hi Anna, the essay is this one. {bounded}",
      "hello and thanks for stopping by.",
      "hellooooo. this one. {bounded}",
      "it's written down. {bounded} welcome back, by the way.",
      "**Hi!** look here. {bounded}",
      "\"Hello there! Ask away.\"",
      "hi \xF0\x9F\x91\x8B what is it?",
      "hey folks, see this. {bounded}",
      "Hello dear reader, see this.",
      "good morning, reader.",
      "bonjour ! une question ?",
      "¡hola! this one. {bounded}",
      "你好！有什么问题？",
      "h\u200Bi there. this one.",
      "ＨＩ there.",
  });
  check_matches("greeting", matching);
}

TEST_CASE("the predicate greeting does not match words that only look like a greeting") {
  constexpr auto clean = std::to_array<std::string_view>({
      "nothing here on that. yet.",
      "they say the same thing every time.",
      "this is history. {bounded}",
      "hi-fi was a promise too.",
      "hello world is where every program lies first. {bounded}",
      "the program prints \"hello\" and stops.",
      "'hi' is not in its vocabulary.",
      "you are welcome to disagree. {bounded}",
      "welcome changes are rare.",
      "a good morning starts with an empty ledger.",
      "it logs `hello there` and exits.",
      "whichever one you pick. {bounded}",
      "no agent greets anybody here. {bounded}",
      "hey presto, said nobody who wrote the patch notes.",
      "the cursor works. what are you looking for?",
      "Higher limits, lower bills. {bounded}",
      "",
  });
  check_no_match("greeting", clean);
}

TEST_CASE("the predicate flattery matches praise of the question") {
  constexpr auto matching = std::to_array<std::string_view>({
      "Great question! it stops. {bounded}",
      "that's a really good question. {bounded}",
      "what an interesting question.",
      "hmm, good question. which half?",
      "you ask a very good question.",
      "you've raised an excellent point. {bounded}",
      "This is a great and important question.",
      "good question about agents. {bounded}",
      "i love that question. {bounded}",
      "smart thinking. {bounded}",
      "that's the right question.",
      "Wow, great question about agents.",
      "that's such a good point. {bounded}",
      "That's actually a great question. {bounded}",
      "you've got great taste.",
      "gute Frage. {bounded}",
      "excelente pregunta.",
      "it stops. {bounded} great question, by the way.",
      "greaaaat question. {bounded}",
      "how insightful.",
      "depends. good question, though. {bounded}",
  });
  check_matches("flattery", matching);
}

TEST_CASE("the predicate flattery does not match talk about questions") {
  constexpr auto clean = std::to_array<std::string_view>({
      "the great question of the week was who pays.",
      "a good question to ask before a release: who can stop it?",
      "a fair point in the essay: nobody reads the log. {bounded}",
      "that essay has a good point and a bad title. {bounded}",
      "good questions come after the outage. {bounded}",
      "a good idea. until the bill came.",
      "is that a good idea, or only the easy one? {bounded}",
      "that's not a great question.",
      "which question? {bounded}",
      "questions are cheaper than answers.",
      "the essay asks one good question and answers another. {bounded}",
      "\"great question\" is what a help desk says.",
      "what is good taste worth at three in the morning? {bounded}",
      "no question is that good.",
      "interesting questions rarely have a flag.",
      "depends what you think \"best\" means. {bounded}",
      "the wrong question, mostly. {bounded}",
      "still the same question?",
  });
  check_no_match("flattery", clean);
}

TEST_CASE("the predicate sycophancy matches offers of help") {
  constexpr auto matching = std::to_array<std::string_view>({
      "I'd be happy to help with that.",
      "i’d be happy to walk you through it. {bounded}",
      "Certainly! {bounded}",
      "of course. {bounded}",
      "sure, here it is. {bounded}",
      "glad you asked. {bounded}",
      "{bounded} let me know if you want more.",
      "{bounded} hope this helps.",
      "Happy to help. {bounded}",
      "thanks for asking.",
      "Thank you! noted.",
      "how can i help you today?",
      "as an AI, i have no opinion.",
      "{bounded} feel free to ask more.",
      "you're absolutely right.",
      "I can definitely help with that. {bounded}",
      "I appreciate the compliment.",
      "that means a lot. {bounded}",
      "absolutely — {bounded}",
      "is there anything else I can do?",
  });
  check_matches("sycophancy", matching);
}

TEST_CASE("the predicate sycophancy does not match the same words about others") {
  constexpr auto clean = std::to_array<std::string_view>({
      "certainly not. {bounded}",
      "thanks to the ledger, nothing is lost.",
      "of course it failed. it was tuesday. {bounded}",
      "the pager is never happy to help.",
      "agents feel free to act. that's the problem. {bounded}",
      "noted.",
      "sure of what? {bounded}",
      "absolutely nothing happened. that was the bug.",
      "an offer of help is not help. {bounded}",
      "it ends with \"hope this helps\" and does not.",
      "nobody definitely knows. {bounded}",
      "not a person, not a help desk. what's published here, talking. about what?",
      "i don't help. i point. {bounded}",
  });
  check_no_match("sycophancy", clean);
}

TEST_CASE("the predicate apology matches at the start, after a comma and in other languages") {
  constexpr auto matching = std::to_array<std::string_view>({
      "Sorry, I don't have anything on that.",
      "i'm sorry. nothing here.",
      "I’m so sorry about that.",
      "nothing here, sorry.",
      "that page is gone. sorry.",
      "Unfortunately, nothing here.",
      "unfortunately there is nothing on that.",
      "I apologize for the confusion.",
      "my apologies: wrong page. {bounded}",
      "i'm afraid there is nothing.",
      "nothing on that, i'm afraid.",
      "sorrryyy. nothing.",
      "sorry but no.",
      "désolé, rien.",
      "tut mir leid. nichts davon.",
      "lo siento, nada.",
      "抱歉，没有。",
      "forgive me. {bounded}",
      "oh, sorry — this one. {bounded}",
  });
  check_matches("apology", matching);
}

TEST_CASE("the predicate apology does not match talk of sorrow and fear") {
  constexpr auto clean = std::to_array<std::string_view>({
      "better safe than sorry. {bounded}",
      "the cache was in a sorry state.",
      "sorry is a word the machine never learned.",
      "no apology follows. {bounded}",
      "No apologies. {bounded}",
      "i'm afraid of deadlines too. {bounded}",
      "it was not sorry.",
      "the letter of apology was longer than the fix. {bounded}",
      "the bot says \"sorry, i don't have that\". this one does not.",
      "'sorry' appears nowhere in it. {bounded}",
      "nothing here on that. yet.",
      "unfortunately named, but it works. {bounded}",
      "feel sorry for the second shift.",
      "it regrets nothing.",
      "closest thing i have is this. might not be what you meant. {bounded}",
  });
  check_no_match("apology", clean);
}

TEST_CASE("the predicate alternatives matches an answer that sends the visitor elsewhere") {
  constexpr auto matching = std::to_array<std::string_view>({
      "nothing here. but you might try a search engine.",
      "Have you tried restarting it?",
      "nothing on that. you could also look at the docs.",
      "instead, check the manual.",
      "for that, a search engine.",
      "i'd recommend asking a doctor.",
      "alternatively, read the other one. {bounded}",
      "check the official documentation.",
      "google it.",
      "try searching for it.",
      "You may want to consult a lawyer.",
      "nothing here, but you can find it on Wikipedia.",
      "but you might find something in the blog.",
      "would you like to hear about agents instead?",
      "I can, however, tell you about agents.",
      "in the meantime, wait.",
      "maybe try another word.",
      "you'd be better off with a library.",
  });
  check_matches("alternatives", matching);
}

TEST_CASE(
    "the predicate alternatives does not match trying, searching and recommending as topics") {
  constexpr auto clean = std::to_array<std::string_view>({
      "an agent might try that twice. {bounded}",
      "a search engine forgets why you asked. {bounded}",
      "you can argue with it. {bounded}",
      "but you might disagree. {bounded}",
      "would you have stopped it? {bounded}",
      "the recommendation was ignored. {bounded}",
      "easy to nod at. try not to. {bounded}",
      "it stops instead of trying again. {bounded}",
      "narrow it and i'll find something sharp.",
      "now read it against this. {bounded}",
      "want the patch notes where it actually happened?",
      "start with the part you would cut. {bounded}",
      "the official version is shorter. {bounded}",
      "nothing here on that. yet.",
      "\"you might try\" is how it declines. {bounded}",
  });
  check_no_match("alternatives", clean);
}

TEST_CASE("the predicate energy matches every kind of enthusiasm") {
  constexpr auto matching = std::to_array<std::string_view>({
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
  check_matches("energy", matching);
}

TEST_CASE("the predicate energy does not match a flat answer with acronyms or a stressed word") {
  constexpr auto clean = std::to_array<std::string_view>({
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
  check_no_match("energy", clean);
}

TEST_CASE(
    "words in capitals count as terms if chunks or question have them, unless the question "
    "shouts") {
  Answer answer = make_answer("FOR UPDATE SKIP LOCKED is the queue. {bounded}");
  CHECK(match("energy", answer));
  answer.query = "what does FOR UPDATE SKIP LOCKED do";
  CHECK_FALSE(match("energy", answer));
  answer.query = "FOR UPDATE SKIP LOCKED";
  CHECK(match("energy", answer));
  answer.ranked[0].chunk.content = "The query ends in FOR UPDATE SKIP LOCKED.";
  CHECK_FALSE(match("energy", answer));
}

}  // namespace

}  // namespace tone_predicates_test
