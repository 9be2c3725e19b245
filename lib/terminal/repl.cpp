#include "terminal/repl.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/nearest.h"
#include "terminal/cite_box.h"
#include "terminal/echo_off.h"
#include "text/normalize.h"
#include "text/width.h"

namespace stoka::terminal {
namespace {

// The lines of a text that is indented on a terminal; the text itself elsewhere.
std::vector<std::string> folded(const std::string& text, size_t indent,
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
  std::function<void(Repl&, std::string_view)> act;  // empty: leave
};

const std::vector<Repl::Command>& Repl::commands() {
  static const std::vector<Command> kCommands = {
      {"/help", "", "this list", [](Repl& r, auto) { r.help(); }},
      {"/new", "", "start a new session", [](Repl& r, auto) { r.start_session(); }},
      {"/session", "", "ids, turns, topic", [](Repl& r, auto) { r.show_session(); }},
      {"/page", "URL", "the page you are on", [](Repl& r, auto a) { r.page(a); }},
      {"/seen", "", "slugs shown so far", [](Repl& r, auto) { r.seen(); }},
      {"/cites", "", "citations so far", [](Repl& r, auto) { r.cites(); }},
      {"/open", "N", "where citation N is", [](Repl& r, auto a) { r.open(a); }},
      {"/why", "", "how the answer came about", [](Repl& r, auto) { r.why(); }},
      {"/json", "", "JSON event lines, on or off", [](Repl& r, auto) { r.toggle_json(); }},
      {"/quit", "", "leave (also Ctrl-D)", {}},
  };
  return kCommands;
}

Repl::Repl(Conversation& conversation, LineEditor& editor, Interrupt& interrupt, Write out,
           ReplOptions options)
    : conversation_(conversation),
      editor_(editor),
      interrupt_(interrupt),
      out_(std::move(out)),
      options_(std::move(options)),
      json_(options_.json) {}

Result<> Repl::run() {
  editor_.set_completer([this](std::string_view before) { return complete(before); });
  struct Detach {
    LineEditor& editor;
    ~Detach() { editor.set_completer({}); }
  } const detach{editor_};

  if (const std::string hint = text::squeeze(printable(conversation_.hint()));
      !hint.empty() && !json_) {
    AnswerPrinter printer(out_, now());
    printer.handle(TokenEvent{hint});
    printer.finish();
  }
  const std::string prompt = paint(Look::meta, ">", options_.capabilities) + ' ';
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
      if (idle_interrupts == 2) say("Ctrl-D leaves.", Look::dim);
      continue;
    }
    idle_interrupts = 0;
    if (entered.empty()) continue;
    if (history_works) {
      if (const auto kept = editor_.add_history(entered); !kept) {
        history_works = false;  // said once is enough
        show(kept.error());
      }
    }
    // What people type to leave anything.
    if (entered == "exit" || entered == "quit") return {};
    if (!entered.starts_with('/')) {
      answer(std::string(entered));
    } else if (!command(entered)) {
      return {};
    }
  }
}

