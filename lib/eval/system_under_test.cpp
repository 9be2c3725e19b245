#include "eval/system_under_test.h"

#include <algorithm>

namespace stoka::eval {
namespace {

pipeline::Engine::Parts replace_parts(const pipeline::Engine::Parts& parts,
                                      store::SessionStore& sessions, generate::Generator& generator,
                                      const Clock& clock, UuidSource& ids) {
  return {parts.index, sessions,     parts.embedder, parts.reranker,
          generator,   parts.golden, parts.router,   parts.guard,
          clock,       ids,          parts.log};
}

}  // namespace

Result<Date> newest_day(store::IndexReader& index) {
  STOKA_ASSIGN(const std::vector<store::DocumentInfo> documents, index.documents());
  Date newest{};
  for (const store::DocumentInfo& info : documents)
    newest = std::max(newest, info.document.date.value_or(newest));
  return newest;
}

Error reranker_failure(std::string why) {
  return {ErrorKind::unavailable, std::move(why),
          "start the reranker, or set reranker.kind to what should be evaluated"};
}

Result<std::unique_ptr<SystemUnderTest>> SystemUnderTest::make(pipeline::Engine& engine,
                                                               std::stop_token stop) {
  STOKA_TRY(engine.check_index(stop));
  STOKA_ASSIGN(const Date day, newest_day(engine.parts().index));
  return std::unique_ptr<SystemUnderTest>(new SystemUnderTest(engine, day));
}

SystemUnderTest::SystemUnderTest(pipeline::Engine& engine, Date day)
    : clock_(day),
      engine_(replace_parts(engine.parts(), sessions_, engine.parts().generator, clock_, ids_),
              engine.settings()) {}

std::unique_ptr<pipeline::Engine> SystemUnderTest::with_generator(generate::Generator& generator) {
  return std::make_unique<pipeline::Engine>(
      replace_parts(engine_.parts(), sessions_, generator, clock_, ids_), engine_.settings());
}

}  // namespace stoka::eval
