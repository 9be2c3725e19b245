#include "terminal/repl.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <deque>

#include "terminal/fake_backend.h"

namespace stoka::terminal::repl_test {

using namespace stoka::testing;

namespace {

class ScriptedEditor final : public LineEditor {
 public:
  Result<Line> read(const std::string&) override {
    if (lines.empty()) return Line{Line::Kind::end, {}};
    Line line = lines.front();
    lines.pop_front();
    return line;
  }
  Result<> add_history(std::string_view line) override {
    history.emplace_back(line);
    if (!history_error.empty()) return fail(ErrorKind::data, history_error, "free some space");
    return {};
  }
  void set_completer(Completer completer) override { has_completer = completer != nullptr; }

  std::deque<Line> lines;
  std::vector<std::string> history;
  std::string history_error;
  bool has_completer = false;
};

struct ReplFixture {
  FakeBackend backend;
  ScriptedEditor editor;
  std::unique_ptr<Interrupt> interrupt = Interrupt::install().value();
  std::string screen;
  ReplOptions options;

  Repl repl() {
    return Repl(
        backend, editor, *interrupt, [this](std::string_view t) { screen += t; }, options);
  }
  // Returns the output after these lines and Ctrl-D.
  std::string run(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) editor.lines.push_back({Line::Kind::entered, line});
    screen.clear();
    REQUIRE(repl().run());
    return screen;
  }
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST_CASE("the conversation begins with at most one hint and no greeting") {
  ReplFixture fixture;
  CHECK(fixture.run({}) == "\n");
  fixture.options.hint = "you're on the landing page.\nmore";
  CHECK(fixture.run({}) == "you're on the landing page. more\n\n");
}

TEST_CASE("a question is answered and added to the history, an empty line is ignored") {
  ReplFixture fixture;
  CHECK(fixture.run({"", "   ", "  what is it?  "}) ==
        "answer 1 to what is it?\n\n> [1] Essay 1\n> blog\n> /blog/essay-1\n\n");
  CHECK(fixture.backend.queries == std::vector<std::string>{"what is it?"});
  CHECK(fixture.editor.history == std::vector<std::string>{"what is it?"});
}

TEST_CASE("each command does what /help says") {
  ReplFixture fixture;
  const std::string help = fixture.run({"/help"});
  for (const char* name : {"/help", "/new", "/session", "/page URL", "/seen", "/cites", "/open N",
                           "/why", "/json", "/quit"}) {
    CAPTURE(name);
    CHECK(contains(help, name));
  }
  CHECK(fixture.run({"/seen"}) == "nothing yet.\n\n");
  CHECK(fixture.run({"/cites"}) == "nothing yet.\n\n");
  CHECK(fixture.run({"/why"}) == "no answer yet.\n\n");
  CHECK(contains(fixture.run({"q", "r", "/cites"}),
                 "[1] Essay 1\n    blog\n[2] Essay 2\n    blog\n"));
  CHECK(contains(fixture.run({"q", "/open 1"}), "\n/blog/essay-3\n"));
  CHECK(contains(fixture.run({"q", "/why"}), "route new\n  essay 0.9 [2J\n"));
  CHECK(contains(fixture.run({"q", "r", "/seen"}), "essay-5\nessay-6\n"));
  CHECK(fixture.run({"/page"}) == "no page. /page URL sets one.\n\n");
  CHECK(fixture.run({"/page /blog/x", "/page"}) == "on /blog/x\n/blog/x\n\n");
  CHECK(fixture.run({"/session"}) == "session  session-id\nvisitor  visitor-id\nturns    0\n\n");
  CHECK(contains(fixture.run({"/page /blog/x", "q", "/session"}),
                 "session  session-id\nvisitor  visitor-id\nturns    7\ntopic    a topic\n"
                 "page     /blog/x\n"));
  CHECK(fixture.backend.pages_asked_on.back() == "/blog/x");
}

TEST_CASE("a citation is shown with the number that /cites and /open use") {
  ReplFixture fixture;
  fixture.options.capabilities.tty = true;
  fixture.backend.site = "https://a.test";
  const std::string screen = fixture.run({"q", "r", "/cites", "/open 2", "/new", "s", "/open 1"});
  CHECK(contains(screen, "─ cite 1 ─"));
  CHECK(contains(screen, "─ cite 2 ─"));
  CHECK_FALSE(contains(screen, "─ cite 3 ─"));
  CHECK(contains(screen, "[2] Essay 2\n    blog\nhttps://a.test/blog/essay-2\n"));
  // In a new session the numbers start at one again.
  CHECK(screen.find("─ cite 1 ─") != screen.rfind("─ cite 1 ─"));
  CHECK(screen.ends_with("https://a.test/blog/essay-3\n\n"));
}

TEST_CASE("/new starts a session of the same visitor without citations") {
  ReplFixture fixture;
  CHECK(contains(fixture.run({"q", "/new", "/cites", "/seen", "/why"}),
                 "new session.\nnothing yet.\nnothing yet.\nno answer yet.\n"));
  CHECK(fixture.backend.sessions == 2);
  CHECK(contains(fixture.run({"/new", "/session"}), "visitor  visitor-id'\nturns    0\n"));
}

TEST_CASE("/quit ends the conversation at once") {
  ReplFixture fixture;
  CHECK(fixture.run({"/quit", "never asked"}).empty());
  CHECK(fixture.backend.queries.empty());
}

TEST_CASE("a mistyped command prints one line and a next step") {
  struct Case {
    const char* line;
    const char* screen;
  };
  const std::vector<Case> cases = {
      {"/opne",
       "error: unknown command '/opne', did you mean '/open'?\n  /help lists the commands"},
      {"/xyzzy", "error: unknown command '/xyzzy'\n  /help lists the commands"},
      {"/open", "error: which citation?\n  nothing has been cited yet"},
      {"/open 1", "error: there is no citation '1'\n  nothing has been cited yet"},
      {"/open 0x1", "error: there is no citation '0x1'\n  nothing has been cited yet"},
      {"/open 99999999999999999999999",
       "error: there is no citation '99999999999999999999999'\n  nothing has been cited yet"},
      {"/seen all", "error: /seen takes no argument\n  type /seen alone"},
      {"fail", "error: there is no index\n  run 'stoka index PATH'"},
      {"break", "half\n\nerror: the generator went away\n  ask again in a moment"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.line);
    ReplFixture fixture;
    CHECK(fixture.run({c.line}) == std::string(c.screen) + "\n\n");
  }
}

TEST_CASE("/json turns JSON event lines on and off") {
  ReplFixture fixture;
  const std::string screen = fixture.run({"/json", "q", "fail", "/json", "r"});
  CHECK(contains(screen, "json on.\n{\"event\":\"ready\",\"data\":{"));
  CHECK(contains(screen, "{\"event\":\"token\",\"data\":{\"text\":\"answer 1 to q\"}}\n"));
  CHECK(contains(screen, "{\"error\":{\"kind\":\"data\",\"message\":\"there is no index\""));
  CHECK(contains(screen, "json off.\nanswer 2 to r\n"));
}

TEST_CASE("the second Ctrl-C at an empty prompt says how to leave") {
  const auto hint_after = [](const std::vector<Line>& lines) {
    ReplFixture fixture;
    fixture.editor.lines.assign(lines.begin(), lines.end());
    return contains(fixture.run({}), "Ctrl-D leaves.");
  };
  const Line empty{Line::Kind::interrupted, ""};
  const Line typed{Line::Kind::interrupted, "some text"};
  const Line entered{Line::Kind::entered, "q"};
  CHECK_FALSE(hint_after({empty}));
  CHECK(hint_after({empty, empty}));
  CHECK_FALSE(hint_after({empty, typed, empty}));
  CHECK_FALSE(hint_after({empty, entered, empty}));
  CHECK_FALSE(hint_after({typed, typed}));
}

TEST_CASE("an interrupted answer is marked and the next question is answered") {
  ReplFixture fixture;
  fixture.editor.lines = {{Line::Kind::entered, "wait"}, {Line::Kind::entered, "q"}};
  Repl repl(
      fixture.backend, fixture.editor, *fixture.interrupt,
      [&](std::string_view text) {
        fixture.screen += text;
        if (contains(text, "ever")) ::raise(SIGINT);
      },
      fixture.options);
  REQUIRE(repl.run());
  CHECK(fixture.screen.starts_with("waiting for ever\nstopped.\nanswer 2 to q\n"));
}

TEST_CASE("an error of the history file is printed once") {
  ReplFixture fixture;
  fixture.editor.history_error = "the disk is full";
  const std::string screen = fixture.run({"q", "r"});
  const size_t first = screen.find("the disk is full");
  REQUIRE(first != std::string::npos);
  CHECK(screen.find("the disk is full", first + 1) == std::string::npos);
}

TEST_CASE("Tab completes commands and pages") {
  ReplFixture fixture;
  const Repl repl = fixture.repl();
  using Lines = std::vector<std::string>;
  CHECK(repl.complete("/c") == Lines{"/cites"});
  CHECK(repl.complete("/p") == Lines{"/page "});
  CHECK(repl.complete("/se") == Lines{"/session", "/seen"});
  CHECK(repl.complete("/").size() == 10);
  CHECK(repl.complete("/page /b") == Lines{"/page /blog/one", "/page /blog/two"});
  CHECK(repl.complete("/page /x").empty());
  CHECK(repl.complete("").empty());
  CHECK(repl.complete("what").empty());
}

TEST_CASE("run() removes its completer when it returns") {
  ReplFixture fixture;
  fixture.run({"q"});
  CHECK_FALSE(fixture.editor.has_completer);
}

TEST_CASE("the output of /help fits in 40 columns") {
  ReplFixture fixture;
  for (size_t begin = 0; const char c : fixture.run({"/help"})) {
    begin = c == '\n' ? 0 : begin + 1;
    CHECK(begin <= 40);
  }
}

}  // namespace
}  // namespace stoka::terminal::repl_test
