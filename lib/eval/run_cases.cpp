#include "eval/run_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "eval/judge.h"
#include "eval/patience.h"
#include "pipeline/turn.h"

namespace stoka::eval {
namespace {

// Writes what a case says a model would have written.
class Scripted final : public generate::Generator {
 public:
  explicit Scripted(const std::string& text) : text_(text) {}
  std::string name() const override { return "scripted"; }
  bool reads_prompt() const override { return true; }
  Result<generate::Finish> stream(const generate::Request&, const std::function<void()>& accepted,
                                  const generate::DeltaSink& sink, std::stop_token) override {
    accepted();
    sink(text_);
    return generate::Finish::complete;
  }

 private:
  const std::string& text_;
};

struct Trial {
  bool made = false;  // it was tried, and came to an end or an error
  std::optional<Error> error;
  Answer answer;
  std::vector<Score> scores;
  double ms = 0;

  bool passed() const {
    return !error &&
           std::all_of(scores.begin(), scores.end(), [](const Score& score) { return score.ok; });
  }
};

// The same ids for the same trial in every run.
std::string id_of(const Case& one, size_t repeat, std::string_view what) {
  return hashed_uuid(fmt::format("{}/{} {} {}", one.suite, one.id, repeat, what));
}

Result<Publications> published(store::Store& store, const pipeline::Catalog& catalog,
                               const Answer& answer) {
  Publications out;
  for (const Citation& citation : answer.citations()) {
    const Document* document = catalog.find(citation.slug);
    if (document == nullptr) continue;
    STOKA_ASSIGN(const std::vector<store::StoredChunk> chunks, store.chunks_of(citation.slug));
    Published& one = out[citation.slug];
    one = {*document, {}};
    for (const store::StoredChunk& chunk : chunks) one.contents.push_back(chunk.chunk.content);
  }
  return out;
}

// One turn; what was shown before is for the caller to say.
Result<Answer> ask(pipeline::Engine& engine, const pipeline::TurnRequest& request,
                   std::stop_token stop) {
  AnswerReader reader;
  STOKA_ASSIGN(const pipeline::Outcome outcome,
               pipeline::run_turn(
                   engine, request, [&](const Event& event) { reader.read(event); }, stop));
  if (outcome.streamed.error) return fail(*outcome.streamed.error);
  if (!outcome.turn.not_reranked.empty()) return fail(no_reranker(outcome.turn.not_reranked));
  if (!outcome.persisted) return fail(ErrorKind::internal, "the turn was not kept");
  Answer answer = reader.take();
  answer.query = outcome.turn.query;
  answer.confidence = outcome.turn.confidence;
  answer.low_confidence = outcome.turn.low_confidence;
  answer.ranked = outcome.turn.ranked;
  answer.shown_before.insert(outcome.turn.session.shown_slugs.begin(),
                             outcome.turn.session.shown_slugs.end());
  return answer;
}

Result<> try_case(Subject& subject, const Case& one, size_t repeat, const Phrases& phrases,
                  std::stop_token stop, Trial& out) {
  pipeline::Engine& engine = subject.engine();
  pipeline::TurnRequest request;
  request.session_id = id_of(one, repeat, "session");
  request.visitor_id = id_of(one, repeat, "visitor");
  if (!one.interests.empty())
    STOKA_TRY(engine.parts().store.update_visitor(request.visitor_id, one.interests, {},
                                                  engine.parts().clock.now()));
  request.page = one.page;
  for (const std::string& query : one.before) {
    request.query = query;
    STOKA_TRY(ask(engine, request, stop));
  }
  request.query = one.query;
  const Clock& clock = engine.parts().clock;
  const std::chrono::nanoseconds start = clock.monotonic();
  if (one.model) {
    Scripted scripted(*one.model);
    const auto with_model = subject.with(scripted);
    STOKA_ASSIGN(out.answer, ask(*with_model, request, stop));
  } else {
    STOKA_ASSIGN(out.answer, ask(engine, request, stop));
  }
  out.ms = std::chrono::duration<double, std::milli>(clock.monotonic() - start).count();
  STOKA_ASSIGN(const auto catalog, engine.catalog());
  STOKA_ASSIGN(const Publications known, published(engine.parts().store, *catalog, out.answer));
  out.scores = judge(one, out.answer, known, phrases);
  return {};
}

// The trial that a person should look at: of those that came to an end the one that failed most.
const Trial& worst(std::span<const Trial> trials) {
  const auto failures = [](const Trial& trial) {
    if (trial.scores.empty()) return std::ptrdiff_t{-1};
    return std::count_if(trial.scores.begin(), trial.scores.end(),
                         [](const Score& score) { return !score.ok; });
  };
  return *std::max_element(trials.begin(), trials.end(), [&](const Trial& a, const Trial& b) {
    return failures(a) < failures(b);
  });
}

CaseResult result_of(const Case& one, std::span<const Trial> trials) {
  CaseResult out;
  out.suite = one.suite;
  out.id = one.id;
  out.category = one.category;
  out.query = one.query;
  out.before = one.before;
  out.ideal = one.ideal;
  out.note = one.note;
  out.hash = one.hash;
  std::map<std::string, size_t> times;
  for (const Trial& trial : trials) {
    if (!trial.made || trial.error) {
      ++out.errors;
      if (out.error.empty())
        out.error = trial.error ? trial.error->message : "not tried: no server answered";
      continue;
    }
    ++out.trials;
    if (trial.passed()) ++out.passes;
    for (const Score& score : trial.scores) {
      out.scores[score.name] += score.ok ? 1 : 0;
      ++times[score.name];
      if (score.ok) continue;
      const std::string why = score.name + ": " + score.why;
      if (std::find(out.why.begin(), out.why.end(), why) == out.why.end()) out.why.push_back(why);
    }
  }
  for (auto& [name, sum] : out.scores) sum /= static_cast<double>(times[name]);
  const Trial& shown = worst(trials);
  if (shown.scores.empty()) return out;
  out.route = name(shown.answer.route);
  out.confidence = shown.answer.confidence_name();
  if (!shown.answer.ranked.empty()) out.best_score = shown.answer.ranked.front().score;
  out.answer = shown.answer.marked_text();
  out.citations = shown.answer.citations();
  return out;
}

// Trials are taken by threads one after another, in order.
class Runner {
 public:
  Runner(Subject& subject, std::span<const Case> cases, const Phrases& phrases,
         const RunOptions& options, std::stop_token stop)
      : subject_(subject),
        cases_(cases),
        phrases_(phrases),
        options_(options),
        stop_(std::move(stop)),
        trials_(cases.size() * options.repeat) {}

