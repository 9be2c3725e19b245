// tests/fake_upstream: the fake model server as a program.
#include <fmt/format.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/upstream/fake_upstream.h"

namespace {

using namespace stoka::testing;

constexpr const char* kUsage = R"(usage: tests/fake_upstream [options]

A scriptable model server on loopback, for trying stoka without a model. It prints its address and
runs until it is interrupted. It writes one line for each request to stderr.

  --port N         default: any free port
  --dialect NAME   of chat streams and errors, default vllm
  --key KEY        required as "Authorization: Bearer KEY"
  --model NAME     default fake-model
  --dim N          numbers in an embedding, default 64
  --most-batch N   limit of texts in a request to TEI's endpoints, default 32
  --most-text N    limit of bytes in one text, default 8192
  --reranker       TEI: /info says reranker
  --logits         rerank scores are logits
  --behave JSON    queue a behaviour; may be repeated
  --quiet          no lines on stderr

TEI:     GET /info /health, POST /embed, /rerank with "texts"
others:  GET /v1/models, POST /v1/embeddings, /v1/rerank, /rerank, /v1/chat/completions,
         /v1/completions
control: POST /_behave with a behaviour, POST /_reset, GET /_seen

Example: the next chat answer breaks off.
  curl -d '{"path":"/chat/completions","fault":"cut"}' http://127.0.0.1:PORT/_behave
)";

void print_help() {
  fmt::print("{}\ndialects:\n", kUsage);
  for (const NamedDescription& entry : kDialects)
    fmt::print("  {:<17}{}\n", entry.name, entry.description);
  fmt::print("\nbehaviours, a JSON object:\n");
  for (const NamedDescription& entry : kBehaviours)
    fmt::print("  {:<17}{}\n", entry.name, entry.description);
  fmt::print("\nfaults, and the kinds of request they are limited to:\n");
  for (const Fault& entry : kFaults)
    fmt::print("  {:<17}{}{}\n", entry.name, entry.description,
               *entry.request_kinds == '\0' ? "" : fmt::format(" ({})", entry.request_kinds));
}

struct Arguments {
  FakeOptions options;
  std::vector<std::string> behaviours;
  bool help = false;
};

Arguments parse(const std::vector<std::string>& words) {
  Arguments out;
  out.options.verbose = true;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) throw std::invalid_argument(word + " needs a value");
      return words[++i];
    };
    auto number = [&](unsigned long most) {
      const std::string& text = value();
      char* end = nullptr;
      const unsigned long out_of = std::strtoul(text.c_str(), &end, 10);
      if (text.empty() || *end != '\0' || out_of > most)
        throw std::invalid_argument(fmt::format("{} is a number up to {}", word, most));
      return out_of;
    };
    FakeOptions& options = out.options;
    if (word == "--help" || word == "-h")
      out.help = true;
    else if (word == "--port")
      options.port = static_cast<uint16_t>(number(65535));
    else if (word == "--dialect")
      options.dialect = value();
    else if (word == "--key")
      options.key = value();
    else if (word == "--model")
      options.model = value();
    else if (word == "--dim")
      options.dim = std::max(1, static_cast<int>(number(65536)));
    else if (word == "--most-batch")
      options.max_batch = number(1000000);
    else if (word == "--most-text")
      options.max_text_bytes = number(100000000);
    else if (word == "--reranker")
      options.reranker = true;
    else if (word == "--logits")
      options.logits = true;
    else if (word == "--behave")
      out.behaviours.push_back(value());
    else if (word == "--quiet")
      options.verbose = false;
    else
      throw std::invalid_argument("no option is called " + word + "; see --help");
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments arguments = parse({argv + 1, argv + argc});
  if (arguments.help) {
    print_help();
    return 0;
  }
  // Signals are blocked before any thread starts, so that only sigwait receives them.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int wanted : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, wanted);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  FakeUpstream server(arguments.options);
  for (const std::string& behaviour : arguments.behaviours) server.queue_behaviour(behaviour);
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  int received = 0;
  sigwait(&signals, &received);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "fake_upstream: {}\n", error.what());
  return 2;
}
