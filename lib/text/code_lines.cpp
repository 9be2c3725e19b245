#include "text/code_lines.h"

#include <algorithm>

namespace stoka::text {

std::vector<Segment> split_code(std::string_view content) {
  std::vector<Segment> out;
  size_t begin = 0;  // the offset where the current segment begins
  size_t end = 0;    // the end of the segment's last line that is not blank
  bool code = false;
  const auto finish = [&] {
    if (end > begin) out.push_back({content.substr(begin, end - begin), code});
  };
  for (size_t at = 0; at < content.size();) {
    const size_t line_end = std::min(content.find('\n', at), content.size());
    const std::string_view line = content.substr(at, line_end - at);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      const bool is_code = line.starts_with(kCodeIndent);
      if (is_code != code || end == 0) {
        finish();
        begin = at;
        code = is_code;
      }
      end = line_end;
    }
    at = line_end + 1;
  }
  finish();
  return out;
}

std::string without_code(std::string_view content) {
  std::string out;
  for (const Segment& segment : split_code(content))
    if (!segment.is_code) out.append(out.empty() ? "" : "\n\n").append(segment.text);
  return out;
}

}  // namespace stoka::text