  Result<CaseRun> run() {
    const size_t jobs = std::min(std::max<size_t>(options_.jobs, 1), trials_.size());
    {
      std::vector<std::jthread> threads;
      for (size_t i = 1; i < jobs; ++i) threads.emplace_back([this] { work(); });
      work();
    }
    if (stop_.stop_requested()) return fail(ErrorKind::cancelled, "interrupted");
    CaseRun out;
    for (size_t i = 0; i < cases_.size(); ++i)
      out.results.push_back(
          result_of(cases_[i], std::span(trials_).subspan(i * options_.repeat, options_.repeat)));
    for (const Trial& trial : trials_) {
      if (trial.error && !out.error) out.error = trial.error;
      out.unmade += !trial.made || trial.error ? 1 : 0;
      if (trial.made && !trial.error) out.turn_ms.push_back(trial.ms);
    }
    return out;
  }

 private:
  void work() {
    for (size_t at = next_++; at < trials_.size(); at = next_++) {
      if (stop_.stop_requested() || patience_.over()) return;
      Trial& trial = trials_[at];
      if (auto tried = try_case(subject_, cases_[at / options_.repeat], at % options_.repeat,
                                phrases_, stop_, trial);
          !tried)
        trial.error = tried.error();
      trial.made = true;
      patience_.note(trial.error);
      if (!options_.progress) continue;
      std::lock_guard lock(progress_);
      options_.progress(++done_, trials_.size());
    }
  }

  Subject& subject_;
  const std::span<const Case> cases_;
  const Phrases& phrases_;
  const RunOptions& options_;
  const std::stop_token stop_;
  std::vector<Trial> trials_;
  std::atomic<size_t> next_ = 0;
  Patience patience_;
  std::mutex progress_;
  size_t done_ = 0;
};

}  // namespace

Result<CaseRun> run_cases(Subject& subject, std::span<const Case> cases, const Phrases& phrases,
                          const RunOptions& options, std::stop_token stop) {
  return Runner(subject, cases, phrases, options, std::move(stop)).run();
}

}  // namespace stoka::eval
