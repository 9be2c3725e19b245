#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "command.h"
#include "page_flags.h"
#include "pipeline/explain.h"
#include "pipeline/turn.h"
#include "remote_site.h"
#include "terminal/answer_printer.h"
#include "terminal/echo_off.h"
#include "terminal/interrupt.h"
#include "text/normalize.h"
#include "wiring.h"

namespace stoka::app {
namespace {

constexpr size_t kMostLineBytes = 1 << 20;

struct ChatFlags {
  std::optional<std::string> query;
  std::string session;
  std::string visitor;
  PageFlags page;
  std::optional<std::string> url;
  bool trace = false;
  bool dry_run = false;
};

// The questions of one run: the argument, or with "-" the lines of standard input.
class Questions {
 public:
  explicit Questions(const std::string& argument)
      : argument_(argument), from_stdin_(argument == "-") {}

  std::optional<std::string> next() {
    if (!from_stdin_) {
      if (given_) return std::nullopt;
      given_ = true;
      return argument_;
    }
    while (auto line = read_line())
      if (line->find_first_not_of(" \t\r") != std::string::npos) return line;
    return std::nullopt;
  }
  bool several() const { return from_stdin_; }

 private:
  // What is over the limit of a line is read and forgotten; the question is then refused as too
  // long.
  std::optional<std::string> read_line() {
    std::string line;
    int c = std::cin.get();
    if (c == std::char_traits<char>::eof()) return std::nullopt;
    for (; c != std::char_traits<char>::eof() && c != '\n'; c = std::cin.get())
      if (line.size() < kMostLineBytes) line += static_cast<char>(c);
    return line;
  }

