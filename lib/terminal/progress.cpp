#include "terminal/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "text/width.h"

namespace stoka::terminal {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr int kBarColumns = 24;
constexpr int kMinColumnsForBar = 50;

std::string bar(uint64_t done, uint64_t total, bool unicode) {
  const auto filled = static_cast<int>(static_cast<double>(done) / static_cast<double>(total) *
                                       static_cast<double>(kBarColumns));
  std::string out;
  for (int i = 0; i < kBarColumns; ++i) {
    out += i < filled ? (unicode ? "━" : "#") : (unicode ? "─" : ".");
  }
  return out;
}

}  // namespace

Progress::Progress(TextSink out, Capabilities capabilities, const Clock& clock)
    : out_(std::move(out)), capabilities_(capabilities), clock_(clock) {}

void Progress::update(uint64_t done, uint64_t total, std::string_view label) {
  if (!capabilities_.tty) return;
  const auto now = clock_.monotonic();
  if (drawn_at_ && now - *drawn_at_ < kInterval) return;
  drawn_at_ = now;

  done = total > 0 ? std::min(done, total) : done;
  std::string line;
  if (total > 0 && capabilities_.columns >= kMinColumnsForBar) {
    line = bar(done, total, capabilities_.unicode) + ' ';
  }
  line += total > 0 ? fmt::format("{}/{} ", done, total) : fmt::format("{} ", done);
  line += sanitize_line(label);
  // The last column stays empty, because some terminals wrap as soon as it is written.
  const auto room = static_cast<size_t>(std::max(capabilities_.columns - 1, 1));
  std::string drawn = fmt::format("\r{}\x1b[K", text::truncate_to_width(line, room));
  if (drawn == drawn_) return;
  out_(drawn);
  drawn_ = std::move(drawn);
}

void Progress::clear() {
  if (!drawn_.empty()) out_("\r\x1b[K");
  drawn_.clear();
  drawn_at_.reset();
}

}  // namespace stoka::terminal
