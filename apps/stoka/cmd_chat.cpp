#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "chat_backend.h"
#include "command.h"
#include "page_flags.h"
#include "pipeline/explain.h"
#include "terminal/answer_printer.h"
#include "terminal/echo_off.h"
#include "terminal/interrupt.h"
#include "text/normalize.h"

namespace stoka::app {
namespace {

using pipeline::ChatBackend;

constexpr size_t kMaxLineBytes = 1 << 20;

struct ChatFlags {
  std::optional<std::string> query;
  std::string session;
  std::string visitor;
  PageFlags page;
  std::optional<std::string> url;
  bool trace = false;
  bool dry_run = false;
};

// The questions to answer: the argument, or the lines of standard input if the argument is "-".
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
  // Reads a question. One with more than kMaxLineBytes is cut there and refused later as too long.
  std::optional<std::string> read_line() {
    std::string line;
    int c = std::cin.get();
    if (c == std::char_traits<char>::eof()) return std::nullopt;
    for (; c != std::char_traits<char>::eof() && c != '\n'; c = std::cin.get())
      if (line.size() < kMaxLineBytes) line += static_cast<char>(c);
    return line;
  }

  std::string argument_;
  bool from_stdin_;
  bool given_ = false;
};

std::string dry_run_text(const pipeline::Turn& turn) {
  std::string out;
  if (!turn.canned_reply.empty())
    return fmt::format("route {} (rule {}): no prompt. reply: {}\n", to_string(turn.route),
                       turn.rule, turn.canned_reply);
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

// Answers one question and prints the answer, as text or as JSON event lines.
Result<ChatBackend::Answer> answer(App& app, ChatBackend& backend, Session& session,
                                   const std::string& query, const PageContext& page,
                                   std::stop_token stop) {
  if (app.common.json)
    return backend.ask(
        session, query, page, [](const Event& event) { print(terminal::json_line(event) + "\n"); },
        stop);
  terminal::AnswerPrinter printer([](std::string_view text) { print(text); },
                                  app.capabilities(STDOUT_FILENO));
  // If the output goes to a pager, the pager controls the terminal.
  const terminal::EchoOff echo_off(isatty(STDOUT_FILENO) ? STDIN_FILENO : -1);
  printer.show_waiting();
  auto result = backend.ask(
      session, query, page,
      [&](const Event& event) {
        // App::report() prints the error to stderr later. The answer so far stays on stdout.
        if (std::holds_alternative<ErrorEvent>(event))
          printer.cut_off();
        else
          printer.handle(event);
      },
      stop);
  printer.finish();
  return result;
}

// Answers one question of the session, or prints its prompt with --dry-run.
Result<> turn(App& app, ChatBackend& backend, const ChatFlags& flags, Session& session,
              const std::string& query, std::stop_token stop) {
  const PageContext page = flags.page.context();
  if (flags.dry_run) {
    STOKA_ASSIGN(const pipeline::Turn turn, backend.prompt(session, query, page, stop));
    print(app.common.json ? pipeline::prompt_json(turn) + "\n"
                          : sanitize_lines(dry_run_text(turn)));
    return {};
  }
  STOKA_ASSIGN(const ChatBackend::Answer result, answer(app, backend, session, query, page, stop));
  if (flags.trace) print_stderr(sanitize_lines(result.trace));
  if (result.error) return fail(*result.error);
  return {};
}

int run_chat(App& app, const ChatFlags& flags) {
  bool given = flags.query.has_value();
  if (!given && isatty(STDIN_FILENO))
    return app.report({ErrorKind::usage, "there is no question",
                       "write: stoka chat \"your question\", or - to read standard input"});
  Questions questions(flags.query.value_or("-"));
  // An invalid question is reported before anything is opened.
  if (!questions.several())
    if (auto query = pipeline::clean_query(*flags.query); !query) return app.report(query.error());
  const auto backend =
      make_chat_backend(app, flags.url, {{"--trace", flags.trace}, {"--dry-run", flags.dry_run}});
  if (!backend) return app.report(backend.error());
  auto interrupt = terminal::Interrupt::install({.output = STDOUT_FILENO});
  if (!interrupt) return app.report(interrupt.error());

  Session session;
  session.id = flags.session;
  session.visitor_id = flags.visitor;
  int code = 0;
  bool asked = false;
  for (;;) {
    // Ctrl-C is caught before a question is read, so that Ctrl-C also ends the wait for it.
    std::stop_token stop = (*interrupt)->begin();
    auto question = stop.stop_requested() ? std::nullopt : questions.next();
    if (question && !stop.stop_requested()) {
      if (!app.common.json && questions.several())
        print(fmt::format("{}> {}\n\n", asked ? "\n" : "", terminal::sanitize_line(*question)));
      asked = true;
      auto done = turn(app, **backend, flags, session, *question, stop);
      if (!done && !(*interrupt)->output_closed()) code = app.report(done.error());
    }
    if (const bool stopped = (*interrupt)->end(); stopped || (*interrupt)->output_closed())
      // If the reader has closed the pipe ("| head"), the failed write is not reported.
      return (*interrupt)->output_closed() ? code : exit_code(ErrorKind::cancelled);
    if (!question) break;
  }
  if (!asked)
    return app.report({ErrorKind::usage, "there is no question on standard input",
                       "write one question per line"});
  return code;
}

}  // namespace

Run declare_chat(FlagList& flags) {
  auto values = std::make_shared<ChatFlags>();
  add(flags, {{.names = "QUERY",
               .target = &values->query,
               .help = "the question; - reads one per line of standard input, all in one session"},
              {.names = "--session",
               .target = &values->session,
               .help = "continue the session with this id, or create it",
               .value = "UUID"},
              {.names = "--visitor",
               .target = &values->visitor,
               .help = "the id of the visitor who asks",
               .value = "UUID"}});
  values->page.declare(flags);
  values->page.declare_scroll(flags);
  add(flags, {url_flag(values->url),
              {.names = "--trace",
               .target = &values->trace,
               .help = "print timings, scores and citations to stderr"},
              {.names = "--dry-run",
               .target = &values->dry_run,
               .help = "print the prompt for a model; call no generator and save nothing"}});
  return [values](App& app) { return run_chat(app, *values); };
}

}  // namespace stoka::app
