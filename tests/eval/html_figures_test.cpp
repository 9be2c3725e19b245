#include "eval/html_figures.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace html_figures_test {

using namespace stoka::eval;

namespace {

using Values = std::vector<std::optional<double>>;

std::string chart(const Values& values) {
  const std::vector<std::string> when(values.size(), "2026-04-12");
  return line_chart("m", values, when);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the axis of a chart ends at the tenths around the values") {
  struct Case {
    Values values;
    const char *high, *low;
  };
  for (const Case& c : {
           Case{{0.72, 0.88}, ">0.9</text>", ">0.7</text>"},
           Case{{0.3, 0.7}, ">0.7</text>", ">0.3</text>"},
           Case{{1.0, 1.0}, ">1.0</text>", ">0.9</text>"},
           Case{{0.0}, ">0.1</text>", ">0.0</text>"},
           Case{{0.85}, ">0.9</text>", ">0.8</text>"},
           Case{{-5.0, 1e300}, ">1.0</text>", ">0.0</text>"},
       }) {
    const std::string svg = chart(c.values);
    CAPTURE(svg);
    CHECK(has(svg, c.high));
    CHECK(has(svg, c.low));
  }
}

TEST_CASE("the line of a chart goes from left to right, and higher values are higher up") {
  CHECK(has(chart({0.0, 0.5, 1.0}), "points=\"34.0,102.0 172.0,56.0 310.0,10.0\""));
}

TEST_CASE("a missing value keeps its place on the axis of a chart but has no point") {
  CHECK(has(chart({0.0, std::nullopt, 1.0}), "points=\"34.0,102.0 310.0,10.0\""));
  CHECK(has(chart({std::nullopt, 0.5}), "over 1 reports"));
  CHECK(chart({std::nullopt, std::nullopt}).empty());
  CHECK(chart({}).empty());
}

}  // namespace html_figures_test
