// The built-in generator, without a model: a framing line, a verbatim quote, and a question, in the
// form in which a model would write them. It uses only fixed lines and published text, so it obeys
// the rules of golden/never.txt.
#pragma once

#include <cstdint>
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

// The lines to choose from. Some depend on the content type ("philosophy", "changelog", …); "any"
// is for all types without lines of their own.
struct VoiceLines {
  using ByType = std::map<std::string, std::vector<std::string>, std::less<>>;
  ByType direct;                      // before a citation that answers the question
  std::vector<std::string> adjacent;  // before a citation that is only close to it
  std::vector<std::string> followup;  // before a citation on the topic of the session
  std::vector<std::string> lateral;   // one sentence between the first and the second citation
  std::vector<std::string> closers;   // questions after the last citation
  ByType framing;                     // above a recommendation
  std::string closest{kClosestLine};  // the first line of an answer with low confidence
};

// Reads golden/voice_lines.toml. Config errors with a line number: a missing list, an unknown key,
// or a line that the voice forbids (an exclamation mark, a capital letter, more than two sentences,
// a closer that is not a question, …).
Result<VoiceLines> read_voice_lines(std::span<const TomlEntry> entries);

// Thread safe. Equal requests give equal answers. Consecutive turns get different lines from lists
// with two or more lines.
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
  const std::string& opener(const GenerationRequest& request, const Hit& hit, uint64_t seed) const;

  VoiceLines lines_;
};

}  // namespace stoka::generate
