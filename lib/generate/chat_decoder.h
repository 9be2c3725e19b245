// Incremental decoder for the response to a chat completion: an event stream, or one JSON text from
// a server that does not stream. It uses no thread, I/O or clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"
#include "generate/generator.h"
#include "generate/surrogates.h"
#include "generate/think_filter.h"
#include "net/sse.h"
#include "net/transport.h"

namespace stoka::generate {

// The content of one JSON text: a chunk of a stream, or a whole response. Differences between the
// JSON of different servers are resolved here.
struct ChatChunk {
  std::string text;  // the text of the first choice; unpaired surrogates are marked (surrogates.h)
  size_t reasoning_bytes = 0;
  std::string finish;       // finish_reason; empty if there is none yet
  bool has_choice = false;  // the first choice was present, even if its text is empty
  bool is_error = false;
  int64_t code = 0;           // the error code, if it is a number
  int64_t prompt_tokens = 0;  // the token count of the prompt from the field usage; zero if unknown
  int64_t completion_tokens = 0;
  int64_t cached_tokens = 0;  // cached tokens; not all servers include them in prompt_tokens
};

enum class ChatShape { chunk, whole };  // chunk has "delta", whole has "message"

// Decodes JSON text. Text that is not a JSON object is a protocol error, which does not contain the
// key. No tree is built, so that the cost is proportional to the length of the text.
Result<ChatChunk> read_chat_json(std::string_view json, ChatShape shape, const Secret& key = {});

struct ChatLimits {
  size_t text = 64u << 10;        // the maximal number of bytes of the answer
  size_t reasoning = 256u << 10;  // the maximal number of bytes of the reasoning
  size_t body = 4u << 20;         // the maximal number of bytes of a response without a stream
};

// The names that hints use for the settings of a request.
struct ChatSettingNames {
  std::string model = "model";
  std::string max_tokens = "the limit of tokens";
  std::string extra = "an extra field of the request";
};

struct ChatEnd {
  FinishReason finish = FinishReason::complete;
  int64_t prompt_tokens = 0;       // zero if the server sends no number, or had some tokens cached
  bool reasoning_in_text = false;  // reasoning was part of the text; see ThinkFilter::stray_tag()
};

// Decodes a response: call head(), push() until it fails or returns `stop_reading`, and finish().
// Text passed on before an error is valid. Errors do not name the server. Not thread safe.
class ChatDecoder {
 public:
  // The sink receives the text of the answer, without reasoning and in pieces that are not empty.
  // The key is redacted in errors, which repeat the server's messages.
  explicit ChatDecoder(DeltaSink sink, ChatLimits limits = {}, Secret key = {},
                       ChatSettingNames names = {});

  // Chooses a decoder. Any content type but an event stream or JSON is a protocol error.
  Result<> head(std::string_view content_type);

  // Fails if the server reports an error or sends invalid data, or if its content filter ended the
  // answer. At a limit the answer is cut and `stop_reading` is returned.
  Result<net::BodyProgress> push(std::string_view bytes);

  // Whether the finish reason has arrived without a failure: only token counts and the end of the
  // stream may follow. From then on push() returns `content_complete`.
  bool finished() const { return !finish_.empty() && !failed_; }

  // Ends the response. The outcome is `complete` only if the server gave a finish reason. An answer
  // without a visible character is an error.
  Result<ChatEnd> finish();

 private:
  Result<bool> on_event(const net::SseEvent& event);
  Result<> add(ChatChunk chunk);
  Result<> parse_body();
  void emit(std::string_view text);
  Result<ChatEnd> outcome() const;
  Error server_error(std::string_view body, int64_t code) const;
  size_t reasoning_bytes() const { return reasoning_bytes_ + filter_.reasoning_bytes(); }
  bool over_limit() const;

  const DeltaSink sink_;
  const ChatLimits limits_;
  const Secret key_;
  const ChatSettingNames names_;
  bool streamed_ = true;
  net::SseDecoder events_;
  std::string body_;
  SurrogateJoiner joiner_;
  ThinkFilter filter_;
  size_t text_bytes_ = 0;       // bytes of text, including reasoning that was part of the text
  size_t emitted_bytes_ = 0;    // bytes passed to the sink
  size_t reasoning_bytes_ = 0;  // bytes in reasoning fields, not those that the filter removed
  bool visible_ = false;
  bool done_ = false;  // [DONE] was received, or a limit was reached
  bool failed_ = false;
  std::string finish_;  // the finish_reason of the response
  int64_t prompt_tokens_ = 0;
  int64_t completion_tokens_ = 0;
  bool cached_ = false;
};

}  // namespace stoka::generate
