#include "terminal/repl.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/suggestion.h"
#include "terminal/cite_box.h"
#include "terminal/echo_off.h"
#include "text/normalize.h"
#include "text/width.h"

namespace stoka::terminal {
namespace {

// Wraps a text that will be indented. Without a terminal the text is one line.
std::vector<std::string> wrap_indented(const std::string& text, size_t indent,
                                       const Capabilities& capabilities) {
  constexpr int kMinColumns = 10;
  if (!capabilities.tty) return {text};
  return text::wrap(text,
                    static_cast<size_t>(std::max(capabilities.columns, kMinColumns)) - indent);
}

}  // namespace

struct Repl::Command {
  std::string name;
  std::string argument;
  std::string help;
  std::function<void(Repl&, std::string_view)> action;  // what the command does; empty for /quit
};

const std::vector<Repl::Command>& Repl::commands() {
  static const std::vector<Command> kCommands = {
      {"/help", "", "show this list", [](Repl& r, auto) { r.show_help(); }},
      {"/new", "", "start a new session", [](Repl& r, auto) { r.start_session(); }},
      {"/session", "", "show ids, turns and topic", [](Repl& r, auto) { r.show_session(); }},
      {"/page", "URL", "set the page you are on", [](Repl& r, auto a) { r.show_or_set_page(a); }},
      {"/seen", "", "list the slugs shown so far", [](Repl& r, auto) { r.show_shown_slugs(); }},
      {"/cites", "", "list the citations so far", [](Repl& r, auto) { r.show_citations(); }},
      {"/open", "N", "show citation N's address", [](Repl& r, auto a) { r.show_address(a); }},
      {"/why", "", "explain the last answer", [](Repl& r, auto) { r.explain_answer(); }},
      {"/json", "", "turn JSON event lines on/off", [](Repl& r, auto) { r.toggle_json(); }},
      {"/quit", "", "leave (also Ctrl-D)", {}},
  };
  return kCommands;
}

Repl::Repl(pipeline::ChatBackend& backend, LineEditor& editor, Interrupt& interrupt, TextSink out,
           ReplOptions options)
    : backend_(backend),
      editor_(editor),
      interrupt_(interrupt),
      out_(std::move(out)),
      options_(std::move(options)),
      json_(options_.json),
      session_(backend_.new_session({})) {}

Result<> Repl::run() {
  editor_.set_completer([this](std::string_view before) { return complete(before); });
  struct Detach {
    LineEditor& editor;
    ~Detach() { editor.set_completer({}); }
  } const detach{editor_};

  if (const std::string hint = text::collapse_whitespace(sanitize_line(options_.hint));
      !hint.empty() && !json_) {
    AnswerPrinter printer(out_, current_capabilities());
    printer.handle(TokenEvent{hint});
    printer.finish();
  }
  const std::string prompt = paint(Style::meta, ">", options_.capabilities) + ' ';
  int idle_interrupts = 0;
  bool history_works = true;
  while (true) {
    STOKA_ASSIGN(const Line line, editor_.read(prompt));
    if (line.kind == Line::Kind::end) {
      out_("\n");
      return {};
    }
    const std::string_view entered = trimmed(line.text);
    if (line.kind == Line::Kind::interrupted) {
      idle_interrupts = entered.empty() ? idle_interrupts + 1 : 0;
      if (idle_interrupts == 2) print_line("Ctrl-D leaves.", Style::dim);
      continue;
    }
    idle_interrupts = 0;
    if (entered.empty()) continue;
    if (history_works) {
      if (const auto kept = editor_.add_history(entered); !kept) {
        history_works = false;  // the error is not printed again
        print_error(kept.error());
      }
    }
    // Many people type one of these words to leave.
    if (entered == "exit" || entered == "quit") return {};
    if (!entered.starts_with('/')) {
      answer(std::string(entered));
    } else if (!run_command(entered)) {
      return {};
    }
  }
}

std::vector<std::string> Repl::complete(std::string_view before) const {
  constexpr std::string_view kPage = "/page ";
  std::vector<std::string> out;
  if (before.starts_with(kPage)) {
    for (const std::string& page : backend_.pages()) {
      if (page.starts_with(before.substr(kPage.size()))) {
        out.push_back(std::string(kPage) + sanitize_line(page));
      }
    }
  } else if (before.starts_with('/')) {
    for (const Command& known : commands()) {
      if (known.name.starts_with(before)) {
        out.push_back(known.argument.empty() ? known.name : known.name + ' ');
      }
    }
  }
  return out;
}

bool Repl::run_command(std::string_view line) {
  const size_t end = std::min(line.find_first_of(kAsciiWhitespace), line.size());
  const std::string_view name = line.substr(0, end);
  const auto known = std::find_if(commands().begin(), commands().end(),
                                  [name](const Command& c) { return c.name == name; });
  if (known == commands().end()) {
    std::vector<std::string> names;
    for (const Command& c : commands()) names.push_back(c.name);
    print_error(
        {ErrorKind::usage,
         fmt::format("unknown command '{}'{}", sanitize_line(name), did_you_mean(name, names)),
         "/help lists the commands"});
    return true;
  }
  if (!known->action) return false;
  const std::string_view argument = trimmed(line.substr(end));
  if (known->argument.empty() && !argument.empty()) {
    print_error({ErrorKind::usage, fmt::format("{} takes no argument", known->name),
                 fmt::format("type {} alone", known->name)});
    return true;
  }
  known->action(*this, argument);
  return true;
}

void Repl::answer(const std::string& query) {
  AnswerPrinter printer(out_, current_capabilities(), citations_.size() + 1);
  const bool spaced = options_.capabilities.tty && !json_;
  if (spaced) out_("\n");
  if (spaced) printer.show_waiting();
  const EchoOff typing(options_.input);
  const std::stop_token stop = interrupt_.begin();
  const EventSink sink = [&](const Event& event) {
    if (const auto* cite = std::get_if<CiteEvent>(&event)) citations_.push_back(cite->citation);
    if (json_) {
      out_(json_line(event) + '\n');
    } else if (!std::holds_alternative<ErrorEvent>(event) || !stop.stop_requested()) {
      printer.set_columns(current_capabilities().columns);
      printer.handle(event);
    }
  };
  PageContext page;
  page.page = page_;
  auto asked = backend_.ask(session_, query, page, sink, stop);
  if (asked) why_ = std::move(asked->why);
  const bool stopped = interrupt_.end();
  printer.finish();
  if (stopped) {
    if (!json_) print_line("stopped.", Style::dim);
  } else if (!asked) {
    print_error(asked.error());
  }
  if (spaced) out_("\n");
}

void Repl::show_help() {
  for (const Command& c : commands()) {
    const std::string usage = c.argument.empty() ? c.name : c.name + ' ' + c.argument;
    print_line(fmt::format("{:<10} {}", usage, c.help));
  }
}

void Repl::start_session() {
  session_ = backend_.new_session(session_.visitor_id);
  why_.clear();
  citations_.clear();
  print_line("new session.", Style::dim);
}

void Repl::show_session() {
  const auto row = [this](std::string_view label, std::string_view value) {
    if (!value.empty()) print_line(fmt::format("{:<8} {}", label, sanitize_line(value)));
  };
  row("session", session_.id);
  row("visitor", session_.visitor_id);
  row("turns", std::to_string(session_.turns));
  row("topic", session_.current_topic());
  row("page", page_);
}

void Repl::show_or_set_page(std::string_view url) {
  if (url.empty()) {
    return page_.empty() ? print_line("no page. /page URL sets one.", Style::dim)
                         : print_line(sanitize_line(page_));
  }
  page_ = url;
  print_line(fmt::format("on {}", sanitize_line(url)), Style::dim);
}

void Repl::show_shown_slugs() {
  if (session_.shown_slugs.empty()) return print_line("nothing yet.", Style::dim);
  for (const std::string& slug : session_.shown_slugs) print_line(sanitize_line(slug));
}

void Repl::show_citations() {
  if (citations_.empty()) return print_line("nothing yet.", Style::dim);
  const Capabilities capabilities = current_capabilities();
  for (size_t i = 0; i < citations_.size(); ++i) {
    const Citation& c = citations_[i];
    const std::string title =
        text::collapse_whitespace(sanitize_line(c.title.empty() ? c.slug : c.title));
    const std::string number = fmt::format("[{}] ", i + 1);
    const std::string indent(number.size(), ' ');
    std::string lead = paint(Style::meta, number, capabilities);
    for (const std::string& line : wrap_indented(title, number.size(), capabilities)) {
      print_line(lead + link(paint(Style::title, line, capabilities), c.url, capabilities));
      lead = indent;
    }
    if (const std::string meta = cite_meta(c, capabilities); !meta.empty()) {
      for (const std::string& line : wrap_indented(meta, number.size(), capabilities)) {
        print_line(indent + line, Style::meta);
      }
    }
  }
}

void Repl::show_address(std::string_view number) {
  const size_t n = parse_number<size_t>(number).value_or(0);
  if (n == 0 || n > citations_.size()) {
    return print_error({ErrorKind::usage,
                        number.empty()
                            ? "which citation?"
                            : fmt::format("there is no citation '{}'", sanitize_line(number)),
                        citations_.empty() ? "nothing has been cited yet" : "/cites lists them"});
  }
  const Citation& c = citations_[n - 1];
  const std::string address = cite_address(c);
  print_line(address.empty() ? sanitize_line(c.slug) : address);
}

void Repl::explain_answer() {
  if (why_.empty()) return print_line("no answer yet.", Style::dim);
  for (std::string_view rest = why_; !rest.empty();) print_line(sanitize_line(take_line(rest)));
}

void Repl::toggle_json() {
  json_ = !json_;
  print_line(json_ ? "json on." : "json off.", Style::dim);
}

Capabilities Repl::current_capabilities() const {
  Capabilities capabilities = options_.capabilities;
  if (options_.columns) {
    if (const int columns = options_.columns(); columns > 0) capabilities.columns = columns;
  }
  return capabilities;
}

void Repl::print_line(std::string_view line, Style style) {
  out_(paint(style, line, options_.capabilities) + '\n');
}

void Repl::print_line(std::string_view line) { out_(std::string(line) + '\n'); }

void Repl::print_error(const Error& error) {
  out_((json_ ? json_line(error) : error_text(error, current_capabilities())) + '\n');
}

}  // namespace stoka::terminal
