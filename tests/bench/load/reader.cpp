#include "bench/load/reader.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace stoka::load {
namespace {

constexpr std::array<std::string_view, 5> kEvents = {"token", "cite", "ready", "done", "error"};

// The value of a header. `name` is in lower case and ends with a colon.
std::string_view value_of(std::string_view head, std::string_view name) {
  for (size_t at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2);
    if (line.size() < name.size() || ::strncasecmp(line.data(), name.data(), name.size()) != 0)
      continue;
    const std::string_view value = line.substr(name.size(), line.find("\r\n") - name.size());
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
  }
  return {};
}

}  // namespace

void Reader::feed(std::string_view bytes, int64_t now_us) {
  now_us_ = now_us;
  begun_ = begun_ || !bytes.empty();
  while (!bytes.empty()) {
    switch (part_) {
      case Part::head: {
        const size_t before = partial_.size();
        partial_ += bytes;
        const size_t at = partial_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
        if (at == std::string::npos) return;
        bytes.remove_prefix(at + 4 - before);
        const std::string text = partial_.substr(0, at + 2);
        partial_.clear();
        head(text);
        break;
      }
      case Part::length:
      case Part::chunk: {
        const size_t here = std::min(left_, bytes.size());
        body(bytes.substr(0, here));
        bytes.remove_prefix(here);
        left_ -= here;
        if (left_ > 0) return;
        if (part_ == Part::chunk)
          part_ = Part::chunk_end;
        else
          end();
        break;
      }
      case Part::until_close:
        body(bytes);
        return;
      case Part::chunk_size:
      case Part::chunk_end:
      case Part::trailer: {
        bool complete = false;
        const std::string_view text = framing_line(bytes, complete);
        if (!complete) return;
        if (part_ == Part::chunk_end) {
          if (!text.empty()) wrong("a chunk is longer than it says");
          part_ = Part::chunk_size;
        } else if (part_ == Part::chunk_size) {
          char* stop = nullptr;
          left_ = std::strtoul(partial_.c_str(), &stop, 16);
          if (text.empty() || *stop != '\0') wrong("no size of a chunk");
          part_ = left_ == 0 ? Part::trailer : Part::chunk;
        } else if (text.empty()) {
          end();
        }
        partial_.clear();
        break;
      }
      case Part::end:
        wrong("bytes after the end");
        return;
    }
  }
}

// A line without its end; a view of partial_ if it came in several reads.
std::string_view Reader::framing_line(std::string_view& bytes, bool& complete) {
  const size_t at = bytes.find('\n');
  complete = at != bytes.npos;
  partial_ += bytes.substr(0, complete ? at : bytes.size());
  bytes.remove_prefix(complete ? at + 1 : bytes.size());
  if (complete && !partial_.empty() && partial_.back() == '\r') partial_.pop_back();
  return partial_;
}

void Reader::head(std::string_view text) {
  outcome_.head_us = now_us_;
  if (!text.starts_with("HTTP/1.1 ")) wrong("no HTTP/1.1");
  outcome_.status = text.size() > 12 ? std::atoi(text.data() + 9) : 0;
  if (outcome_.status < 200) {
    part_ = Part::head;  // 100 Continue
    return;
  }
  keep_ = !value_of(text, "connection:").starts_with("close");
  outcome_.retry_after = !value_of(text, "retry-after:").empty();
  stream_ = value_of(text, "content-type:").starts_with("text/event-stream");
  if (job_.form != Job::Form::plain && stream_ != (outcome_.status == 200))
    wrong(stream_ ? "a stream with an error's status" : "a stream of another type");
  const std::string_view length = value_of(text, "content-length:");
  if (value_of(text, "transfer-encoding:").starts_with("chunked")) {
    part_ = Part::chunk_size;
  } else if (!length.empty()) {
    left_ = std::strtoul(length.data(), nullptr, 10);
    part_ = Part::length;
    if (left_ == 0) end();
  } else if (outcome_.status == 204) {
    end();
  } else {
    part_ = Part::until_close;
    keep_ = false;
  }
}

void Reader::end() {
  part_ = Part::end;
  outcome_.end_us = now_us_;
  if (!stream_ || job_.form == Job::Form::plain) return;
  if (!tail_.empty() || !name_.empty()) wrong("ends in the middle of an event");
  if (outcome_.last == 0) wrong("ends without done or error");
}

void Reader::closed() {
  if (part_ == Part::until_close) return end();
  if (part_ == Part::end) return;
  outcome_.cut = true;
}

void Reader::body(std::string_view bytes) {
  if (job_.keep_body && outcome_.body.size() < (1u << 16)) outcome_.body += bytes;
  if (!stream_ || job_.form == Job::Form::plain) return;
  while (!bytes.empty()) {
    const auto* newline = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
    if (newline == nullptr) {
      tail_ += bytes;
      return;
    }
    const auto size = static_cast<size_t>(newline - bytes.data());
    if (tail_.empty()) {
      line(bytes.substr(0, size));
    } else {
      tail_ += bytes.substr(0, size);
      line(tail_);
      tail_.clear();
    }
    bytes.remove_prefix(size + 1);
  }
}

void Reader::line(std::string_view text) {
  if (job_.form == Job::Form::relay) return data_line(text);
  event_line(text);
}

void Reader::event_line(std::string_view text) {
  if (text.empty()) {
    if (data_) event();
    if (!name_.empty() && !data_) wrong("an event without data");
    name_ = {};
    data_ = false;
  } else if (text.starts_with("data: {")) {
    if (name_.empty() || data_) wrong("data without an event");
    data_ = true;
    if (name_ == "token") {
      stamps(text);
    } else if (name_ == "ready") {
      const size_t at = text.find("\"session_id\":\"");
      if (at != text.npos) outcome_.session = text.substr(at + 14, 36);
      if (outcome_.session.size() != 36) wrong("ready without a session");
    }
  } else if (text.starts_with("event: ")) {
    const auto found = std::find(kEvents.begin(), kEvents.end(), text.substr(7));
    if (found == kEvents.end() || !name_.empty()) return wrong("an unknown event");
    name_ = *found;
  } else if (!text.starts_with(":") || !name_.empty()) {
    wrong("a line that is no event");
  }
}

void Reader::event() {
  if (outcome_.last != 0) wrong("an event after the last");
  if ((name_ == "ready") != (events_ == 0)) wrong("ready is not the first event, or comes twice");
  ++events_;
  if (name_ == "token") {
    if (outcome_.tokens++ == 0) outcome_.first_us = now_us_;
  } else if (name_ == "cite") {
    ++outcome_.cites;
  } else if (name_ == "done" || name_ == "error") {
    outcome_.last = name_[0];
  }
}

void Reader::data_line(std::string_view text) {
  if (!text.starts_with("data: ")) return;
  if (text == "data: [DONE]") {
    outcome_.last = 'd';
    return;
  }
  if (outcome_.tokens++ == 0) outcome_.first_us = now_us_;
  ++events_;
  stamps(text);
}

// Parses "t0123456789 ", see Script.
void Reader::stamps(std::string_view text) {
  constexpr size_t kDigits = 10;
  if (!late_) return;
  for (size_t at = text.find('t'); at != text.npos && at + kDigits < text.size();
       at = text.find('t', at + 1)) {
    const std::string_view digits = text.substr(at + 1, kDigits);
    int64_t due = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') {
        due = -1;
        break;
      }
      due = due * 10 + (c - '0');
    }
    if (due < 0) continue;
    const Paced token{due, now_us_ % 10000000000};
    late_(token, before_);
    before_ = token;
  }
}

}  // namespace stoka::load
