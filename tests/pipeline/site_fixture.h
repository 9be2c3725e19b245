// A fixture with an engine of real parts, an index of the sample site and a fixed clock.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "embed/builtin.h"
#include "generate/extractive_voice.h"
#include "pipeline/index_run.h"
#include "pipeline/turn.h"
#include "rerank/builtin.h"
#include "store/open.h"
#include "support/temp_folder.h"

namespace stoka::test {

namespace fs = std::filesystem;

inline const Instant kNow{std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) +
                          std::chrono::hours(12)};

using testing::TempFolder;

struct RecordingLog final : Log {
  std::mutex mutex;
  std::vector<std::string> warnings;
  void write(LogLevel level, std::string_view message) override {
    std::lock_guard lock(mutex);
    if (level == LogLevel::warning) warnings.emplace_back(message);
  }
};

inline store::IndexIdentity identity() {
  return {std::string(embed::kBuiltinName), 0, ingest::ChunkOptions().describe(), ""};
}

inline pipeline::IndexRequest index_request(std::vector<fs::path> paths) {
  pipeline::IndexRequest request;
  request.paths = std::move(paths);
  request.identity = identity();
  return request;
}

// The path of an index of the sample site, which is made once in a process. Tests copy it.
inline const fs::path& sample_index() {
  static TempFolder folder;
  static const fs::path index = [] {
    fs::path path = folder.path / "sample.db";
    auto store = store::open("sqlite:" + path.string(), store::OpenMode::read_write).value();
    NullLog log;
    embed::BuiltinEmbedder embedder(*store);
    pipeline::run_index(store.get(), embedder,
                        index_request({fs::path(STOKA_SOURCE_DIR) / "evals/site"}),
                        FixedClock(kNow), log)
        .value();
    return path;
  }();
  return index;
}

// Every part may be replaced before engine() is called for the first time.
struct SiteFixture {
  TempFolder folder;
  std::string url = "sqlite:" + (folder.path / "stoka.db").string();
  FixedClock clock{kNow};
  SeededUuidSource ids{1};
  RecordingLog log;
  golden::Golden golden = golden::load().value();
  route::Router router = route::Router::make(golden.router).value();
  cite::GuardRules guard = cite::read_guard_rules(golden.guard).value();
  std::unique_ptr<store::Store> store;
  std::unique_ptr<embed::Embedder> embedder;
  std::unique_ptr<rerank::Reranker> reranker;
  std::unique_ptr<generate::Generator> generator;
  pipeline::Settings settings;

  explicit SiteFixture(bool with_sample = true) {
    if (with_sample) fs::copy_file(sample_index(), folder.path / "stoka.db");
    store = store::open(url, store::OpenMode::read_write).value();
    embedder = std::make_unique<embed::BuiltinEmbedder>(*store);
    reranker = std::make_unique<rerank::BuiltinReranker>(*store);
    generator = std::make_unique<generate::ExtractiveVoice>(
        generate::read_voice_lines(golden.voice_lines).value());
    settings.identity = identity();
  }

  pipeline::Engine& engine() {
    if (!engine_)
      engine_ = std::make_unique<pipeline::Engine>(
          pipeline::Engine::Parts{*store, *store, *embedder, *reranker, *generator, golden, router,
                                  guard, clock, ids, log},
          settings);
    return *engine_;
  }

 private:
  std::unique_ptr<pipeline::Engine> engine_;
};

// The events and the result of a turn.
struct RecordedTurn {
  std::vector<Event> events;
  Result<pipeline::TurnResult> result = fail(ErrorKind::internal, "not run");

  std::string text() const {
    std::string out;
    for (const Event& event : events)
      if (auto token = std::get_if<TokenEvent>(&event)) out += token->text;
    return out;
  }
  std::vector<Citation> citations() const {
    std::vector<Citation> out;
    for (const Event& event : events)
      if (auto cite = std::get_if<CiteEvent>(&event)) out.push_back(cite->citation);
    return out;
  }
  std::vector<std::string> cited() const {
    std::vector<std::string> out;
    for (const Citation& citation : citations()) out.push_back(citation.slug);
    return out;
  }
  bool cites(std::string_view slug) const {
    std::vector<std::string> slugs = cited();
    return std::find(slugs.begin(), slugs.end(), slug) != slugs.end();
  }
  const ReadyEvent& ready() const { return std::get<ReadyEvent>(events.front()); }
  template <class E>
  size_t count() const {
    return static_cast<size_t>(std::count_if(events.begin(), events.end(), [](const Event& event) {
      return std::holds_alternative<E>(event);
    }));
  }
  // Whether the first event is ready and the last is done or error, each exactly once.
  bool well_formed() const {
    return !events.empty() && std::holds_alternative<ReadyEvent>(events.front()) &&
           count<ReadyEvent>() == 1 && count<DoneEvent>() + count<ErrorEvent>() == 1 &&
           (std::holds_alternative<DoneEvent>(events.back()) ||
            std::holds_alternative<ErrorEvent>(events.back()));
  }
};

// Runs a turn and records its events.
inline RecordedTurn ask(SiteFixture& fixture, pipeline::TurnRequest request,
                        std::stop_token stop = {}) {
  RecordedTurn turn;
  turn.result = pipeline::run_turn(
      fixture.engine(), request, [&](const Event& event) { turn.events.push_back(event); }, stop);
  return turn;
}

inline RecordedTurn ask(SiteFixture& fixture, std::string query, std::string session = "") {
  return ask(fixture, pipeline::TurnRequest{std::move(query), std::move(session), "", "", {}});
}

}  // namespace stoka::test
