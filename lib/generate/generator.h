// Generators write the text of an answer, with <cite slug="…" quote="…"/> tags in it. The text is
// untrusted: cite/ decides what a visitor sees.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "golden/site_facts.h"
#include "model/event.h"
#include "model/hit.h"
#include "model/message.h"
#include "net/event_loop.h"

namespace stoka::generate {

struct GenerationRequest {
  std::vector<Message> messages;  // the prompt of a model
  // The facts from which the prompt was built. The extractive voice uses these instead of a prompt.
  std::string query;
  bool same_topic = false;  // a follow-up question whose best hit is on the topic of the session
  std::string opening;      // the line before the first citation; if empty, the voice chooses it
  Confidence confidence = Confidence::direct;
  bool low_confidence = false;
  std::span<const Hit> hits;  // the retrieved chunks, best first, at most five
  // For each hit, the contents of all chunks of its document; if empty, only the hit's chunk is
  // used.
  std::vector<std::span<const std::string>> documents;
  int turns = 0;           // the number of earlier turns in the session
  std::string session_id;  // decides the order in which the session uses the lines of the voice
  golden::SiteFacts site;  // what a line of the voice may claim of the site
};

// Receives pieces of text, split anywhere.
using DeltaSink = std::function<void(std::string_view)>;

enum class FinishReason {
  complete,
  length,     // the model reached max_tokens
  truncated,  // the stream ended without a finish reason
};

// Receives a generated answer. It is called on the thread of the event loop.
class GenerationSink {
 public:
  virtual ~GenerationSink() = default;
  virtual void accepted() = 0;  // called once, when the server has accepted the request
  virtual void text(std::string_view delta) = 0;  // the text may be split anywhere
  virtual void finished() = 0;                    // always the last call; it may destroy the stream
};

// An answer that is being generated on an event loop.
class GenerationStream {
 public:
  // Cancels the generation, on the loop's thread: closes the connection. No callback follows.
  virtual ~GenerationStream() = default;
  // Starts the generation. Later loop iterations call the reader, which must outlive the stream.
  virtual void start(net::EventLoop& loop, GenerationSink& reader) = 0;
  // Stops reading from the server until resume(). The reader may still get text already read.
  virtual void pause() {}
  virtual void resume() {}
  // The outcome. Any thread may call result(), after the last callback or after the generation was
  // given up. The call may block, to ask the server why it failed. An error without a call of
  // accepted() means that nothing was written; otherwise the text so far is kept. Errors:
  // unavailable, timeout, protocol, busy, config (a key or model that the server rejects),
  // cancelled.
  virtual Result<FinishReason> result(std::stop_token stop) = 0;
};

class Generator {
 public:
  virtual ~Generator() = default;
  virtual std::string name() const = 0;
  // Whether the generator sends Request::messages to a model, so that a prompt must be built.
  virtual bool reads_prompt() const = 0;
  // Checks that the generator works, by asking the model for one token. Returns the name of the
  // model; empty if there is none, or the server does not name it. Errors are those of an answer.
  virtual Result<std::string> probe(std::stop_token) { return std::string(); }
  // Prepares an answer. The call may block, to ask the server for its models. The hits and
  // documents of the request are not used afterwards.
  virtual Result<std::unique_ptr<GenerationStream>> begin(const GenerationRequest& request,
                                                          std::stop_token stop) = 0;
  // For each hit a line that introduces it as a recommendation. Lines that could not be generated
  // are missing, so that recommendations never fail because of them. Lines are untrusted, like
  // answers.
  virtual std::vector<std::optional<std::string>> frame(std::span<const Hit> hits,
                                                        std::stop_token) {
    return std::vector<std::optional<std::string>>(hits.size());
  }
};

// A stream for an answer that is already known: its outcome, and the pieces to pass on.
std::unique_ptr<GenerationStream> known_answer(
    std::vector<std::string> pieces, Result<FinishReason> outcome = FinishReason::complete);

// Generates an answer on a loop of the pool. The calling thread waits until the answer has ended
// and passes its text on. `accepted` is called once, before the first text. After a stop request no
// text is passed on, and the outcome is `cancelled` unless the answer was complete.
Result<FinishReason> generate_blocking(net::EventLoopPool& loops, Generator& generator,
                                       const GenerationRequest& request,
                                       const std::function<void()>& accepted, const DeltaSink& sink,
                                       std::stop_token stop);

}  // namespace stoka::generate
