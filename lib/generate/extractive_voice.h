// The built-in generator, without a model: a framing line, a verbatim quote, and a question, in the
// form in which a model would write them. It uses only fixed lines and published text, so it obeys
// the rules of golden/never.txt.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/toml.h"
#include "generate/generator.h"

namespace stoka::generate {

inline constexpr std::string_view kClosestLine =
    "closest thing i have is this. might not be what you meant.";
// The answer when there is nothing to cite.
inline constexpr std::string_view kNothingFound = "nothing here on that. yet.";

// A line, and the condition (golden/site_facts.h) that a site must meet for it; often none.
struct VoiceLine {
  std::string text;
  std::string condition = {};
  bool operator==(const VoiceLine&) const = default;
};

// The lines to choose from. Some depend on the content type ("philosophy", "changelog", …); "any"
// is for all types without lines of their own.
struct VoiceLines {
  using List = std::vector<VoiceLine>;  // lines without a condition come first
  using ByType = std::map<std::string, List, std::less<>>;
  ByType direct;                      // lines before a citation that answers the question
  List adjacent;                      // lines before a citation close to the question
  List followup;                      // lines before a citation on the topic of the session
  List lateral;                       // one sentence between the first and the second citation
  List closers;                       // questions after the last citation
  ByType framing;                     // lines above a recommendation; they have no conditions
  std::string closest{kClosestLine};  // the first line of an answer with low confidence
};

// Chooses a line of the list for a turn, among those whose condition the site meets. The first turn
// of a session takes one of the first eighth of the list, by the question alone, so that equal
// questions begin equal conversations. The later turns take the other lines in an order that the
// session id decides, and then all lines, in another order each time. Consecutive turns never take
// the same line, and equal requests get equal lines. The list must have a line without a condition.
const std::string& choose_line(const VoiceLines::List& lines, const GenerationRequest& request);

// Reads golden/voice_lines.toml. These are config errors with a line number: a missing list, an
// unknown key or condition, a list in which every line has a condition, or a line against the rules
// (an exclamation mark, a capital letter, over two sentences, a closer that is no question, …).
Result<VoiceLines> read_voice_lines(std::span<const TomlEntry> entries);

// Chooses its lines with choose_line(). Equal requests give equal answers. Thread safe.
class ExtractiveVoice final : public Generator {
 public:
  explicit ExtractiveVoice(VoiceLines lines) : lines_(std::move(lines)) {}

  std::string name() const override { return "extractive"; }
  bool reads_prompt() const override { return false; }
  // Cites the first hit with a quotable sentence. If the confidence is direct, it also cites the
  // next one with another slug and title whose score is close. If no hit has a quotable sentence,
  // it cites the first without a quote. The caller must have removed hits that must not be cited.
  // The answer is passed on one word at a time. There are no errors.
  Result<std::unique_ptr<GenerationStream>> begin(const GenerationRequest& request,
                                                  std::stop_token stop) override;
  std::vector<std::optional<std::string>> frame(std::span<const Hit> hits,
                                                std::stop_token stop) override;

  // The whole answer to a request.
  std::string answer(const GenerationRequest& request) const;

 private:
  const std::string& opener(const GenerationRequest& request, const Hit& hit) const;

  VoiceLines lines_;
};

}  // namespace stoka::generate
