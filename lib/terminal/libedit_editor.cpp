#include <fcntl.h>
#include <fmt/format.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>

#include "terminal/history_file.h"
#include "terminal/line_editor.h"
#include "terminal/style.h"
#include "text/normalize.h"
#include "text/utf8.h"
#include "text/width.h"

namespace stoka::terminal {
namespace {

static_assert(sizeof(wchar_t) == 4, "a wide character holds a code point");

constexpr size_t kMaxPasteChars = 64 * 1024;
constexpr size_t kMaxCandidatesListed = 24;
constexpr int kWholeLine = 1 << 20;  // more columns than any line has
constexpr wchar_t kCtrlC = 0x03;
constexpr wchar_t kEscapeDelimiter = 0x01;

std::wstring wide(std::string_view utf8) {
  std::wstring out;
  for (size_t at = 0; at < utf8.size();) {
    out += static_cast<wchar_t>(text::next_code_point(utf8, at));
  }
  return out;
}

std::string narrow(std::wstring_view text) {
  std::string out;
  for (const wchar_t c : text) text::append_utf8(out, static_cast<char32_t>(c));
  return out;
}

struct Prompt {
  std::wstring text;  // text with delimiters around the escape sequences, which take no columns
  size_t columns = 0;
};

Prompt parse_prompt(std::string_view painted) {
  Prompt out;
  std::wstring visible;
  bool inside = false;
  for (const wchar_t c : wide(painted)) {
    if (c == 0x1b) {
      out.text += kEscapeDelimiter;
      inside = true;
    }
    out.text += c;
    if (!inside) visible += c;
    if (inside && c == L'm') {
      out.text += kEscapeDelimiter;
      inside = false;
    }
  }
  out.columns = text::display_width(narrow(visible));
  return out;
}

std::string common_prefix(const std::vector<std::string>& texts) {
  std::string_view common = texts.front();
  for (const std::string& text : texts) {
    const auto differ = std::mismatch(common.begin(), common.end(), text.begin(), text.end());
    common = common.substr(0, static_cast<size_t>(differ.first - common.begin()));
  }
  return std::string(common.substr(0, text::floor_char_boundary(texts.front(), common.size())));
}

// The write end of a pipe that wakes next_byte() when the terminal is resized.
std::atomic<int> resize_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_resize(int) {
  const int saved = errno;
  if (const int fd = resize_fd.load(); fd >= 0) {
    [[maybe_unused]] const ssize_t ignored = ::write(fd, "r", 1);
  }
  errno = saved;
}

class LibeditEditor final : public LineEditor {
 public:
  static std::unique_ptr<LibeditEditor> start(const LineEditorOptions& options) {
    std::unique_ptr<LibeditEditor> editor(new LibeditEditor(options));
    return editor->set_up() ? std::move(editor) : nullptr;
  }

  ~LibeditEditor() override {
    if (edit_ != nullptr) ::el_end(edit_);
    if (history_ != nullptr) ::history_wend(history_);
    for (const int fd : resize_) {
      if (fd >= 0) ::close(fd);
    }
  }

  Result<Line> read(const std::string& prompt) override {
    prompt_ = parse_prompt(prompt);
    interrupted_ = ended_ = false;
    error_ = 0;
    const ResizeWatch watch(resize_[1]);
    bracketed_paste(true);
    // Raw mode must be on before the prompt is shown: otherwise a Ctrl-C typed at once would still
    // send a signal.
    ::el_wset(edit_, EL_PREP_TERM, 1);
    int count = 0;
    const wchar_t* entered = ::el_wgets(edit_, &count);
    std::wstring line = entered == nullptr ? L"" : entered;
    bracketed_paste(false);
    while (line.ends_with(L'\n') || line.ends_with(L'\r')) line.pop_back();
    if (interrupted_) return Line{Line::Kind::interrupted, narrow(line)};
    if (error_ != 0) {
      return fail(ErrorKind::data,
                  fmt::format("cannot read from the terminal: {}", std::strerror(error_)),
                  "start stoka again from a terminal");
    }
    if (ended_ || entered == nullptr) return Line{Line::Kind::end, {}};
    return Line{Line::Kind::entered, narrow(line)};
  }

  Result<> add_history(std::string_view line) override {
    remember(line);
    if (!file_) return {};
    return file_->append(line);
  }

  void set_completer(Completer completer) override { completer_ = std::move(completer); }

 private:
  class ResizeWatch {
   public:
    explicit ResizeWatch(int fd) {
      resize_fd = fd;
      struct sigaction action {};
      action.sa_handler = on_resize;
      ::sigemptyset(&action.sa_mask);
      ::sigaction(SIGWINCH, &action, &before_);
    }
    ~ResizeWatch() {
      ::sigaction(SIGWINCH, &before_, nullptr);
      resize_fd = -1;
    }
    ResizeWatch(const ResizeWatch&) = delete;
    ResizeWatch& operator=(const ResizeWatch&) = delete;

   private:
    struct sigaction before_ {};
  };

