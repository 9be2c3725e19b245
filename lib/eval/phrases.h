// The phrase lists of evals/phrases.toml.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cite/phrase_list.h"
#include "eval/sentence.h"

namespace stoka::eval {

using cite::count_fillers;
using cite::find_phrase;
using cite::is_phrase_end;
using cite::PhraseList;
using cite::Phrases;

// Parses phrases.toml. Anything but known lists of phrases is a config error with its line.
Result<Phrases> read_phrases(std::string_view toml);

}  // namespace stoka::eval
