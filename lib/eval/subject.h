// What is evaluated: the parts and settings of an engine, with sessions in memory and a clock that
// stands on one day, so that the same index gives the same answers whenever it is asked.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "eval/scratch_sessions.h"
#include "pipeline/engine.h"

namespace stoka::eval {

// Noon of one day; durations are real.
class DayClock final : public Clock {
 public:
  explicit DayClock(Date day) : now_(Instant(day) + std::chrono::hours(12)) {}
  Instant now() const override { return now_; }
  std::chrono::nanoseconds monotonic() const override { return real_.monotonic(); }

 private:
  SystemClock real_;
  Instant now_;
};

// The day an index is evaluated on: that of its newest page, on which that page was recent.
// 1970-01-01 if no page has a date.
Result<Date> newest_day(store::Store& index);

// Why what was answered without the configured reranker says nothing of it.
Error no_reranker(std::string why);

// Borrows from the engine it is made of, which must outlive it. Threads: any.
class Subject {
 public:
  // Any index that can be searched; errors as of Engine::check_index().
  static Result<std::unique_ptr<Subject>> make(pipeline::Engine& engine, std::stop_token stop);
  Subject(const Subject&) = delete;

  pipeline::Engine& engine() { return engine_; }
  Date day() const { return clock_.today(); }
  // The same with another writer of answers, which must outlive it.
  std::unique_ptr<pipeline::Engine> with(generate::Generator& generator);

 private:
  Subject(pipeline::Engine& engine, Date day);

  ScratchSessions sessions_;
  DayClock clock_;
  RandomIds ids_;
  pipeline::Engine engine_;
};

}  // namespace stoka::eval
