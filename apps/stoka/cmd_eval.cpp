#include <fmt/format.h>
#include <unistd.h>

#include <thread>

#include "base/files.h"
#include "command.h"
#include "eval/case.h"
#include "eval/compare.h"
#include "eval/evaluate.h"
#include "eval/report.h"
#include "eval/trec.h"
#include "eval_inputs.h"
#include "eval_sweep.h"
#include "pages.h"
#include "runtime.h"
#include "terminal/interrupt.h"
#include "terminal/progress.h"
#include "text/normalize.h"

namespace stoka::app {
namespace {

struct EvalFlags {
  std::string suite = "all";
  EvalFiles files;
  std::vector<std::string> site;
  std::string only;
  std::string report, baseline, junit, html, history, run_out;
  std::string stage = "policy";
  double tolerance = 0.01;
  size_t repeat = 1;
  size_t jobs = 0;
  // The settings to compare with --sweep; an empty list if --sweep has no value.
  std::optional<std::vector<std::string>> sweep;
};

std::string index_name(const store::IndexStats& stats) {
  return fmt::format("{} documents, {} chunks", stats.documents, stats.chunks);
}

Result<std::map<std::string, std::string>> part_names(Runtime& runtime,
                                                      const eval::SystemUnderTest& subject,
                                                      std::stop_token stop) {
  const pipeline::Engine::Parts& parts = runtime.engine().parts();
  STOKA_ASSIGN(const store::IndexStats stats, runtime.store().stats());
  std::map<std::string, std::string> out = {{"reranker", parts.reranker.name()},
                                            {"generator", parts.generator.name()},
                                            {"index", index_name(stats)},
                                            {"day", iso_date(subject.day())}};
  const rerank::ConfidenceThresholds& limits = runtime.engine().settings().thresholds;
  out["thresholds"] = fmt::format("{:g} {:g} {:g}", limits.direct, limits.adjacent, limits.nothing);
  if (runtime.engine().settings().retrieve.mode != retrieve::Mode::lexical) {
    STOKA_ASSIGN(const embed::Identity embedder,
                 parts.embedder.identity(embed::InputType::query, stop));
    out["embedder"] = embedder.name;
  }
  return out;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return !a.empty() && !b.empty() && std::filesystem::equivalent(a, b, error);
}

std::string trec_run(const eval::Evaluation& done, const EvalInputs& inputs,
                     const std::string& stage) {
  const auto ids = eval::document_ids(inputs.qrels);
  const size_t at = static_cast<size_t>(
      std::find(eval::kStages.begin(), eval::kStages.end(), stage) - eval::kStages.begin());
  std::string out;
  for (size_t i = 0; i < done.queries.runs.size(); ++i) {
    std::vector<eval::RankedDocument> ranked = done.queries.runs[i].stages[at].documents;
    for (eval::RankedDocument& one : ranked)
      if (const auto id = ids.find(one.document); id != ids.end()) one.document = id->second;
    out += eval::run_lines(inputs.cases.queries[i].id, ranked, "stoka-" + stage);
  }
  return out;
}

class EvalCommand {
 public:
  EvalCommand(App& app, const EvalFlags& flags) : app_(app), flags_(flags) {}

  Result<int> run(std::stop_token stop) {
    STOKA_TRY(read());
    STOKA_TRY(open_index(stop));
    // The report shows the failures of each case, so the log is silent from here on.
    if (!app_.common.verbose) app_.log.redirect(&silence_);
    if (flags_.sweep) return sweep(stop);
    STOKA_ASSIGN(const auto runtime, make_runtime(app_, store::OpenMode::read));
    STOKA_ASSIGN(const auto subject, eval::SystemUnderTest::make(runtime->engine(), stop));
    STOKA_ASSIGN(const auto catalog, subject->engine().catalog());
    if (!inputs_.collection) STOKA_TRY(eval::check_slugs(inputs_.cases, *catalog));
    STOKA_ASSIGN(auto parts, part_names(*runtime, *subject, stop));
    STOKA_ASSIGN(eval::Evaluation done, eval::evaluate(*subject, inputs_.cases, phrases_,
                                                       flags_.repeat, jobs(), progress(), stop));
    bar_.clear();
    eval::Report& report = done.report;
    report.suite = flags_.suite;
    report.at = rfc3339(app_.clock.now());
    report.parts = std::move(parts);
    return write_report(done);
  }

  ~EvalCommand() { app_.log.redirect(nullptr); }
  EvalCommand(const EvalCommand&) = delete;

