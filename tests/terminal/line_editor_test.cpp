#include "terminal/line_editor.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <memory>

namespace stoka::terminal::line_editor_test {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Returns a temporary file with this text.
File holding(std::string_view text) {
  File file(std::tmpfile());
  REQUIRE(file);
  std::fwrite(text.data(), 1, text.size(), file.get());
  std::rewind(file.get());
  std::fflush(file.get());
  ::lseek(::fileno(file.get()), 0, SEEK_SET);
  return file;
}

TEST_CASE("the plain editor returns the lines one by one and then the end") {
  const File in = holding("one\r\n\nzwei ü\xff\nlast");
  const File out = holding("");
  const auto editor = make_line_editor({in.get(), out.get(), false, {}});
  for (const char* expected : {"one", "", "zwei ü\uFFFD", "last"}) {
    const Line line = editor->read("> ").value();
    CHECK(line.kind == Line::Kind::entered);
    CHECK(line.text == std::string(expected));
  }
  CHECK(editor->read("> ").value().kind == Line::Kind::end);
  std::fflush(out.get());
  CHECK(std::ftell(out.get()) == 5 * 2);
}

TEST_CASE("the plain editor refuses a line longer than 1 MiB") {
  const File in = holding(std::string(3 << 20, 'x'));
  const File out = holding("");
  const auto editor = make_line_editor({in.get(), out.get(), false, {}});
  const auto line = editor->read("");
  REQUIRE_FALSE(line);
  CHECK(line.error().kind == ErrorKind::usage);
}

}  // namespace
}  // namespace stoka::terminal::line_editor_test
