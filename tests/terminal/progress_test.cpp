#include "terminal/progress.h"

#include <doctest/doctest.h>

#include "terminal/screen.h"
#include "text/width.h"

namespace stoka::terminal::progress_test {

using namespace stoka::testing;

namespace {

struct Screen {
  std::string text;
  TextSink write() {
    return [this](std::string_view more) { text += more; };
  }
};

TEST_CASE("the progress line is redrawn in place and removed at the end") {
  Screen screen;
  const FixedClock clock(Instant{});
  {
    Progress progress(screen.write(), terminal_of_width(80), clock);
    progress.update(6, 12, "notes/a.md");
    CHECK(screen.text == "\r━━━━━━━━━━━━──────────── 6/12 notes/a.md\x1b[K");
    screen.text.clear();
  }
  CHECK(screen.text == "\r\x1b[K");
}

TEST_CASE("the line is redrawn at most ten times a second by the given clock") {
  Screen screen;
  FixedClock clock(Instant{});
  Progress progress(screen.write(), terminal_of_width(80), clock);
  progress.update(1, 9, "");
  const std::string first = screen.text;
  clock.advance(std::chrono::milliseconds(99));
  progress.update(2, 9, "");
  CHECK(screen.text == first);
  clock.advance(std::chrono::milliseconds(1));
  progress.update(3, 9, "");
  CHECK(screen.text.find("3/9") != std::string::npos);
}

TEST_CASE("an unchanged line is not redrawn") {
  Screen screen;
  FixedClock clock(Instant{});
  Progress progress(screen.write(), terminal_of_width(80), clock);
  progress.update(0, 510, "reading");
  screen.text.clear();
  clock.advance(std::chrono::seconds(1));
  progress.update(0, 510, "reading");
  CHECK(screen.text.empty());
  clock.advance(std::chrono::seconds(1));
  progress.update(1, 510, "reading");
  CHECK(screen.text.find("1/510") != std::string::npos);
}

TEST_CASE("nothing is written if the output is not a terminal") {
  Screen screen;
  const FixedClock clock(Instant{});
  {
    Progress progress(screen.write(), Capabilities{}, clock);
    progress.update(1, 2, "x");
  }
  CHECK(screen.text.empty());
}

TEST_CASE("the line never uses the last column") {
  const FixedClock clock(Instant{});
  for (int columns = 1; columns < 120; ++columns) {
    for (const bool unicode : {false, true}) {
      Screen screen;
      Capabilities capabilities = terminal_of_width(columns);
      capabilities.unicode = unicode;
      Progress progress(screen.write(), capabilities, clock);
      progress.update(7, 10, "日本語/a very long path that does not fit anywhere/at all.md\x1b[2J");
      const std::string line = without_escapes(screen.text).substr(1);
      CAPTURE(line);
      CHECK(text::display_width(line) < static_cast<size_t>(std::max(columns, 2)));
    }
  }
}

TEST_CASE("an unknown total shows the count alone, and the count never exceeds the total") {
  const FixedClock clock(Instant{});
  Screen screen;
  Progress unknown(screen.write(), terminal_of_width(80), clock);
  unknown.update(5, 0, "x");
  CHECK(screen.text == "\r5 x\x1b[K");
  screen.text.clear();
  Progress over(screen.write(), terminal_of_width(40), clock);
  over.update(9, 4, "x");
  CHECK(screen.text == "\r4/4 x\x1b[K");
}

}  // namespace
}  // namespace stoka::terminal::progress_test
