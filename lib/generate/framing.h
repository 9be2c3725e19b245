// Lines that frame recommendations: what a model is asked, and what of its answer is used.
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

// What a model is told, and examples of a piece and its line.
struct FramingVoice {
  std::string task;
  std::vector<std::string> pieces;
  std::vector<std::string> lines;  // one a piece
};

// From golden/framing.toml. A missing task, an unknown key, or pieces and lines of different number
// are a config error.
Result<FramingVoice> read_framing_voice(std::span<const TomlEntry> entries);

using Lines = std::vector<std::optional<std::string>>;

// A text whose next line is the hit's: for a completion.
std::string framing_prompt(const Hit& hit, const FramingVoice& voice);

// One question about all hits, numbered from 1: for a chat.
std::vector<Message> framing_messages(std::span<const Hit> hits, const FramingVoice& voice);

// The first line of what a model wrote, trimmed, without quotes around it, cut to a line's length.
// Nothing if it is empty, or markup, or has emoji.
std::optional<std::string> framing_line(std::string_view written);

// The lines of an answer to framing_messages(), by their numbers; where none has one, by their
// order if there are as many as wanted.
Lines numbered_lines(std::string_view answer, size_t count);

// The lines of an answer to a completion of `count` prompts, by their index; nothing unless there
// is a choice for every prompt.
std::optional<Lines> completed_lines(std::string_view body, size_t count);

}  // namespace stoka::generate
