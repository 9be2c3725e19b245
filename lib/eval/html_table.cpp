#include "eval/html_table.h"

#include <fmt/format.h>

#include "eval/interval.h"
#include "eval/markup.h"
#include "eval/report.h"

namespace stoka::eval {

std::string percent(double share) { return fmt::format("{:.1f}%", rounded(share) * 100); }

std::string number_cell(const std::string& text, std::string_view kind) {
  return fmt::format("<td class=\"num{}{}\">{}</td>", kind.empty() ? "" : " ", kind, escaped(text));
}

std::string number_cell(size_t n) { return number_cell(std::to_string(n)); }

std::string share_cells(double share, size_t n) {
  if (n == 0) return "<td class=\"share\">–</td>" + number_cell("–");
  const Interval sure = wilson(share, static_cast<double>(n));
  return fmt::format(
             "<td class=\"share\"><div><span>{}</span><span class=\"bar\" aria-hidden=\"true\">"
             "<i style=\"width:{:.1f}%\"></i><b style=\"left:{:.1f}%;width:{:.1f}%\"></b></span>"
             "</div></td>",
             percent(share), share * 100, sure.low * 100, (sure.high - sure.low) * 100) +
         number_cell(fmt::format("{:.1f}–{:.1f}%", sure.low * 100, sure.high * 100));
}

std::string row(std::string_view name, const std::string& cells) {
  return fmt::format("<tr><th scope=\"row\">{}</th>{}</tr>\n", escaped(name), cells);
}

std::string table(std::string_view id, std::string_view caption,
                  std::span<const std::string> columns, const std::string& rows) {
  std::string head;
  for (const std::string& column : columns) {
    const bool number = column.starts_with('#');
    head += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=\"num\"" : "",
                        escaped(column.substr(number ? 1 : 0)));
  }
  return fmt::format(
      "<p class=\"caption\" id=\"{0}-caption\">{1}</p>\n"
      "<div class=\"scroll\" role=\"region\" aria-labelledby=\"{0}-caption\" tabindex=\"0\">\n"
      "<table aria-labelledby=\"{0}-caption\">\n<thead><tr>{2}</tr></thead>\n<tbody>\n{3}</tbody>\n"
      "</table>\n</div>\n",
      id, escaped(caption), head, rows);
}

}  // namespace stoka::eval
