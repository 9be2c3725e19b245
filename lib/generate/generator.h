// Writes the answer's text, with <cite slug="…" quote="…"/> tags inline. Whatever it writes is
// untrusted: cite/ decides what of it a visitor sees.
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
#include "model/event.h"
#include "model/hit.h"
#include "model/message.h"
#include "net/loop.h"

namespace stoka::generate {

struct Request {
  std::vector<Message> messages;  // what a model reads
  // What the extractive voice reads instead: the same facts before they became a prompt.
  std::string query;
  bool same_topic = false;  // a follow-up whose best hit is on the topic of the session
  Confidence confidence = Confidence::direct;
  bool low_confidence = false;
  std::span<const Hit> hits;  // best first, at most five
  // Of each hit, the contents of all chunks of its document; empty: the hit's chunk alone.
  std::vector<std::span<const std::string>> documents;
  int turns = 0;  // before this one
};

// Text as it comes, in any split.
using DeltaSink = std::function<void(std::string_view)>;

enum class Finish {
  complete,
  length,     // the model was cut at max_tokens
  truncated,  // the stream ended without saying that it was complete
};

struct Probe {
  std::string model;  // that writes; empty: none, or the server does not name it
};

// Reads along while an answer is written on a loop, on the loop's thread.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual void accepted() = 0;                    // once, before the first text
  virtual void text(std::string_view delta) = 0;  // in any split
  virtual void over() = 0;                        // the last call; may destroy the writing
};

// An answer that is ready to be written.
class Writing {
 public:
  // On the thread of its loop. The upstream sees the connection close, nobody is called any more.
  virtual ~Writing() = default;
  // Calls back from a later round of the loop. The reader must outlive it.
  virtual void start(net::Loop& loop, Reader& reader) = 0;
  // No more is read from upstream until resume(); what was read already may still be heard.
  virtual void pause() {}
  virtual void resume() {}
  // How it went, as Generator::stream() says; on any thread, after over() or instead of it. May
  // ask the server what was wrong.
  virtual Result<Finish> result(std::stop_token stop) = 0;
};

class Generator {
 public:
  virtual ~Generator() = default;
  virtual std::string name() const = 0;
  // True if it sends the request's messages to a model (so that a prompt must be built).
  virtual bool reads_prompt() const = 0;
  // Whether it can write: a model is asked for a word. Errors as of stream().
  virtual Result<Probe> probe(std::stop_token) { return Probe{}; }
  // Writes the whole answer into the sink, on the calling thread. `accepted` is called once, before
  // the first delta, when the request was taken; errors before it can still be told plainly, after
  // it what was written stands. Errors: unavailable, timeout, protocol, busy, config (a key or a
  // model that the server does not take), cancelled.
  virtual Result<Finish> stream(const Request& request, const std::function<void()>& accepted,
                                const DeltaSink& sink, std::stop_token stop) = 0;
  // The same for a loop: what must be known first is asked for now, and may block. The request's
  // hits and documents need not live on. Unless overridden, all is written now, to be read later.
  virtual Result<std::unique_ptr<Writing>> begin(const Request& request, std::stop_token stop);
  // One line for each hit that frames it as a recommendation, all from one request; empty where
  // there is none, so that a failure never costs the recommendation. Untrusted, like an answer.
  virtual std::vector<std::optional<std::string>> frame(std::span<const Hit> hits,
                                                        std::stop_token) {
    return std::vector<std::optional<std::string>>(hits.size());
  }
};

}  // namespace stoka::generate
