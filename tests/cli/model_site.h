// A machine whose three parts are fake model servers.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>

#include "machine.h"
#include "support/json.h"
#include "support/upstream/fake_upstream.h"

namespace stoka::testing {

using Json = nlohmann::json;

inline constexpr const char* kQuestion = "tell me about bounded execution";

inline FakeOptions reranker_options() {
  FakeOptions options;
  options.reranker = true;
  return options;
}

inline FakeOptions options_for(const std::string& dialect) {
  FakeOptions options;
  options.dialect = dialect;
  return options;
}

// The index is built once in each process and copied.
struct ModelSite {
  FakeUpstream embedder, reranker{reranker_options()}, generator;
  Machine machine;

  explicit ModelSite(const std::string& dialect = "vllm") : generator(options_for(dialect)) {
    auto& env = machine.environment();
    env["STOKA_EMBED_URL"] = embedder.url();
    env["STOKA_RERANK_URL"] = reranker.url();
    env["STOKA_GEN_URL"] = generator.url();
    std::filesystem::create_directories(machine.database().parent_path());
    std::filesystem::copy_file(index(), machine.database());
  }

  ProcessResult ask(std::vector<std::string> more = {}) {
    more.insert(more.begin(), "chat");
    more.push_back(kQuestion);
    return machine.stoka(more);
  }

 private:
  static const std::filesystem::path& index() {
    static Machine maker;
    static const std::filesystem::path made = [] {
      FakeUpstream server;
      maker.environment()["STOKA_EMBED_URL"] = server.url();
      maker.index_sample();
      return maker.database();
    }();
    return made;
  }
};

inline size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline const std::string& expected_answer() {
  static const std::string answer = ModelSite().ask().out;
  return answer;
}

}  // namespace stoka::testing
