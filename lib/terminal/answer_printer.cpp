#include "terminal/answer_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/json.h"
#include "terminal/cite_box.h"
#include "text/utf8.h"
#include "text/width.h"

namespace stoka::terminal {
namespace {

// A longer word is written in parts, so that the text held back stays bounded.
constexpr size_t kMaxWordBytes = 4096;

// True if `tail`, which starts with a lead byte, is a valid but incomplete UTF-8 sequence.
bool is_unfinished(std::string_view tail) {
  const auto lead = static_cast<unsigned char>(tail.front());
  if (tail.size() >= text::utf8_sequence_length(lead)) return false;
  return std::all_of(tail.begin() + 1, tail.end(),
                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
}

// True if `next` belongs to the same emoji as `before`: after a joiner, or as a skin tone modifier.
bool is_same_emoji(char32_t before, char32_t next) {
  constexpr char32_t kZeroWidthJoiner = 0x200D;
  return before == kZeroWidthJoiner || (next >= 0x1F3FB && next <= 0x1F3FF);
}

}  // namespace

AnswerPrinter::AnswerPrinter(TextSink out, Capabilities capabilities, size_t first_citation)
    : out_(std::move(out)), capabilities_(capabilities), citation_(first_citation) {}

size_t AnswerPrinter::width() const {
  if (!capabilities_.tty) return std::numeric_limits<size_t>::max();
  return static_cast<size_t>(std::max(capabilities_.columns, 2));
}

void AnswerPrinter::show_waiting() {
  if (!capabilities_.tty) return;
  out_(paint(Style::dim, capabilities_.unicode ? "…" : "...", capabilities_));
  waiting_ = true;
}

void AnswerPrinter::clear_waiting() {
  if (waiting_) out_("\r\x1b[K");
  waiting_ = false;
}

void AnswerPrinter::handle(const Event& event) {
  if (finished_) return;
  if (const auto* token = std::get_if<TokenEvent>(&event)) {
    append(token->text);
  } else if (const auto* cite = std::get_if<CiteEvent>(&event)) {
    write_block(cite_box(cite->citation, capabilities_, citation_));
    if (citation_ > 0) ++citation_;
  } else if (const auto* error = std::get_if<ErrorEvent>(&event)) {
    write_block(error_text({ErrorKind::unavailable, error->message,
                            error->retryable ? "ask again in a moment"
                                             : "run 'stoka status' to see what does not answer"},
                           capabilities_));
    finish();
  } else if (std::holds_alternative<DoneEvent>(event)) {
    finish();
  }
}

void AnswerPrinter::finish() {
  if (finished_) return;
  write_word();
  clear_waiting();
  if (started_) out_("\n");
  finished_ = true;
}

void AnswerPrinter::cut_off() {
  if (!finished_ && (started_ || !word_.empty())) {
    bytes_.clear();
    append(" [cut off]");
  }
  finish();
}

void AnswerPrinter::append(std::string_view text) {
  bytes_ += text;
  size_t at = 0;
  while (at < bytes_.size()) {
    if (is_unfinished(std::string_view(bytes_).substr(at))) break;
    const size_t begin = at;
    text::next_code_point(bytes_, at);
    append_code_point(std::string_view(bytes_).substr(begin, at - begin));
  }
  bytes_.erase(0, at);
}

void AnswerPrinter::append_code_point(std::string_view bytes) {
  if (bytes == "\n") {
    write_word();
    breaks_ = std::min(breaks_ + 1, 2);
    space_ = false;
    return;
  }
  const std::string clean = sanitize_line(bytes);
  if (clean == " ") {
    write_word();
    space_ = true;
    return;
  }
  if (clean.empty()) return;
  size_t at = 0;
  const char32_t c = text::next_code_point(clean, at);
  const size_t columns = text::display_width(clean);
  const bool wide = columns == 2;
  if (!word_.empty() && columns > 0 && !is_same_emoji(last_, c) &&
      (wide || last_wide_ || word_.size() > kMaxWordBytes)) {
    write_word();
  }
  word_ += clean;
  last_ = c;
  if (columns > 0) last_wide_ = wide;
}

void AnswerPrinter::write_line_breaks() {
  clear_waiting();
  if (started_ && breaks_ > 0) {
    out_(breaks_ == 1 ? "\n" : "\n\n");
    column_ = 0;
    space_ = false;
  }
  if (column_ == 0) space_ = false;
  breaks_ = 0;
  started_ = true;
}

void AnswerPrinter::write_word() {
  if (word_.empty()) return;
  write_line_breaks();
  const size_t taken = text::display_width(word_);
  const size_t gap = space_ ? 1 : 0;
  if (column_ > 0 && taken > width() - std::min(width(), column_ + gap)) {
    out_("\n");
    column_ = 0;
  } else if (gap > 0) {
    out_(" ");
    ++column_;
  }
  if (taken <= width()) {
    out_(word_);
    column_ += taken;
  } else {
    const std::vector<std::string> pieces = text::wrap(word_, width());
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0) out_("\n");
      out_(pieces[i]);
    }
    column_ = text::display_width(pieces.back());
  }
  space_ = false;
  word_.clear();
  last_ = 0;
  last_wide_ = false;
}

void AnswerPrinter::write_block(std::string_view text) {
  write_word();
  breaks_ = 2;
  write_line_breaks();
  out_(text);
  breaks_ = 2;
}

std::string error_text(const Error& error, const Capabilities& capabilities) {
  const auto columns = static_cast<size_t>(std::max(capabilities.columns, 10));
  const auto lines = [&](const std::string& text, size_t room) {
    return capabilities.tty ? text::wrap(text, room) : std::vector<std::string>{text};
  };
  std::string out;
  for (const std::string& line : lines("error: " + sanitize_line(error.message), columns)) {
    if (!out.empty()) out += '\n';
    out += paint(Style::error, line, capabilities);
  }
  if (error.hint.empty()) return out;
  for (const std::string& line : lines(sanitize_line(error.hint), columns - 2))
    out += "\n  " + line;
  return out;
}

std::string json_line(const Event& event) {
  return fmt::format(R"({{"event":"{}","data":{}}})", to_string(event), data_json(event));
}

std::string json_line(const Error& error) {
  const nlohmann::ordered_json json = {
      {"error",
       {{"kind", to_string(error.kind)}, {"message", error.message}, {"hint", error.hint}}}};
  return to_json_text(json);
}

}  // namespace stoka::terminal