std::vector<std::string> Repl::complete(std::string_view before) const {
  constexpr std::string_view kPage = "/page ";
  std::vector<std::string> out;
  if (before.starts_with(kPage)) {
    for (const std::string& page : conversation_.pages()) {
      if (page.starts_with(before.substr(kPage.size()))) {
        out.push_back(std::string(kPage) + printable(page));
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

bool Repl::command(std::string_view line) {
  const size_t end = std::min(line.find_first_of(kWhiteSpace), line.size());
  const std::string_view name = line.substr(0, end);
  const auto known = std::find_if(commands().begin(), commands().end(),
                                  [name](const Command& c) { return c.name == name; });
  if (known == commands().end()) {
    std::vector<std::string> names;
    for (const Command& c : commands()) names.push_back(c.name);
    show({ErrorKind::usage,
          fmt::format("unknown command '{}'{}", printable(name), did_you_mean(name, names)),
          "/help lists the commands"});
    return true;
  }
  if (!known->act) return false;
  const std::string_view argument = trimmed(line.substr(end));
  if (known->argument.empty() && !argument.empty()) {
    show({ErrorKind::usage, fmt::format("{} takes no argument", known->name),
          fmt::format("type {} alone", known->name)});
    return true;
  }
  known->act(*this, argument);
  return true;
}

void Repl::answer(const std::string& query) {
  AnswerPrinter printer(out_, now(), citations_.size() + 1);
  const bool spaced = options_.capabilities.tty && !json_;
  if (spaced) out_("\n");
  if (spaced) printer.wait();
  const EchoOff typing(options_.input);
  const std::stop_token stop = interrupt_.begin();
  const EventSink sink = [&](const Event& event) {
    if (const auto* cite = std::get_if<CiteEvent>(&event)) citations_.push_back(cite->citation);
    if (json_) {
      out_(json_line(event) + '\n');
    } else if (!std::holds_alternative<ErrorEvent>(event) || !stop.stop_requested()) {
      printer.set_columns(now().columns);
      printer.handle(event);
    }
  };
  const Result<> asked = conversation_.ask(query, sink, stop);
  const bool stopped = interrupt_.end();
  printer.finish();
  if (stopped) {
    if (!json_) say("stopped.", Look::dim);
  } else if (!asked) {
    show(asked.error());
  }
  if (spaced) out_("\n");
}

void Repl::help() {
  for (const Command& c : commands()) {
    const std::string usage = c.argument.empty() ? c.name : c.name + ' ' + c.argument;
    say(fmt::format("{:<10} {}", usage, c.help));
  }
}

void Repl::start_session() {
  if (const auto started = conversation_.new_session(); !started) return show(started.error());
  citations_.clear();
  say("new session.", Look::dim);
}

void Repl::show_session() {
  const Conversation::Status status = conversation_.status();
  const auto row = [this](std::string_view label, std::string_view value) {
    if (!value.empty()) say(fmt::format("{:<8} {}", label, printable(value)));
  };
  row("session", status.session_id);
  row("visitor", status.visitor_id);
  row("turns", std::to_string(status.turns));
  row("topic", status.topic);
  row("page", status.page);
}

void Repl::page(std::string_view url) {
  if (url.empty()) {
    const std::string current = printable(conversation_.status().page);
    return current.empty() ? say("no page. /page URL sets one.", Look::dim) : say(current);
  }
  if (const auto set = conversation_.set_page(url); !set) return show(set.error());
  say(fmt::format("on {}", printable(url)), Look::dim);
}

void Repl::seen() {
  const std::vector<std::string> slugs = conversation_.shown_slugs();
  if (slugs.empty()) return say("nothing yet.", Look::dim);
  for (const std::string& slug : slugs) say(printable(slug));
}

void Repl::cites() {
  if (citations_.empty()) return say("nothing yet.", Look::dim);
  const Capabilities capabilities = now();
  for (size_t i = 0; i < citations_.size(); ++i) {
    const Citation& c = citations_[i];
    const std::string title = text::squeeze(printable(c.title.empty() ? c.slug : c.title));
    const std::string number = fmt::format("[{}] ", i + 1);
    const std::string indent(number.size(), ' ');
    std::string lead = paint(Look::meta, number, capabilities);
    for (const std::string& line : folded(title, number.size(), capabilities)) {
      say(lead + link(paint(Look::title, line, capabilities), c.url, capabilities));
      lead = indent;
    }
    if (const std::string meta = cite_meta(c, capabilities); !meta.empty()) {
      for (const std::string& line : folded(meta, number.size(), capabilities)) {
        say(indent + line, Look::meta);
      }
    }
  }
}

void Repl::open(std::string_view number) {
  size_t n = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), n);
  if (error != std::errc() || end != number.data() + number.size() || n == 0 ||
      n > citations_.size()) {
    return show({ErrorKind::usage,
                 number.empty() ? "which citation?"
                                : fmt::format("there is no citation '{}'", printable(number)),
                 citations_.empty() ? "nothing has been cited yet" : "/cites lists them"});
  }
  const Citation& c = citations_[n - 1];
  const std::string address = cite_address(c);
  say(address.empty() ? printable(c.slug) : address);
}

void Repl::why() {
  const std::string text = conversation_.why();
  if (trimmed(text).empty()) return say("no answer yet.", Look::dim);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    say(printable(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
}

void Repl::toggle_json() {
  json_ = !json_;
  say(json_ ? "json on." : "json off.", Look::dim);
}

Capabilities Repl::now() const {
  Capabilities capabilities = options_.capabilities;
  if (options_.columns) {
    if (const int columns = options_.columns(); columns > 0) capabilities.columns = columns;
  }
  return capabilities;
}

void Repl::say(std::string_view line, Look look) {
  out_(paint(look, line, options_.capabilities) + '\n');
}

void Repl::say(std::string_view line) { out_(std::string(line) + '\n'); }

void Repl::show(const Error& error) {
  out_((json_ ? json_line(error) : error_text(error, now())) + '\n');
}

}  // namespace stoka::terminal
