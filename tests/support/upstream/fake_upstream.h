// A fake model server on loopback, which imitates the dialects of real servers and their faults. A
// test runs it in its own process; the program tests/fake_upstream runs it on its own.
//
// A behaviour is a JSON object that says how a request is answered; without one the response is
// correct. The first behaviour in the queue that matches a request is applied to it. It matches if
// its path matches and its fault is possible for that kind of request (a stream without [DONE] only
// for a streamed chat). kBehaviours and kFaults list the names, as --help does. An unknown name is
// an error, because a behaviour without effect would hide a mistake in a test.
//
// Paths: TEI's /info, /health, /embed, /rerank with "texts"; under any /v1: models, embeddings,
// rerank with "documents" (also without /v1), chat/completions, completions. The running server is
// controlled with POST /_behave (a behaviour), POST /_reset and GET /_seen.
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
  // Set if the client disconnected before the response was complete: the time since the head was
  // sent, or since the request was read.
  std::optional<std::chrono::milliseconds> disconnected_after;
  bool complete = false;  // the whole response was sent; call wait_for() before
};

struct FakeOptions {
  uint16_t port = 0;             // 0: any free port
  std::string dialect = "vllm";  // one of kDialects
  std::string key;               // required as "Authorization: Bearer"; empty: none
  int dim = 64;                  // of embeddings
  size_t max_batch = 32;         // TEI's limit of inputs in one request
  size_t max_text_bytes = 8192;  // bytes of one input; a longer one is refused
  bool reranker = false;         // TEI: /info says reranker, and /embed is an error
  bool logits = false;           // rerank scores are logits, as they always are in llamacpp
  std::string model = "fake-model";
  bool verbose = false;  // one line for each request on stderr
};

class FakeUpstream {
 public:
  // Listens when it returns; throws if it cannot.
  explicit FakeUpstream(FakeOptions options = {});
  ~FakeUpstream();  // closes all connections
  FakeUpstream(const FakeUpstream&) = delete;
  FakeUpstream& operator=(const FakeUpstream&) = delete;

  std::string url() const;  // "http://127.0.0.1:PORT"
  uint16_t port() const;
  // Adds a behaviour to the queue; throws std::invalid_argument, which says what is wrong.
  void queue_behaviour(const std::string& json);
  void reset();  // clears the queue and the requests that were seen
  std::vector<SeenRequest> requests() const;
  size_t connections() const;  // accepted so far
  // Waits until `count` requests have ended; false after five seconds.
  bool wait_for_requests(size_t count) const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

// A name and its description, for --help.
struct NamedDescription {
  const char* name;
  const char* description;
};
extern const std::vector<NamedDescription> kBehaviours;
extern const std::vector<NamedDescription> kDialects;

struct Fault {
  const char* name;
  const char* request_kinds;  // the request_kind() names for which it is possible; "": all
  const char* description;
};
extern const std::vector<Fault> kFaults;

}  // namespace stoka::testing
