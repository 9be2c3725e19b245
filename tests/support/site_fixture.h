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

namespace stoka::testing {

namespace fs = std::filesystem;

inline const Instant kNow{std::chrono::sys_days(std::chrono::year(2026) / 11 / 21) +
                          std::chrono::hours(12)};

struct RecordingLog final : Log {
  std::mutex mutex;
  std::vector<std::string> warnings;
  void write(LogLevel level, std::string_view message) override {
    std::lock_guard lock(mutex);
    if (level == LogLevel::warning) warnings.emplace_back(message);
  }
};

store::IndexIdentity identity();

pipeline::IndexRequest index_request(std::vector<fs::path> paths);

// The path of an index of the sample site, which is made once in a process. Tests copy it.
const fs::path& sample_index();

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

  // With the index of the sample site, or an empty one.
  explicit SiteFixture(bool with_sample = true)
      : SiteFixture(with_sample ? sample_index() : fs::path()) {}
  // With a copy of an index.
  explicit SiteFixture(const fs::path& index);

  pipeline::Engine& engine();

 private:
  std::unique_ptr<pipeline::Engine> engine_;
};

// The events and the result of a turn.
struct RecordedTurn {
  std::vector<Event> events;
  Result<pipeline::TurnResult> result = fail(ErrorKind::internal, "not run");

  std::string text() const;
  std::vector<Citation> citations() const;
  std::vector<std::string> cited() const;
  bool cites(std::string_view slug) const;
  const ReadyEvent& ready() const { return std::get<ReadyEvent>(events.front()); }
  template <class E>
  size_t count() const {
    return static_cast<size_t>(std::count_if(events.begin(), events.end(), [](const Event& event) {
      return std::holds_alternative<E>(event);
    }));
  }
  // Whether the first event is ready and the last is done or error, each exactly once.
  bool well_formed() const;
};

// Runs a turn and records its events.
RecordedTurn ask(SiteFixture& fixture, pipeline::TurnRequest request, std::stop_token stop = {});

RecordedTurn ask(SiteFixture& fixture, std::string query, std::string session = "");

}  // namespace stoka::testing
