// The built-in voice: a framing line, a verbatim pull quote, a question. It writes what a model
// would, tags and all, and keeps to the NEVER list by construction: it has nothing to say but its
// lines and what is published.
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

inline constexpr std::string_view kClosest =
    "closest thing i have is this. might not be what you meant.";
// The answer when there is nothing to cite.
inline constexpr std::string_view kNothing = "nothing here on that. yet.";

// Lines to choose from. By content type: "philosophy", "changelog", …; "any" is for all others.
struct VoiceLines {
  using ByType = std::map<std::string, std::vector<std::string>, std::less<>>;
  ByType direct;                      // before a citation that answers
  std::vector<std::string> adjacent;  // before one that only comes close
  std::vector<std::string> followup;  // before one that goes on with the topic
  std::vector<std::string> lateral;   // one sentence between the first citation and a second
  std::vector<std::string> closers;   // questions after the last citation
  ByType framing;                     // above a recommendation
  std::string closest{kClosest};      // opens an answer of low confidence
};

// From golden/voice_lines.toml. A missing list, an unknown key, or a line that the voice forbids
// (an exclamation mark, a capital, more than two sentences, a closer that is no question, …) is a
// config error with its line.
Result<VoiceLines> read_voice_lines(std::span<const TomlEntry> entries);

// Thread safe. The same request gives the same answer; consecutive turns get different lines where
// a list has two or more.
class ExtractiveVoice final : public Generator {
 public:
  explicit ExtractiveVoice(VoiceLines lines) : lines_(std::move(lines)) {}

  std::string name() const override { return "extractive"; }
  bool reads_prompt() const override { return false; }
  // Cites the first hit that has something to quote, and, when the answer is direct, the next of
  // another slug and title if its score comes close; when none has, the first, without a quote.
  // Hits must be free of what may not be cited. A word at a time; fails only when stopped.
  Result<Finish> stream(const Request& request, const std::function<void()>& accepted,
                        const DeltaSink& sink, std::stop_token stop) override;
  std::vector<std::optional<std::string>> frame(std::span<const Hit> hits,
                                                std::stop_token stop) override;

  // The whole answer of a request.
  std::string answer(const Request& request) const;

 private:
  const std::string& opener(const Request& request, const Hit& hit, uint64_t seed) const;

  VoiceLines lines_;
};

}  // namespace stoka::generate
