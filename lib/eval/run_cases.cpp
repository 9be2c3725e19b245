#include "eval/run_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/hash.h"
#include "eval/conversation.h"
#include "eval/judge.h"
#include "pipeline/turn.h"

namespace stoka::eval {
namespace {

// Generates the text that a case gives in its field "model".
class ScriptedGenerator final : public generate::Generator {
 public:
  explicit ScriptedGenerator(const std::string& text) : text_(text) {}
  std::string name() const override { return "scripted"; }
  bool reads_prompt() const override { return true; }
  Result<std::unique_ptr<generate::GenerationStream>> begin(const generate::GenerationRequest&,
                                                            std::stop_token) override {
    return generate::known_answer({text_});
  }

 private:
  const std::string& text_;
};

struct Trial {
  bool attempted = false;  // whether the trial was completed or ended with an error
  std::optional<Error> error;
  Answer answer;
  std::vector<Score> scores;
  double ms = 0;

  bool passed() const {
    return !error &&
           std::all_of(scores.begin(), scores.end(), [](const Score& score) { return score.ok; });
  }
};

// Returns an id for a trial, equal in every run and for all turns of a conversation.
std::string trial_id(const Case& one, size_t repeat, std::string_view what) {
  const std::string& name = one.conversation.empty() ? one.id : one.conversation;
  return uuid_from_hash(fmt::format("{}/{} {} {}", one.suite, name, repeat, what));
}

Result<CitedDocuments> cited_documents(store::IndexReader& index, const pipeline::Catalog& catalog,
                                       const Answer& answer) {
  CitedDocuments out;
  for (const Citation& citation : answer.citations()) {
    const Document* document = catalog.find(citation.slug);
    if (document == nullptr) continue;
    STOKA_ASSIGN(const std::vector<store::StoredChunk> chunks,
                 index.document_chunks(citation.slug));
    CitedDocument& cited = out[citation.slug];
    cited = {*document, {}};
    for (const store::StoredChunk& chunk : chunks) cited.contents.push_back(chunk.chunk.content);
  }
  return out;
}

// Runs one turn.
Result<Answer> ask(pipeline::Engine& engine, const pipeline::TurnRequest& request,
                   std::stop_token stop) {
  AnswerBuilder builder;
  STOKA_ASSIGN(const pipeline::TurnResult outcome,
               pipeline::run_turn(
                   engine, request, [&](const Event& event) { builder.add(event); }, stop));
  if (outcome.stream_result.error) return fail(*outcome.stream_result.error);
  if (!outcome.turn.reranker_error.empty())
    return fail(reranker_failure(outcome.turn.reranker_error));
  if (!outcome.persisted) return fail(ErrorKind::internal, "the turn was not stored");
  Answer answer = builder.take();
  answer.query = outcome.turn.query;
  answer.confidence = outcome.turn.confidence;
  answer.low_confidence = outcome.turn.low_confidence;
  answer.ranked = outcome.turn.ranked;
  answer.shown_before.insert(outcome.turn.session.shown_slugs.begin(),
                             outcome.turn.session.shown_slugs.end());
  return answer;
}

// Runs one trial. A turn of a conversation continues the session of the turns before it; `memory`
// holds what those turns said.
Result<> run_trial(SystemUnderTest& subject, const Case& one, size_t repeat, const Phrases& phrases,
                   std::stop_token stop, ConversationMemory& memory, Trial& out) {
  const bool continues = !one.conversation.empty() && !one.before.empty();
  pipeline::Engine& engine = subject.engine();
  pipeline::TurnRequest request;
  request.session_id = trial_id(one, repeat, "session");
  request.visitor_id = trial_id(one, repeat, "visitor");
  if (!one.interests.empty() && !continues)
    STOKA_TRY(engine.parts().sessions.update_visitor(request.visitor_id, one.interests, {},
                                                     engine.parts().clock.now()));
  request.page = one.page;
  if (!continues) {
    for (const std::string& query : one.before) {
      request.query = query;
      STOKA_TRY(ask(engine, request, stop));
    }
  }
  request.query = one.query;
  const Clock& clock = engine.parts().clock;
  const std::chrono::nanoseconds start = clock.monotonic();
  if (one.model) {
    ScriptedGenerator scripted(*one.model);
    const auto with_model = subject.with_generator(scripted);
    STOKA_ASSIGN(out.answer, ask(*with_model, request, stop));
  } else {
    STOKA_ASSIGN(out.answer, ask(engine, request, stop));
  }
  out.ms = std::chrono::duration<double, std::milli>(clock.monotonic() - start).count();
  STOKA_ASSIGN(const auto catalog, engine.catalog());
  STOKA_ASSIGN(const CitedDocuments cited,
               cited_documents(engine.parts().index, *catalog, out.answer));
  out.answer.lines_before = memory.lines;
  out.answer.quotes_before = memory.quotes;
  out.scores = judge(one, out.answer, cited, phrases);
  memory.add(out.answer, one, phrases);
  return {};
}

// The trial that the report shows: the first of the completed trials with the most failed scores.
const Trial& worst_trial(std::span<const Trial> trials) {
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
  std::map<std::string, size_t> counts;
  for (const Trial& trial : trials) {
    if (!trial.attempted || trial.error) {
      ++out.errors;
      if (out.error.empty())
        out.error = trial.error ? trial.error->message : "not tried: no server answered";
      continue;
    }
    ++out.trials;
    if (trial.passed()) ++out.passes;
    for (const Score& score : trial.scores) {
      out.scores[score.name] += score.ok ? 1 : 0;
      ++counts[score.name];
      if (score.ok) continue;
      const std::string why = score.name + ": " + score.why;
      if (std::find(out.why.begin(), out.why.end(), why) == out.why.end()) out.why.push_back(why);
    }
  }
  for (auto& [name, sum] : out.scores) sum /= static_cast<double>(counts[name]);
  const Trial& shown = worst_trial(trials);
  if (shown.scores.empty()) return out;
  out.route = to_string(shown.answer.route);
  out.confidence = shown.answer.confidence_name();
  if (!shown.answer.ranked.empty()) out.best_score = shown.answer.ranked.front().score;
  out.answer = shown.answer.text_with_markers();
  out.citations = shown.answer.citations();
  return out;
}

// Cases that are run one after another in one session: the turns of a conversation, or one case.
struct SessionCases {
  size_t begin = 0;
  size_t end = 0;
};

std::vector<SessionCases> by_session(std::span<const Case> cases) {
  std::vector<SessionCases> out;
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool continues = i > 0 && !cases[i].conversation.empty() &&
                           cases[i].conversation == cases[i - 1].conversation;
    if (!continues) out.push_back({i, i});
    out.back().end = i + 1;
  }
  return out;
}

// Runs the trials on several threads. Each thread takes the next session when it is free.
class TrialRunner {
 public:
  TrialRunner(SystemUnderTest& subject, std::span<const Case> cases, const Phrases& phrases,
              const RunOptions& options, std::stop_token stop)
      : subject_(subject),
        cases_(cases),
        phrases_(phrases),
        options_(options),
        stop_(std::move(stop)),
        sessions_(by_session(cases)),
        trials_(cases.size() * options.repeat) {}

