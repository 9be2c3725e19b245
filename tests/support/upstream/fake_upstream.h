// A model server that is not one: speaks the dialects of the real ones and their faults, on
// loopback. In a test it lives in the process; tests/fake_upstream starts it by hand.
//
// What it does to a request is a behaviour, one JSON object; without one it answers well. The first
// of those queued that fits a request is applied to it: its path fits, and its fault can happen to
// that kind of request (a stream without [DONE] only to a streamed chat). kBehaviours and kFaults
// list them, as --help does. Unknown names are errors: a script that does nothing is worse than
// none.
//
// Paths: TEI's /info, /health, /embed, /rerank with "texts"; under any /v1: models, embeddings,
// rerank with "documents" (at the root too), chat/completions, completions. While it runs it is
// asked by POST /_behave (a behaviour), POST /_reset, GET /_seen.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stoka::testing {

struct SeenRequest {
  std::string method;
  std::string path;  // with its query string
  std::string authorization;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  // When the client closed or reset the connection before the answer was complete, measured from
  // when the head of the answer was sent (or the request read).
  std::optional<std::chrono::milliseconds> left_after;
  bool complete = false;  // the answer was sent whole; wait_for() first
};

struct FakeOptions {
  uint16_t port = 0;             // 0: any
  std::string dialect = "vllm";  // one of kDialects
  std::string key;               // wanted as "Authorization: Bearer"; empty: none
  int dim = 64;                  // of embeddings
  size_t most_batch = 32;        // TEI's limit of inputs
  size_t most_text = 8192;       // bytes a model reads of one input, above it: too long
  bool reranker = false;         // TEI: /info says reranker, and /embed is refused
  bool logits = false;           // rerank scores are logits, as llamacpp's always are
  std::string model = "fake-model";
  bool verbose = false;  // one line a request on stderr
};

class FakeUpstream {
 public:
  explicit FakeUpstream(
      FakeOptions options = {});  // listens when this returns; throws if it cannot
  ~FakeUpstream();                // cuts what is open
  FakeUpstream(const FakeUpstream&) = delete;
  FakeUpstream& operator=(const FakeUpstream&) = delete;

  std::string url() const;  // "http://127.0.0.1:PORT"
  uint16_t port() const;
  void behave(const std::string& json);  // queued; throws std::invalid_argument with what is wrong
  void reset();                          // forgets behaviours and requests
  std::vector<SeenRequest> seen() const;
  size_t connections() const;  // accepted so far
  // Waits until `count` requests were seen to their end; false after five seconds.
  bool wait_for(size_t count) const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

// Names with what each does, for --help.
struct Described {
  const char* name;
  const char* what;
};
extern const std::vector<Described> kBehaviours;
extern const std::vector<Described> kDialects;

struct Fault {
  const char* name;
  const char* on;  // kinds of request it can happen to, by the names of kind(); "": any
  const char* what;
};
extern const std::vector<Fault> kFaults;

}  // namespace stoka::testing
