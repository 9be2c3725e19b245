// Decodes the answer of a chat completion, pushed as it comes: a stream of events, or one JSON text
// from a server that does not stream. No thread, no I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "generate/chat_chunk.h"
#include "generate/generator.h"
#include "generate/surrogates.h"
#include "generate/think_filter.h"
#include "net/sse.h"
#include "net/transport.h"

namespace stoka::generate {

struct ChatLimits {
  size_t text = 64u << 10;      // bytes of answer
  size_t thought = 256u << 10;  // bytes; a stream of them one by one is 16 MB
  size_t body = 4u << 20;       // bytes of an answer that is not streamed
};

struct ChatEnd {
  Finish finish = Finish::complete;
  int64_t prompt_tokens = 0;  // that the model read; 0: the server does not say, or had some cached
  bool thought_aloud = false;  // see ThinkFilter::stray()
};

// head(), then push() until it fails or has enough, then finish(). An error is the last word: what
// was handed on before it stands. Errors do not name the server. Not thread safe.
class ChatDecoder {
 public:
  // The sink gets the text of the answer, never empty, without what the model thought.
  // Errors repeat what the server said, without the key.
  explicit ChatDecoder(DeltaSink sink, ChatLimits limits = {}, Secret key = {});

  // A protocol error for anything but an event stream or JSON.
  Result<> head(std::string_view content_type);

  // Errors: what the server said went wrong; nonsense; an answer that the model or the server's
  // filter refused to give. Above a limit the answer is cut there, and that is enough.
  Result<net::Heard> push(std::string_view bytes);

  // The model has finished and nothing has failed: only counts may follow, and the end. What is
  // heard is ending from then on.
  bool finished() const { return !finish_.empty() && !failed_; }

  // Complete is what gave a reason for its end. An answer without a visible character is an error.
  Result<ChatEnd> finish();

 private:
  Result<bool> event(const net::SseEvent& event);
  Result<> take(ChatChunk chunk);
  Result<> whole();
  void pass(std::string_view text);
  Result<ChatEnd> conclude() const;
  Error server_error(std::string_view body, int64_t code) const;
  size_t thought() const { return thought_ + filter_.thought(); }
  bool endless() const;

  const DeltaSink sink_;
  const ChatLimits limits_;
  const Secret key_;
  bool streamed_ = true;
  net::SseDecoder events_;
  std::string body_;
  SurrogateJoiner joiner_;
  ThinkFilter filter_;
  size_t said_ = 0;     // bytes of text, the thoughts in it included
  size_t passed_ = 0;   // bytes to the sink
  size_t thought_ = 0;  // bytes, beside the filter's
  bool visible_ = false;
  bool over_ = false;  // [DONE], or a limit
  bool failed_ = false;
  std::string finish_;  // finish_reason
  int64_t prompt_tokens_ = 0;
  int64_t completion_tokens_ = 0;
  bool cached_ = false;
};

}  // namespace stoka::generate
