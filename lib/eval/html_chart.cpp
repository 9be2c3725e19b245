#include "eval/html_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "eval/markup.h"
#include "eval/report.h"

namespace stoka::eval {
namespace {

// In units of the drawing, which is scaled to the width of its figure.
constexpr double kWidth = 320;
constexpr double kHeight = 112;
constexpr double kLeft = 34;  // room for "0.90"
constexpr double kMargin = 10;
constexpr double kStep = 0.1;  // the axis ends at multiples of it

struct Point {
  double x = 0;
  double value = 0;
  std::string when;
};

struct ChartAxis {
  double low = 0;
  double high = 1;

  double y(double value) const {
    const double share = (value - low) / (high - low);
    return kHeight - kMargin - share * (kHeight - 2 * kMargin);
  }
};

std::vector<Point> points(std::span<const std::optional<double>> values,
                          std::span<const std::string> when) {
  std::vector<Point> out;
  const double steps = values.size() > 1 ? static_cast<double>(values.size() - 1) : 1;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) continue;
    const double x = kLeft + static_cast<double>(i) / steps * (kWidth - kLeft - kMargin);
    out.push_back({x, std::clamp(rounded(*values[i]), 0.0, 1.0), when[i]});
  }
  return out;
}

ChartAxis axis(double lowest, double highest) {
  constexpr double kSlack = 1e-9;  // 0.3 / 0.1 is not quite 3
  ChartAxis out{std::floor(lowest / kStep + kSlack) * kStep,
                std::ceil(highest / kStep - kSlack) * kStep};
  if (out.high - out.low < kStep / 2)
    (out.low > 0 ? out.low : out.high) += out.low > 0 ? -kStep : kStep;
  return out;
}

std::string rule(const ChartAxis& axis, double value) {
  const double y = axis.y(value);
  return fmt::format(
      "<line class=\"rule\" x1=\"{:.0f}\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
      "<text x=\"{:.0f}\" y=\"{:.1f}\">{:.1f}</text>",
      kLeft, kWidth - kMargin, y, y, kLeft - 6, y + 3.5, value);
}

}  // namespace

std::string line_chart(std::string_view name, std::span<const std::optional<double>> values,
                       std::span<const std::string> when) {
  const std::vector<Point> all = points(values, when);
  if (all.empty()) return "";
  const auto [lowest, highest] = std::ranges::minmax_element(all, {}, &Point::value);
  const ChartAxis scale = axis(lowest->value, highest->value);

  std::string line;
  std::string dots;
  for (const Point& point : all) {
    const bool last = &point == &all.back();
    const double y = scale.y(point.value);
    line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", point.x, y);
    dots += fmt::format(
        "<circle{} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}: {:.3f}</title></circle>",
        last ? " class=\"last\"" : "", point.x, y, last ? 4 : 2.5, escaped(point.when),
        point.value);
  }
  const std::string words = escaped(
      fmt::format("{} over {} reports: {:.3f} on {}, {:.3f} on {}; lowest {:.3f}, highest {:.3f}",
                  name, all.size(), all.front().value, all.front().when, all.back().value,
                  all.back().when, lowest->value, highest->value));
  return fmt::format(
      "<figure class=\"chart\">\n"
      "<figcaption><code>{}</code> <span class=\"num\">{:.3f} → <strong>{:.3f}</strong></span>"
      "</figcaption>\n"
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">{}{}"
      "<polyline points=\"{}\"/>{}</svg>\n"
      "<p class=\"ends\"><span>{}</span><span>{}</span></p>\n"
      "</figure>\n",
      escaped(name), all.front().value, all.back().value, kWidth, kHeight, words,
      rule(scale, scale.high), rule(scale, scale.low), line, dots, escaped(all.front().when),
      escaped(all.back().when));
}

}  // namespace stoka::eval
