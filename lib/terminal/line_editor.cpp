#include "terminal/line_editor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "terminal/style.h"
#include "text/utf8.h"

namespace stoka::terminal {
namespace {

constexpr size_t kMaxLineBytes = 1 << 20;

std::string line_text(std::string_view bytes) {
  while (bytes.ends_with('\r')) bytes.remove_suffix(1);
  return sanitize_line(text::repair_utf8(bytes));
}

// Reads lines without editing, for TERM=dumb and for input that is not a terminal. The descriptor
// of `in` is read directly, so that a signal interrupts the read; nothing else may read from `in`.
// A line longer than 1 MiB is an error.
class PlainEditor final : public LineEditor {
 public:
  PlainEditor(std::FILE* in, std::FILE* out) : in_(in), out_(out) {}
  Result<Line> read(const std::string& prompt) override;
  Result<> add_history(std::string_view) override { return {}; }
  void set_completer(Completer) override {}

 private:
  std::FILE* in_;
  std::FILE* out_;
  std::string buffer_;
};

Result<Line> PlainEditor::read(const std::string& prompt) {
  std::fputs(prompt.c_str(), out_);
  std::fflush(out_);
  while (true) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string text = line_text(std::string_view(buffer_).substr(0, end));
      buffer_.erase(0, end + 1);
      return Line{Line::Kind::entered, std::move(text)};
    }
    if (buffer_.size() > kMaxLineBytes) {
      return fail(ErrorKind::usage, "a line of the input is longer than 1 MiB",
                  "break it into several questions");
    }
    char bytes[4096];
    const ssize_t got = ::read(::fileno(in_), bytes, sizeof bytes);
    if (got > 0) {
      buffer_.append(bytes, static_cast<size_t>(got));
    } else if (got == 0) {
      if (buffer_.empty()) return Line{Line::Kind::end, {}};
      buffer_ += '\n';  // a line break for the last line, which has none
    } else if (errno == EINTR) {
      std::fputs("\n", out_);
      return Line{Line::Kind::interrupted, line_text(std::exchange(buffer_, {}))};
    } else {
      return fail(ErrorKind::data, fmt::format("cannot read the input: {}", std::strerror(errno)),
                  "start stoka again from a terminal");
    }
  }
}

}  // namespace

std::unique_ptr<LineEditor> make_line_editor(const LineEditorOptions& options) {
  if (options.editing) {
    if (auto editor = make_libedit_editor(options)) return editor;
  }
  return std::make_unique<PlainEditor>(options.in, options.out);
}

}  // namespace stoka::terminal
