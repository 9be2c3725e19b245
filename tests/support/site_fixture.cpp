#include "support/site_fixture.h"

#include <utility>

namespace stoka::testing {

store::IndexIdentity identity() {
  return {std::string(embed::kBuiltinName), 0, ingest::ChunkOptions().describe(), ""};
}

pipeline::IndexRequest index_request(std::vector<fs::path> paths) {
  pipeline::IndexRequest request;
  request.paths = std::move(paths);
  request.identity = identity();
  return request;
}

const fs::path& sample_index() {
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

SiteFixture::SiteFixture(const fs::path& index) {
  if (!index.empty()) fs::copy_file(index, folder.path / "stoka.db");
  store = store::open(url, store::OpenMode::read_write).value();
  embedder = std::make_unique<embed::BuiltinEmbedder>(*store);
  reranker = std::make_unique<rerank::BuiltinReranker>(*store);
  generator = std::make_unique<generate::ExtractiveVoice>(
      generate::read_voice_lines(golden.voice_lines).value());
  settings.identity = identity();
}

pipeline::Engine& SiteFixture::engine() {
  if (!engine_)
    engine_ = std::make_unique<pipeline::Engine>(
        pipeline::Engine::Parts{*store, *store, *embedder, *reranker, *generator, golden, router,
                                guard, clock, ids, log},
        settings);
  return *engine_;
}

std::string RecordedTurn::text() const {
  std::string out;
  for (const Event& event : events)
    if (auto token = std::get_if<TokenEvent>(&event)) out += token->text;
  return out;
}

std::vector<Citation> RecordedTurn::citations() const {
  std::vector<Citation> out;
  for (const Event& event : events)
    if (auto cite = std::get_if<CiteEvent>(&event)) out.push_back(cite->citation);
  return out;
}

std::vector<std::string> RecordedTurn::cited() const {
  std::vector<std::string> out;
  for (const Citation& citation : citations()) out.push_back(citation.slug);
  return out;
}

bool RecordedTurn::cites(std::string_view slug) const {
  std::vector<std::string> slugs = cited();
  return std::find(slugs.begin(), slugs.end(), slug) != slugs.end();
}

bool RecordedTurn::well_formed() const {
  return !events.empty() && std::holds_alternative<ReadyEvent>(events.front()) &&
         count<ReadyEvent>() == 1 && count<DoneEvent>() + count<ErrorEvent>() == 1 &&
         (std::holds_alternative<DoneEvent>(events.back()) ||
          std::holds_alternative<ErrorEvent>(events.back()));
}

RecordedTurn ask(SiteFixture& fixture, pipeline::TurnRequest request, std::stop_token stop) {
  RecordedTurn turn;
  turn.result = pipeline::run_turn(
      fixture.engine(), request, [&](const Event& event) { turn.events.push_back(event); }, stop);
  return turn;
}

RecordedTurn ask(SiteFixture& fixture, std::string query, std::string session) {
  return ask(fixture, pipeline::TurnRequest{std::move(query), std::move(session), "", "", {}});
}

}  // namespace stoka::testing
