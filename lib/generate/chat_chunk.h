// Parser for the JSON of a chat completion: a chunk of a stream, or a whole response. It handles
// all differences between the JSON of different servers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace stoka::generate {

struct ChatChunk {
  std::string text;  // of the first choice; unpaired surrogates are marked (surrogates.h)
  size_t reasoning_bytes = 0;
  std::string finish;       // finish_reason; empty if there is none yet
  bool has_choice = false;  // the first choice was there, even if empty
  bool is_error = false;
  int64_t code = 0;           // the error code, if it is a number
  int64_t prompt_tokens = 0;  // from usage; zero if unknown
  int64_t completion_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt; not all servers include them in prompt_tokens
};

enum class ChatShape { chunk, whole };  // the text is in "delta", or in "message"

// Text that is not a JSON object is a protocol error, which does not contain the key. The parser
// builds no tree, so that the cost is proportional to the text.
Result<ChatChunk> read_chat_json(std::string_view json, ChatShape shape, const Secret& key = {});

}  // namespace stoka::generate
