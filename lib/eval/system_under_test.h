// The system that is evaluated: the parts and settings of an engine, but with sessions in memory
// and a clock that stands still, so that the same index gives the same answers on any day.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "eval/in_memory_session_store.h"
#include "pipeline/engine.h"

namespace stoka::eval {

// A clock whose time of day is always noon of one day; its durations are real.
class FixedDayClock final : public Clock {
 public:
  explicit FixedDayClock(Date day) : now_(Instant(day) + std::chrono::hours(12)) {}
  Instant now() const override { return now_; }
  std::chrono::nanoseconds monotonic() const override { return real_.monotonic(); }

 private:
  SystemClock real_;
  Instant now_;
};

// The date of the newest page. An index is evaluated on this day, so that the same pages are always
// recent. 1970-01-01 if no page has a date.
Result<Date> newest_day(store::IndexReader& index);

// The error of a trial whose answer was not reranked by the configured reranker.
Error reranker_failure(std::string why);

// Uses the parts of the given engine, which must outlive this object. Thread safe.
class SystemUnderTest {
 public:
  // Fails like Engine::check_index() if the index cannot be searched.
  static Result<std::unique_ptr<SystemUnderTest>> make(pipeline::Engine& engine,
                                                       std::stop_token stop);
  SystemUnderTest(const SystemUnderTest&) = delete;

  pipeline::Engine& engine() { return engine_; }
  Date day() const { return clock_.today(); }
  // Makes the same engine with another generator, which must outlive it.
  std::unique_ptr<pipeline::Engine> with_generator(generate::Generator& generator);

 private:
  SystemUnderTest(pipeline::Engine& engine, Date day);

  InMemorySessionStore sessions_;
  FixedDayClock clock_;
  RandomUuidSource ids_;
  pipeline::Engine engine_;
};

}  // namespace stoka::eval
