#include "terminal/plain_editor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "terminal/style.h"
#include "text/utf8.h"

namespace stoka::terminal {
namespace {

constexpr size_t kMaxLine = 1 << 20;

std::string line(std::string_view bytes) {
  while (bytes.ends_with('\r')) bytes.remove_suffix(1);
  return printable(text::repair_utf8(bytes));
}

}  // namespace

Result<Line> PlainEditor::read(const std::string& prompt) {
  std::fputs(prompt.c_str(), out_);
  std::fflush(out_);
  while (true) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string text = line(std::string_view(buffer_).substr(0, end));
      buffer_.erase(0, end + 1);
      return Line{Line::Kind::entered, std::move(text)};
    }
    if (buffer_.size() > kMaxLine) {
      return fail(ErrorKind::usage, "a line of the input is longer than 1 MiB",
                  "break it into several questions");
    }
    char bytes[4096];
    const ssize_t got = ::read(::fileno(in_), bytes, sizeof bytes);
    if (got > 0) {
      buffer_.append(bytes, static_cast<size_t>(got));
    } else if (got == 0) {
      if (buffer_.empty()) return Line{Line::Kind::end, {}};
      buffer_ += '\n';  // the last line may lack its end
    } else if (errno == EINTR) {
      std::fputs("\n", out_);
      return Line{Line::Kind::interrupted, line(std::exchange(buffer_, {}))};
    } else {
      return fail(ErrorKind::data, fmt::format("cannot read the input: {}", std::strerror(errno)),
                  "start stoka again from a terminal");
    }
  }
}

}  // namespace stoka::terminal