  explicit LibeditEditor(const LineEditorOptions& options) : in_(options.in), out_(options.out) {
    if (!options.history.empty()) file_.emplace(options.history);
  }

  bool set_up() {
    if (::pipe2(resize_, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    edit_ = ::el_init("stoka", in_, out_, stderr);
    history_ = ::history_winit();
    if (edit_ == nullptr || history_ == nullptr) return false;
    HistEventW event;
    ::history_w(history_, &event, H_SETSIZE, static_cast<int>(HistoryFile::kMaxEntries));
    ::history_w(history_, &event, H_SETUNIQUE, 1);
    if (file_) {
      for (const std::string& entry : file_->load().value_or(std::vector<std::string>())) {
        remember(entry);
      }
    }
    ::el_wset(edit_, EL_CLIENTDATA, this);
    ::el_wset(edit_, EL_PROMPT_ESC, &show_prompt, kEscapeDelimiter);
    ::el_wset(edit_, EL_EDITOR, L"emacs");
    ::el_wset(edit_, EL_HIST, &::history_w, history_);
    ::el_wset(edit_, EL_GETCFN, &read_character);
    // Keys such as Ctrl-C do not send signals while a line is edited.
    const wchar_t* none = nullptr;
    ::el_wset(edit_, EL_SETTY, L"-d", L"-isig", none);
    bind();
    return true;
  }

  void bind() {
    ::el_wset(edit_, EL_ADDFN, L"stoka-interrupt", L"leave the line", &on_interrupt);
    ::el_wset(edit_, EL_ADDFN, L"stoka-end", L"delete a character or leave", &on_end);
    ::el_wset(edit_, EL_ADDFN, L"stoka-suspend", L"stop the program", &on_suspend);
    ::el_wset(edit_, EL_ADDFN, L"stoka-complete", L"complete", &on_complete);
    ::el_wset(edit_, EL_ADDFN, L"stoka-paste", L"insert pasted text", &on_paste);
    constexpr const wchar_t* kKeys[][2] = {
        {L"^C", L"stoka-interrupt"},     {L"^D", L"stoka-end"},
        {L"^Z", L"stoka-suspend"},       {L"^I", L"stoka-complete"},
        {L"\\e[200~", L"stoka-paste"},   {L"^R", L"em-inc-search-prev"},
        {L"^W", L"ed-delete-prev-word"}, {L"\\e[1~", L"ed-move-to-beg"},
        {L"\\e[4~", L"ed-move-to-end"},  {L"\\e[H", L"ed-move-to-beg"},
        {L"\\e[F", L"ed-move-to-end"},   {L"\\eOH", L"ed-move-to-beg"},
        {L"\\eOF", L"ed-move-to-end"},   {L"\\e[3~", L"ed-delete-next-char"},
        {L"\\e[1;5C", L"em-next-word"},  {L"\\e[1;5D", L"ed-prev-word"},
    };
    const wchar_t* none = nullptr;
    for (const auto& [key, command] : kKeys) ::el_wset(edit_, EL_BIND, key, command, none);
  }

  void remember(std::string_view line) {
    HistEventW event;
    ::history_w(history_, &event, H_ENTER, wide(line).c_str());
  }

  void bracketed_paste(bool on) const {
    std::fputs(on ? "\x1b[?2004h" : "\x1b[?2004l", out_);
    std::fflush(out_);
  }

  static LibeditEditor& self(EditLine* edit) {
    void* data = nullptr;
    ::el_wget(edit, EL_CLIENTDATA, &data);
    return *static_cast<LibeditEditor*>(data);
  }

  static wchar_t* show_prompt(EditLine* edit) { return self(edit).prompt_.text.data(); }

  // Reads one code point. As libedit expects, returns 1, or 0 at the end of the input, or -1.
  static int read_character(EditLine* edit, wchar_t* out) { return self(edit).next(*out); }

  int next(wchar_t& out) {
    std::string bytes;
    while (true) {
      unsigned char byte = 0;
      if (const int got = next_byte(byte); got != 1) return got;
      bytes += static_cast<char>(byte);
      const size_t length = text::utf8_sequence_length(static_cast<unsigned char>(bytes.front()));
      const bool broken = bytes.size() > 1 && (byte & 0xC0) != 0x80;
      if (bytes.size() < length && !broken) continue;
      // The byte that breaks an incomplete sequence is read as a character of its own.
      size_t at = broken ? bytes.size() - 1 : 0;
      out = static_cast<wchar_t>(text::next_code_point(bytes, at));
      return 1;
    }
  }

  int next_byte(unsigned char& out) {
    while (true) {
      pollfd ready[2] = {{::fileno(in_), POLLIN, 0}, {resize_[0], POLLIN, 0}};
      if (::poll(ready, 2, -1) < 0 && errno != EINTR) return failed(errno);
      if ((ready[1].revents & POLLIN) != 0) {
        char drained[64];
        while (::read(resize_[0], drained, sizeof drained) > 0) {
        }
        redraw();
      }
      if (ready[0].revents == 0) continue;
      const ssize_t got = ::read(::fileno(in_), &out, 1);
      if (got == 1) return 1;
      if (got == 0 || errno == EIO) {  // EIO: the terminal was closed
        ended_ = true;
        return 0;
      }
      if (errno != EINTR && errno != EAGAIN) return failed(errno);
    }
  }

  // Redraws the line after a resize. The terminal has wrapped the line anew, and libedit draws from
  // the cursor; so the cursor is moved to the start of the prompt first.
  void redraw() {
    winsize size{};
    if (::ioctl(::fileno(out_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
      const LineInfoW* line = ::el_wline(edit_);
      const size_t before =
          prompt_.columns + text::display_width(narrow({line->buffer, line->cursor}));
      if (const size_t rows = before / size.ws_col; rows > 0) fmt::print(out_, "\x1b[{}A", rows);
      std::fputs("\r\x1b[J", out_);
      std::fflush(out_);
    }
    ::el_resize(edit_);
    ::el_wset(edit_, EL_REFRESH);
  }

  int failed(int number) {
    error_ = number;
    return -1;
  }

  // Handles Ctrl-C. Moves the cursor to the end of the line, so that output starts below the line.
  static unsigned char on_interrupt(EditLine* edit, int) {
    self(edit).interrupted_ = true;
    ::el_cursor(edit, kWholeLine);
    ::el_wpush(edit, L"\n");
    return CC_CURSOR;
  }

  static unsigned char on_end(EditLine* edit, int) {
    const LineInfoW* line = ::el_wline(edit);
    if (line->buffer == line->lastchar) {
      self(edit).ended_ = true;
      return CC_EOF;
    }
    if (line->cursor == line->lastchar) return CC_NORM;
    ::el_cursor(edit, 1);
    ::el_wdeletestr(edit, 1);
    return CC_REFRESH;
  }

  static unsigned char on_suspend(EditLine* edit, int) {
    const LibeditEditor& editor = self(edit);
    editor.bracketed_paste(false);
    ::el_wset(edit, EL_PREP_TERM, 0);
    ::kill(0, SIGTSTP);
    ::el_wset(edit, EL_PREP_TERM, 1);
    editor.bracketed_paste(true);
    return CC_REDISPLAY;
  }

  static unsigned char on_paste(EditLine* edit, int) {
    constexpr std::wstring_view kEnd = L"\x1b[201~";
    std::wstring pasted;
    wchar_t c = 0;
    while (!pasted.ends_with(kEnd) && self(edit).next(c) == 1 && c != kCtrlC) {
      // Pasted text beyond the limit is dropped; its last characters are kept to recognise its end.
      if (pasted.size() > kMaxPasteChars) pasted.erase(kMaxPasteChars - kEnd.size(), 1);
      pasted += c;
    }
    if (pasted.ends_with(kEnd)) pasted.resize(pasted.size() - kEnd.size());
    const std::wstring line = wide(text::collapse_whitespace(sanitize_line(narrow(pasted))));
    if (!line.empty()) ::el_winsertstr(edit, line.c_str());
    return CC_REFRESH;
  }

  static unsigned char on_complete(EditLine* edit, int) {
    LibeditEditor& editor = self(edit);
    if (!editor.completer_) return CC_NORM;
    const LineInfoW* info = ::el_wline(edit);
    const std::string typed = narrow({info->buffer, info->cursor});
    const std::vector<std::string> candidates = editor.completer_(typed);
    if (candidates.empty()) return CC_NORM;
    const std::string common = common_prefix(candidates);
    if (common.size() > typed.size() && common.starts_with(typed)) {
      ::el_winsertstr(edit, wide(std::string_view(common).substr(typed.size())).c_str());
      return CC_REFRESH;
    }
    if (candidates.size() == 1) return CC_NORM;
    editor.list(candidates);
    return CC_REDISPLAY;
  }

  void list(const std::vector<std::string>& candidates) const {
    std::string text = "\n";
    for (size_t i = 0; i < candidates.size() && i < kMaxCandidatesListed; ++i) {
      text += sanitize_line(candidates[i]) + '\n';
    }
    if (candidates.size() > kMaxCandidatesListed) {
      text += fmt::format("and {} more\n", candidates.size() - kMaxCandidatesListed);
    }
    std::fputs(text.c_str(), out_);
    std::fflush(out_);
  }

  std::FILE* in_;
  std::FILE* out_;
  EditLine* edit_ = nullptr;
  HistoryW* history_ = nullptr;
  std::optional<HistoryFile> file_;
  Completer completer_;
  Prompt prompt_;
  int resize_[2] = {-1, -1};
  bool interrupted_ = false;
  bool ended_ = false;
  int error_ = 0;
};

}  // namespace

std::unique_ptr<LineEditor> make_libedit_editor(const LineEditorOptions& options) {
  return LibeditEditor::start(options);
}

}  // namespace stoka::terminal
