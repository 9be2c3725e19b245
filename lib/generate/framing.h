// Framing lines, which introduce recommendations: the prompts for a model, and the parsing of its
// answers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml.h"
#include "model/hit.h"
#include "model/message.h"

namespace stoka::generate {

// The instruction for the model, and examples: pieces of content, each with its framing line.
struct FramingVoice {
  std::string task;
  std::vector<std::string> pieces;
  std::vector<std::string> lines;  // the lines, one for each piece
};

// Reads golden/framing.toml. A missing task, an unknown key, or different numbers of example pieces
// and example lines are a config error.
Result<FramingVoice> read_framing_voice(std::span<const TomlEntry> entries);

using FramingLines = std::vector<std::optional<std::string>>;

// A completion prompt, which the model continues with the line for the hit.
std::string framing_prompt(const Hit& hit, const FramingVoice& voice);

// A chat prompt for the lines of all hits, which are numbered from 1.
std::vector<Message> framing_messages(std::span<const Hit> hits, const FramingVoice& voice);

// The first line that a model wrote, trimmed, without quotes around it and cut to a maximal length.
// Returns nothing if that line is empty or contains markup or emoji.
std::optional<std::string> framing_line(std::string_view written);

// The lines in an answer to framing_messages(), assigned by their numbers. If no line has a number
// and there are `count` lines, they are assigned by their order.
FramingLines numbered_lines(std::string_view answer, size_t count);

// The lines in a response to a completion of `count` prompts, assigned by index. Returns nothing if
// the response lacks a choice for one of the prompts.
std::optional<FramingLines> completed_lines(std::string_view body, size_t count);

}  // namespace stoka::generate
