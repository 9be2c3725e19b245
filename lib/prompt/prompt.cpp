#include "prompt/prompt.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/entities.h"
#include "text/normalize.h"
#include "text/sentences.h"
#include "text/tokens.h"
#include "text/utf8.h"

namespace stoka::prompt {
namespace {

constexpr size_t kMaxFieldBytes = 300;  // bytes of a text from the client that are shown
constexpr size_t kMaxItems = 20;        // items of a list; the latest are kept
constexpr size_t kMaxInterests = 10;    // interests in the prompt; the strongest are kept

// Makes untrusted text a single line, cut and neutralised.
std::string safe_field(std::string_view value) {
  std::string line = text::one_line(value);
  return neutralize(
      line.substr(0, text::floor_char_boundary(line, std::min(line.size(), kMaxFieldBytes))));
}

std::string joined(const std::vector<std::string>& items) {
  std::vector<std::string> safe;
  for (size_t i = items.size() - std::min(items.size(), kMaxItems); i < items.size(); ++i)
    safe.push_back(safe_field(items[i]));
  return fmt::format("{}", fmt::join(safe, ", "));
}

std::string constraints(const std::vector<std::string>& never) {
  std::string out = "You NEVER:\n";
  for (size_t i = 0; i < never.size(); ++i) out += fmt::format("{:2}. {}\n", i + 1, never[i]);
  out.pop_back();
  return out;
}

std::string chunk_open(const Chunk& chunk, double score) {
  std::string out =
      fmt::format("<chunk slug=\"{}\" score=\"{:.2f}\" type=\"{}\" tags=\"{}\" reading_time=\"{}\"",
                  text::escape_attribute(chunk.slug), score, text::escape_attribute(chunk.type),
                  text::escape_attribute(fmt::format("{}", fmt::join(chunk.tags, ","))),
                  reading_time(chunk.reading_minutes));
  if (chunk.date) out += fmt::format(" date=\"{}\"", iso_date(*chunk.date));
  out += ">\n" + neutralize(text::one_line(chunk.title));
  if (!chunk.section.empty()) out += " — §" + neutralize(text::one_line(chunk.section));
  return out + "\n\n";
}

std::string retrieved(const Input& input, const std::vector<std::string>& contents) {
  size_t shown = 0;
  for (const std::string& content : contents) shown += !content.empty();
  std::string out = fmt::format("[Retrieved Content — {} chunk{}, cite these and ONLY these]\n",
                                shown, shown == 1 ? "" : "s");
  if (input.confidence == Confidence::adjacent)
    out += "[low_confidence — frame as \"closest i have\"]\n";
  for (size_t i = 0; i < contents.size(); ++i)
    if (!contents[i].empty())
      out += chunk_open(input.hits[i].chunk, input.hits[i].score) + contents[i] + "\n</chunk>\n";
  out.pop_back();
  return out;
}

// The reading history, oldest first: the pages that the store knows, then those that only the
// client has sent.
std::string reading_history(const Input& input) {
  std::vector<std::string> read;
  for (const HistoryEntry& reading : input.visitor.history)
    read.push_back(reading.scroll_pct < 100
                       ? fmt::format("{} ({}%)", reading.slug, reading.scroll_pct)
                       : reading.slug);
  for (const std::string& slug : input.page.seen_slugs) {
    const bool known =
        std::any_of(input.visitor.history.begin(), input.visitor.history.end(),
                    [&](const HistoryEntry& reading) { return reading.slug == slug; });
    if (!known) read.push_back(slug);
  }
  return joined(read);
}

std::string visitor(const Input& input) {
  std::string out = "[Visitor]\n";
  auto field = [&](std::string_view name, std::string value) {
    if (!value.empty()) out += fmt::format("{:<16} {}\n", fmt::format("{}:", name), value);
  };
  field("page", safe_field(input.page.page));
  field("page_title", safe_field(input.page.page_title));
  if (input.page.scroll_pct) field("scroll_pct", std::to_string(*input.page.scroll_pct));
  field("returning", input.returning ? "true" : "false");
  // The list of declared tags is never left out: an empty list tells the model that there is
  // nothing to personalise.
  field("declared_tags", "[" + joined(input.visitor.interests) + "]");
  field("reading_history", reading_history(input));
  field("turns_so_far", std::to_string(input.session.turns));
  field("already_cited", joined(input.session.shown_slugs));
  field("current_topic", safe_field(input.session.current_topic()));
  field("route", std::string(to_string(input.route)));
  if (input.low_confidence) field("low_confidence", "true");
  out.pop_back();
  return out;
}

// Lists each topic once, at its last position.
std::vector<std::string> distinct_topics(const std::vector<std::string>& topics) {
  std::vector<std::string> out;
  for (auto topic = topics.rbegin(); topic != topics.rend(); ++topic)
    if (std::find(out.begin(), out.end(), *topic) == out.end()) out.push_back(*topic);
  std::reverse(out.begin(), out.end());
  return out;
}

// A summary of the conversation, if it has turns beyond the last `full_exchanges`.
std::string earlier_turns(const Input& input, size_t full_exchanges) {
  if (static_cast<size_t>(input.session.turns) <= full_exchanges) return "";
  std::vector<std::string> interests = input.interests;
  interests.resize(std::min(interests.size(), kMaxInterests));
  std::string out = "[Earlier in this conversation]";
  for (const auto& [name, values] :
       {std::pair("topics:", joined(distinct_topics(input.session.explored_topics))),
        std::pair("cited:", joined(input.session.shown_slugs)),
        std::pair("interests:", joined(interests))})
    if (!values.empty()) out += fmt::format("\n{:<16} {}", name, values);
  return out;
}

// The longest prefix of whole sentences that has at most `tokens`.
std::string cut_to(const std::string& content, size_t tokens) {
  const std::vector<text::Span> sentences = text::sentences(content);
  // A longer prefix never has a smaller estimate, so a binary search is correct.
  const auto beyond =
      std::partition_point(sentences.begin(), sentences.end(), [&](const text::Span& sentence) {
        return text::estimate_tokens(std::string_view(content).substr(0, sentence.end)) <= tokens;
      });
  return content.substr(0, beyond == sentences.begin() ? 0 : std::prev(beyond)->end);
}

}  // namespace

Prompt build_messages(const Input& input, const golden::Golden& golden, const Options& options) {
  Prompt out;
  std::string never = constraints(golden.never);
  const std::string& examples = input.exchanges ? *input.exchanges : golden.exchanges;
  std::string voice = golden.voice;
  if (!examples.empty()) voice += "\n\n[golden examples — these define your voice]\n\n" + examples;
  std::string about_visitor = visitor(input);
  std::string earlier = earlier_turns(input, options.full_exchanges);
  std::vector<std::string> contents;
  for (const Hit& hit : input.hits) contents.push_back(neutralize(hit.chunk.content));
  auto assemble = [&] {
    std::string text = golden.identity + "\n\n" + never + "\n\n" + voice + "\n\n" +
                       retrieved(input, contents) + "\n\n" + about_visitor;
    return earlier.empty() ? text : text + "\n\n" + earlier;
  };

  std::string system = assemble();
  for (size_t i = contents.size(); i-- > 0;) {
    size_t total = text::estimate_tokens(system);
    if (total <= options.budget) break;
    size_t before = text::estimate_tokens(contents[i]), over = total - options.budget;
    std::string kept = cut_to(contents[i], before > over ? before - over : 0);
    // The best chunk keeps at least its first sentence, because without content nothing can be
    // cited.
    if (i == 0 && kept.empty()) {
      std::vector<text::Span> sentences = text::sentences(contents[0]);
      if (!sentences.empty()) kept = contents[0].substr(0, sentences[0].end);
    }
    out.cuts.push_back(
        {input.hits[i].chunk.slug, input.hits[i].chunk.index, before, text::estimate_tokens(kept)});
    contents[i] = std::move(kept);
    system = assemble();
  }

  out.messages.push_back({"system", system});
  size_t conversation = text::estimate_tokens(earlier);
  if (!input.session.exchanges.empty()) {
    const Exchange& last = input.session.exchanges.back();
    out.messages.push_back({"user", last.user});
    out.messages.push_back({"assistant", last.assistant});
    conversation += text::estimate_tokens(last.user) + text::estimate_tokens(last.assistant);
  }
  out.messages.push_back({"user", input.query});
  conversation += text::estimate_tokens(input.query);

  out.layers = {{"0 identity", text::estimate_tokens(golden.identity)},
                {"1 constraints", text::estimate_tokens(never)},
                {"2 voice", text::estimate_tokens(voice)},
                {"3 content", text::estimate_tokens(retrieved(input, contents))},
                {"4 visitor", text::estimate_tokens(about_visitor)},
                {"5 conversation", conversation}};
  for (const Layer& layer : out.layers) out.tokens += layer.tokens;
  return out;
}

}  // namespace stoka::prompt
