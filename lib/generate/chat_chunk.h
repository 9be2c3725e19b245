// What one JSON text of a chat completion says: a chunk of a stream, or a whole answer. All that
// servers do differently in JSON ends here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace stoka::generate {

struct ChatChunk {
  std::string text;         // of the first choice; halves of characters marked, see surrogates.h
  size_t thought = 0;       // bytes of reasoning
  std::string finish;       // finish_reason; empty: none yet
  bool has_choice = false;  // there was a first choice, whatever it said
  bool is_error = false;
  int64_t code = 0;           // of the error, where it is a number
  int64_t prompt_tokens = 0;  // of usage; 0: not said
  int64_t completion_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt; not all servers count them in
};

enum class ChatShape { chunk, whole };  // the text is in "delta", or in "message"

// A protocol error, without the key, for what is no JSON object. Builds no tree: a delta costs its
// text.
Result<ChatChunk> read_chat_json(std::string_view json, ChatShape shape, const Secret& key = {});

}  // namespace stoka::generate
