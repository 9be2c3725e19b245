#include "text/code_lines.h"

#include <doctest/doctest.h>

#include <string>

namespace code_lines_test {

using stoka::text::Segment;
using stoka::text::split_code;

TEST_CASE("content is split into segments of code and prose") {
  struct {
    std::string_view content, split;
  } cases[] = {
      {"", ""},
      {" \n\n", ""},
      {"Prose.", "prose[Prose.]"},
      {"    code", "code[    code]"},
      {"Two\n\nparagraphs.\n", "prose[Two\n\nparagraphs.]"},
      {"Run:\n\n    make\n      -j2\n\nDone.", "prose[Run:]code[    make\n      -j2]prose[Done.]"},
      {"    a\n\n    b", "code[    a\n\n    b]"},
      {"   three blanks are prose", "prose[   three blanks are prose]"},
      {"Prose.\n     \nMore.", "prose[Prose.\n     \nMore.]"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.content);
    std::string split;
    for (const Segment& stretch : split_code(c.content))
      split.append(stretch.is_code ? "code[" : "prose[").append(stretch.text).append("]");
    CHECK(split == c.split);
  }
}

TEST_CASE("without_code keeps the prose only") {
  CHECK(stoka::text::without_code("Run:\n\n    make\n\nDone.") == "Run:\n\nDone.");
  CHECK(stoka::text::without_code("    make").empty());
  CHECK(stoka::text::without_code("One.\n\nTwo.") == "One.\n\nTwo.");
}

}  // namespace code_lines_test