  std::string argument_;
  bool from_stdin_;
  bool given_ = false;
};

std::string dry_run_text(const pipeline::Turn& turn) {
  std::string out;
  if (!turn.canned.empty())
    return fmt::format("route {} (rule {}): no prompt. reply: {}\n", name(turn.route), turn.rule,
                       turn.canned);
  for (const Message& message : turn.prompt.messages)
    out += fmt::format("--- {} ---\n{}\n", message.role, message.content);
  out += "--- tokens (estimated) ---\n";
  for (const prompt::Layer& layer : turn.prompt.layers)
    out += fmt::format("{:<16} {:>5}\n", layer.name, layer.tokens);
  out += fmt::format("{:<16} {:>5}\n", "all", turn.prompt.tokens);
  for (const prompt::Cut& cut : turn.prompt.cuts)
    out += fmt::format("cut {} #{}: {} to {} tokens\n", cut.slug, cut.chunk_index,
                       cut.tokens_before, cut.tokens_after);
  return out;
}

// The prompt a model would get. Calls no generator and saves nothing.
Result<> dry_run(App& app, Wired& wired, const pipeline::TurnRequest& request,
                 std::stop_token stop) {
  STOKA_ASSIGN(pipeline::Turn turn, pipeline::prepare(wired.engine(), request, stop));
  if (turn.canned.empty()) pipeline::build_prompt(wired.engine(), turn);
  print(app.common.json ? pipeline::prompt_json(turn) + "\n" : clean_lines(dry_run_text(turn)));
  return {};
}

// A turn that began.
struct Answered {
  std::string session_id;
  std::string visitor_id;
  std::optional<Error> error;  // what went wrong after the first word
  std::string trace;
};
using Asker = std::function<Result<Answered>(const pipeline::TurnRequest&, const EventSink&,
                                             std::stop_token)>;

Asker asker(Wired& wired) {
  return [&wired](const pipeline::TurnRequest& request, const EventSink& sink,
                  std::stop_token stop) -> Result<Answered> {
    STOKA_ASSIGN(pipeline::Outcome outcome,
                 pipeline::run_turn(wired.engine(), request, sink, std::move(stop)));
    return Answered{outcome.session.id, outcome.session.visitor_id, outcome.streamed.error,
                    pipeline::trace(outcome)};
  };
}

Asker asker(const serve::Remote& remote) {
  return [&remote](const pipeline::TurnRequest& request, const EventSink& sink,
                   std::stop_token stop) -> Result<Answered> {
    Answered out;
    STOKA_TRY(remote.chat(
        request,
        [&](const Event& event) {
          if (const auto* ready = std::get_if<ReadyEvent>(&event)) {
            out.session_id = ready->session_id;
            out.visitor_id = ready->visitor_id;
          } else if (const auto* error = std::get_if<ErrorEvent>(&event)) {
            // The wire has no kinds: these two have the exit codes of all that is sent.
            out.error = Error(error->retryable ? ErrorKind::unavailable : ErrorKind::data,
                              error->message, error->retryable ? "ask again" : "");
          }
          sink(event);
        },
        std::move(stop)));
    return out;
  };
}

// One turn, drawn or as event lines.
Result<Answered> answer(App& app, const Asker& ask, const pipeline::TurnRequest& request,
                        std::stop_token stop) {
  if (app.common.json)
    return ask(
        request, [](const Event& event) { print(terminal::json_line(event) + "\n"); }, stop);
  terminal::AnswerPrinter printer([](std::string_view text) { print(text); },
                                  app.capabilities(STDOUT_FILENO));
  // A pager that draws the output looks after the terminal itself.
  const terminal::EchoOff typing(isatty(STDOUT_FILENO) ? STDIN_FILENO : -1);
  printer.show_waiting();
  auto answered = ask(
      request,
      [&](const Event& event) {
        // Errors go to stderr, through report(); what was written so far stands.
        if (std::holds_alternative<ErrorEvent>(event))
          printer.cut_off();
        else
          printer.handle(event);
      },
      stop);
  printer.finish();
  return answered;
}

// One answer; the next question goes on in its session.
Result<> turn(App& app, const Asker& ask, const ChatFlags& flags, pipeline::TurnRequest& request,
              std::stop_token stop) {
  STOKA_ASSIGN(Answered answered, answer(app, ask, request, stop));
  if (flags.trace) print_error(clean_lines(answered.trace));
  request.session_id = std::move(answered.session_id);
  request.visitor_id = std::move(answered.visitor_id);
  if (answered.error) return fail(*answered.error);
  return {};
}

// Who answers: a site, or the index of this machine.
struct House {
  std::unique_ptr<RemoteSite> site;
  std::unique_ptr<Wired> wired;
  Asker ask;
};

Result<House> open_house(App& app, const ChatFlags& flags) {
  House out;
  if (flags.url) {
    STOKA_ASSIGN(out.site,
                 RemoteSite::make(app, *flags.url,
                                  {{"--trace", flags.trace}, {"--dry-run", flags.dry_run}}));
    out.ask = asker(out.site->remote());
  } else {
    STOKA_ASSIGN(out.wired, wire(app, store::OpenMode::read));
    out.ask = asker(*out.wired);
  }
  return out;
}

int run_chat(App& app, const ChatFlags& flags) {
  bool given = flags.query.has_value();
  if (!given && isatty(STDIN_FILENO))
    return app.report({ErrorKind::usage, "no question",
                       "stoka chat \"your question\", or - to read standard input"});
  Questions questions(flags.query.value_or("-"));
  // A question that cannot be asked is said before anything is opened.
  if (!questions.several())
    if (auto query = pipeline::clean_query(*flags.query); !query) return app.report(query.error());
  auto house = open_house(app, flags);
  if (!house) return app.report(house.error());
  auto interrupt = terminal::Interrupt::install({.output = STDOUT_FILENO});
  if (!interrupt) return app.report(interrupt.error());

  pipeline::TurnRequest request{"", flags.session, flags.visitor, "", flags.page.context()};
  int code = 0;
  bool asked = false;
  for (;;) {
    // Before reading, so that Ctrl-C ends the wait for a question too.
    std::stop_token stop = (*interrupt)->begin();
    auto question = stop.stop_requested() ? std::nullopt : questions.next();
    if (question && !stop.stop_requested()) {
      if (!app.common.json && questions.several())
        print(fmt::format("{}> {}\n\n", asked ? "\n" : "", terminal::printable(*question)));
      asked = true;
      request.query = *question;
      auto done = flags.dry_run ? dry_run(app, *house->wired, request, stop)
                                : turn(app, house->ask, flags, request, stop);
      if (!done && !(*interrupt)->output_closed()) code = app.report(done.error());
    }
    if (const bool stopped = (*interrupt)->end(); stopped || (*interrupt)->output_closed())
      // A reader that has enough ("| head") is not a failure.
      return (*interrupt)->output_closed() ? code : exit_code(ErrorKind::cancelled);
    if (!question) break;
  }
  if (!asked)
    return app.report({ErrorKind::usage, "no question on standard input", "write one a line"});
  return code;
}

}  // namespace

Run declare_chat(FlagList& flags) {
  auto values = std::make_shared<ChatFlags>();
  add(flags,
      {{.names = "QUERY",
        .target = &values->query,
        .help = "the question; - reads one a line, turns of one session"},
       {.names = "--session",
        .target = &values->session,
        .help = "go on with this session, or give a new one its id",
        .value = "UUID"},
       {.names = "--visitor", .target = &values->visitor, .help = "who asks", .value = "UUID"}});
  values->page.declare(flags);
  values->page.declare_scroll(flags);
  add(flags, {url_flag(values->url),
              {.names = "--trace",
               .target = &values->trace,
               .help = "timings, scores and citations on stderr"},
              {.names = "--dry-run",
               .target = &values->dry_run,
               .help = "print the prompt a model would get, call no generator, save nothing"}});
  return [values](App& app) { return run_chat(app, *values); };
}

}  // namespace stoka::app