 private:
  Result<> read() {
    if (flags_.sweep && flags_.suite != "all" && flags_.suite != "retrieval")
      return fail(ErrorKind::usage, "--sweep works only with the retrieval suite",
                  "leave out " + flags_.suite);
    for (const std::string* file : {&flags_.report, &flags_.junit, &flags_.html, &flags_.run_out})
      STOKA_TRY(check_writable(*file));
    STOKA_ASSIGN(inputs_,
                 read_inputs(flags_.files, flags_.sweep ? "retrieval" : flags_.suite, flags_.only));
    STOKA_ASSIGN(phrases_, built_in_phrases());
    if (!flags_.baseline.empty()) {
      if (same_file(flags_.baseline, flags_.report))
        return fail(ErrorKind::usage, "--report would write over the baseline",
                    "write the report to another file, and replace the baseline afterwards");
      STOKA_ASSIGN(baseline_, read_report_file(flags_.baseline));
      if (!eval::comparable(*baseline_, inputs_.cases))
        return fail(ErrorKind::data, fmt::format("{} has none of these cases", flags_.baseline),
                    "compare with a report of the same cases and suite");
    }
    if (inputs_.built_in && !flags_.site.empty())
      return fail(ErrorKind::usage, "the built-in cases are about the sample site",
                  "add cases about your pages, e.g. --cases my.jsonl");
    if (!flags_.history.empty()) {
      STOKA_ASSIGN(history_, read_history(flags_.history));
    }
    return {};
  }

  // Indexes the pages of --site, or the sample site for the built-in cases. Otherwise the
  // configured index is used.
  Result<> open_index(std::stop_token stop) {
    if (flags_.site.empty() && !inputs_.built_in) return {};
    STOKA_ASSIGN(folder_, TempFolder::make());
    STOKA_ASSIGN(pages_, page_paths(flags_.site));
    if (pages_.empty()) {
      STOKA_ASSIGN(auto site, write_sample_site(*folder_));
      pages_.push_back(std::move(site));
    }
    if (flags_.sweep) return {};
    STOKA_TRY(app_.set("store", "sqlite:" + (folder_->path() / "stoka.db").string()));
    STOKA_ASSIGN(const pipeline::IndexReport made,
                 index_pages(app_, {.paths = pages_}, progress(), stop));
    bar_.clear();
    if (!flags_.site.empty()) warn_of_skipped(made);
    return {};
  }

  void warn_of_skipped(const pipeline::IndexReport& made) {
    constexpr size_t kMax = 5;
    size_t count = 0;
    for (const ingest::SkippedSource& item : made.skipped) {
      if (item.kind == ingest::SkipKind::unsupported) continue;
      if (++count <= kMax) app_.log.warning(fmt::format("left out {}: {}", item.path, item.reason));
    }
    if (count > kMax) app_.log.warning(fmt::format("and {} more", count - kMax));
  }

  Result<int> sweep(std::stop_token stop) {
    SweepRequest request{*flags_.sweep, pages_, folder_ ? folder_->path() : "",
                         inputs_.cases.queries};
    STOKA_ASSIGN(const eval::Sweep sweep, run_sweep(app_, request, progress(), stop));
    bar_.clear();
    print(app_.common.json ? eval::to_json(sweep) + "\n" : eval::to_table(sweep));
    if (!flags_.report.empty()) STOKA_TRY(write_file(flags_.report, eval::to_json(sweep) + "\n"));
    return 0;
  }

  // The number of cases to run at a time, which is 1 with a recording, because a recording answers
  // equal requests in order.
  size_t jobs() const {
    constexpr unsigned kMax = 4;
    if (!app_.common.record.empty() || !app_.common.replay.empty()) return 1;
    if (flags_.jobs > 0) return flags_.jobs;
    return std::clamp(std::thread::hardware_concurrency(), 1U, kMax);
  }

  eval::SuiteProgress progress() {
    return [this](std::string_view label, size_t done, size_t total) {
      if (!app_.common.quiet && !app_.common.json) bar_.update(done, total, label);
    };
  }

  // Prints the result before writing any file, so that a failed write loses nothing. Returns the
  // exit code.
  Result<int> write_report(const eval::Evaluation& done) {
    const eval::Report& report = done.report;
    const bool partial = !flags_.only.empty();
    std::optional<eval::Comparison> comparison;
    if (baseline_) comparison = eval::compare(*baseline_, report, flags_.tolerance, partial);
    const eval::Comparison* const compared = comparison ? &*comparison : nullptr;
    print(app_.common.json ? eval::to_json(report, compared)
                           : sanitize_lines(eval::to_table(report, app_.common.verbose)));
    if (compared != nullptr && !app_.common.json)
      print(fmt::format("\nsince {}\n{}", text::one_line(flags_.baseline),
                        sanitize_lines(eval::to_text(*compared))));
    if (!flags_.report.empty())
      STOKA_TRY(write_file(flags_.report, eval::to_json(report, compared)));
    if (!flags_.junit.empty()) STOKA_TRY(write_file(flags_.junit, eval::junit_xml(report)));
    if (!flags_.html.empty())
      STOKA_TRY(write_file(flags_.html, eval::to_html(report, history_, compared)));
    if (!flags_.run_out.empty())
      STOKA_TRY(write_file(flags_.run_out, trec_run(done, inputs_, flags_.stage)));
    if (done.error)
      return fail(done.error->kind,
                  fmt::format("{} of {} could not be run: {}", done.not_run, done.attempted,
                              done.error->message),
                  done.error->hint);
    if (comparison) return comparison->regressed() ? 1 : 0;
    return report.failed() > 0 ? 1 : 0;
  }