  Result<CaseRun> run() {
    const size_t jobs =
        std::min(std::max<size_t>(options_.jobs, 1), sessions_.size() * options_.repeat);
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
      out.not_run += !trial.attempted || trial.error ? 1 : 0;
      if (trial.attempted && !trial.error) out.turn_ms.push_back(trial.ms);
    }
    return out;
  }

 private:
  void work() {
    const size_t all = sessions_.size() * options_.repeat;
    for (size_t at = next_++; at < all; at = next_++) {
      if (stop_.stop_requested() || outage_.detected()) return;
      outage_.record(run_session(sessions_[at / options_.repeat], at % options_.repeat));
    }
  }

  // Runs the session and returns the error if it could not be run to its end.
  std::optional<Error> run_session(const SessionCases& session, size_t repeat) {
    ConversationMemory memory;
    std::optional<Error> error;
    for (size_t i = session.begin; i < session.end; ++i) {
      Trial& trial = trials_[i * options_.repeat + repeat];
      if (error) {
        trial.error =
            Error{error->kind, "an earlier turn could not be run: " + error->message, error->hint};
      } else if (auto done = run_trial(subject_, cases_[i], repeat, phrases_, stop_, memory, trial);
                 !done) {
        error = trial.error = done.error();
      }
      trial.attempted = true;
      if (!options_.progress) continue;
      std::lock_guard lock(progress_mutex_);
      options_.progress(++done_, trials_.size());
    }
    return error;
  }

  SystemUnderTest& subject_;
  const std::span<const Case> cases_;
  const Phrases& phrases_;
  const RunOptions& options_;
  const std::stop_token stop_;
  const std::vector<SessionCases> sessions_;
  std::vector<Trial> trials_;
  std::atomic<size_t> next_ = 0;
  OutageDetector outage_;
  std::mutex progress_mutex_;
  size_t done_ = 0;
};

}  // namespace

Result<CaseRun> run_cases(SystemUnderTest& subject, std::span<const Case> cases,
                          const Phrases& phrases, const RunOptions& options, std::stop_token stop) {
  return TrialRunner(subject, cases, phrases, options, std::move(stop)).run();
}

}  // namespace stoka::eval
