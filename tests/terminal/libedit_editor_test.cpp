// The REPL with libedit on a pseudo-terminal.
#include <doctest/doctest.h>

#include <cstdio>

#include "support/temp_folder.h"
#include "terminal/fake_backend.h"
#include "terminal/history_file.h"
#include "terminal/line_editor.h"
#include "terminal/pty.h"
#include "terminal/repl.h"

namespace stoka::terminal::libedit_editor_test {

using namespace stoka::testing;

namespace {

constexpr const char* kUp = "\x1b[A";
constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlD = "\x04";

std::function<int()> program(std::filesystem::path history = {}, bool editing = true) {
  return [history, editing] {
    FakeBackend backend;
    const auto interrupt = Interrupt::install();
    const auto editor = make_line_editor({stdin, stdout, editing, history});
    if (!interrupt) return 9;
    const auto out = [](std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    };
    ReplOptions options;
    options.capabilities.tty = true;
    return Repl(backend, *editor, **interrupt, out, options).run() ? 0 : 1;
  };
}

// A REPL on a pseudo-terminal, which shows its first prompt.
class ReplPty : public Pty {
 public:
  explicit ReplPty(std::filesystem::path history = {}, bool editing = true)
      : Pty(program(std::move(history), editing)) {
    REQUIRE(expect("> "));
  }
  // Types a line and waits for its result and the next prompt.
  void enter(const std::string& line, std::string_view result) {
    type(line + "\r");
    REQUIRE(expect(result));
    REQUIRE(expect("> "));
  }
};

TEST_CASE("Ctrl-D on an empty line ends the conversation") {
  ReplPty pty;
  pty.type(kCtrlD);
  CHECK(pty.wait() == 0);
  // Bracketed paste mode is turned on and off again.
  CHECK(pty.drawn().find("\x1b[?2004h") != std::string::npos);
  CHECK(pty.drawn().find("\x1b[?2004l") != std::string::npos);
}

TEST_CASE("Ctrl-D inside a line deletes a character") {
  ReplPty pty;
  pty.type("abcd\x01\x04\x05\x04\r");  // to the start, delete, to the end, nothing to delete
  CHECK(pty.expect("answer 1 to bcd"));
}

TEST_CASE("the up arrow recalls the previous lines") {
  ReplPty pty;
  pty.enter("first question", "answer 1 to first question");
  pty.enter("second", "answer 2 to second");
  pty.type(std::string(kUp) + kUp + "\r");
  CHECK(pty.expect("answer 3 to first question"));
}

TEST_CASE("the history is kept between runs") {
  const testing::TempFolder directory;
  const auto path = directory / "history";
  {
    ReplPty pty(path);
    pty.enter("früher gefragt", "answer 1");
    pty.type(kCtrlD);
    REQUIRE(pty.wait() == 0);
  }
  CHECK(HistoryFile(path).load().value() == std::vector<std::string>{"früher gefragt"});
  ReplPty pty(path);
  pty.type(std::string(kUp) + "\r");
  CHECK(pty.expect("answer 1 to früher gefragt"));
}

TEST_CASE("Tab completes a command or lists the candidates") {
  ReplPty pty;
  pty.type("/c\t\r");
  CHECK(pty.expect("/cites"));
  CHECK(pty.expect("nothing yet."));
  REQUIRE(pty.expect("> "));
  pty.type("/se\t");
  CHECK(pty.expect("/session\r\n"));
  CHECK(pty.expect("/seen\r\n"));
  pty.type("e\t\r");
  CHECK(pty.expect("nothing yet."));
}

TEST_CASE("Ctrl-C during an answer stops the answer and not the program") {
  ReplPty pty;
  pty.type("wait\r");
  REQUIRE(pty.expect("waiting for ever"));
  pty.type(kCtrlC);
  CHECK(pty.expect("stopped."));
  REQUIRE(pty.expect("> "));
  pty.enter("still here", "answer 2 to still here");
  pty.type(kCtrlD);
  CHECK(pty.wait() == 0);
}

TEST_CASE("Ctrl-C at the prompt discards the line, and a second one says how to leave") {
  ReplPty pty;
  pty.type(std::string("not asked") + kCtrlC);
  REQUIRE(pty.expect("\n"));
  REQUIRE(pty.expect("> "));
  pty.type(std::string(kCtrlC) + kCtrlC);
  CHECK(pty.expect("Ctrl-D leaves."));
  REQUIRE(pty.expect("> "));
  pty.type("asked\r");
  CHECK(pty.expect("answer 1 to asked"));
}

TEST_CASE("several pasted lines become one question") {
  ReplPty pty;
  pty.type("\x1b[200~two\r\n\tlines\x1b[31m\r\x1b[201~");
  REQUIRE(pty.expect("two lines [31m"));
  pty.type("\r");
  CHECK(pty.expect("answer 1 to two lines [31m"));
}

TEST_CASE("wide, combining and accented characters can be edited") {
  ReplPty pty;
  pty.type("日本x\x7f語 cafe\u0301 é ö!\x7f\r");
  CHECK(pty.expect("answer 1 to 日本語 cafe\u0301 é ö"));
}

TEST_CASE("invalid UTF-8 is replaced and does not end the line") {
  ReplPty pty;
  pty.type(
      "a\xff"
      "b\xe6\x97"
      "c\r");
  CHECK(
      pty.expect("answer 1 to a\uFFFD"
                 "b"));
}

TEST_CASE("the line is redrawn after a resize") {
  ReplPty pty;
  pty.type("hello");
  REQUIRE(pty.expect("hello"));
  pty.resize(40);
  REQUIRE(pty.expect("\r\x1b[J"));
  REQUIRE(pty.expect("> hello"));
  pty.type(" there\r");
  CHECK(pty.expect("answer 1 to hello there"));
}

TEST_CASE("without line editing, Ctrl-C stops the answer and Ctrl-D ends the program") {
  ReplPty pty({}, false);
  pty.type("wait\r");
  REQUIRE(pty.expect("waiting for ever"));
  pty.type(kCtrlC);
  CHECK(pty.expect("stopped."));
  REQUIRE(pty.expect("> "));
  pty.enter("still here", "answer 2 to still here");
  pty.type(kCtrlD);
  CHECK(pty.wait() == 0);
  CHECK(pty.drawn().find("\x1b[?2004h") == std::string::npos);
}

}  // namespace
}  // namespace stoka::terminal::libedit_editor_test