  App& app_;
  const EvalFlags& flags_;
  NullLog silence_;
  terminal::Progress bar_{[](std::string_view text) { print_stderr(text); },
                          app_.capabilities(STDERR_FILENO), app_.clock};
  EvalInputs inputs_;
  eval::Phrases phrases_;
  std::optional<eval::Report> baseline_;
  std::vector<eval::Report> history_;
  std::unique_ptr<TempFolder> folder_;
  std::vector<std::filesystem::path> pages_;
};

// CLI11 accepts "nan" as a number in any range.
std::string is_finite(const std::string& value) {
  return value.find_first_of("nN") == std::string::npos ? "" : "must be a number from 0 to 1";
}

int run_eval(App& app, const EvalFlags& flags) {
  auto interrupt = terminal::Interrupt::install({.output = STDOUT_FILENO, .sigterm = true});
  if (!interrupt) return app.report(interrupt.error());
  auto code = EvalCommand(app, flags).run((*interrupt)->begin());
  // If the reader closed the output after the work was finished, the exit code of the work counts.
  const bool stopped = (*interrupt)->end();
  if (stopped && !(code && (*interrupt)->output_closed())) return exit_code(ErrorKind::cancelled);
  return code ? *code : app.report(code.error());
}

}  // namespace

Run declare_eval(FlagList& flags) {
  auto values = std::make_shared<EvalFlags>();
  const auto file = [](const char* name, std::string& value, const char* help) {
    return Flag{.names = name,
                .target = &value,
                .help = help,
                .value = "FILE",
                .completion = Completion::files};
  };
  const auto is_suite = [](const std::string& word) -> std::string {
    for (const std::string_view suite :
         {"all", "constraints", "dataset", "conversations", "retrieval"})
      if (word == suite) return "";
    return fmt::format(
        "'{}' is not a suite; the suites are constraints, dataset, conversations, retrieval and "
        "all; each file needs its own flag, e.g. --cases {}",
        text::one_line(word), text::one_line(word));
  };
  Flag history = file("--history", values->history,
                      "the folder of earlier reports that --html plots over time");
  history.value = "FOLDER";
  history.completion = Completion::folders;
  history.needs = {"--html"};
  add(flags,
      {{.names = "SUITE",
        .target = &values->suite,
        .help = "the suite to run: constraints, dataset, conversations, retrieval or all (default)",
        .choices = {"constraints", "dataset", "conversations", "retrieval", "all"},
        .check = is_suite},
       {.names = "--cases",
        .target = &values->files.cases,
        .help = "run your own cases over your index, from a file with one JSON object per line; "
                "may be repeated",
        .value = "FILE",
        .completion = Completion::files},
       file("--queries", values->files.queries,
            "the queries of a retrieval collection; needs --qrels"),
       file("--qrels", values->files.qrels, "the relevance judgements: query, document, gain"),
       {.names = "--site",
        .target = &values->site,
        .help = "index these pages for this run and ask about them; needs --cases or --queries",
        .value = "PATH",
        .completion = Completion::files},
       {.names = "--only",
        .target = &values->only,
        .help = "run only the cases whose id contains this text",
        .value = "TEXT"},
       file("--baseline", values->baseline,
            "compare with this earlier report; the exit code is 1 if anything is worse"),
       {.names = "--tolerance",
        .target = &values->tolerance,
        .help = "the largest loss that is not a regression, e.g. 0.02",
        .value = "SHARE",
        .show_default = true,
        .max = 1,
        .check = is_finite,
        .needs = {"--baseline"}},
       {.names = "--repeat",
        .target = &values->repeat,
        .help = "run each case N times, for models whose answers vary",
        .value = "N",
        .min = 1,
        .max = 1000},
       {.names = "--jobs",
        .target = &values->jobs,
        .help = "run N cases at a time",
        .value = "N",
        .min = 1,
        .max = 64},
       file("--report", values->report, "write the report as JSON"),
       file("--junit", values->junit, "write the report as JUnit XML"),
       file("--html", values->html, "write the report as an HTML page"),
       history,
       file("--run-out", values->run_out,
            "write the ranking of every query in the format of trec_eval"),
       {.names = "--stage",
        .target = &values->stage,
        .help =
            "the stage whose ranking --run-out writes: lexical, dense, fused, reranked or policy",
        .value = "STAGE",
        .choices = {"lexical", "dense", "fused", "reranked", "policy"},
        .needs = {"--run-out"}},
       {.names = "--sweep",
        .target = &values->sweep,
        .help = "run the retrieval suite with each value of a setting; without KEY, compare chunk "
                "sizes, overlaps, modes and thresholds",
        .value = "KEY=A,B",
        .optional_value = true,
        .excludes = {"--baseline", "--junit", "--html", "--run-out"}}});
  return [values](App& app) { return run_eval(app, *values); };
}

}  // namespace stoka::app
