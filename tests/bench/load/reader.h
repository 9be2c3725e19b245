// An incremental reader of one HTTP response that checks the events of a stream against the
// protocol.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "bench/load/client.h"

namespace stoka::load {

class Reader {
 public:
  // The scheduled and actual time of a paced token and of the one before it in this stream; 0 if it
  // is the first.
  struct Paced {
    int64_t due_us = 0, now_us = 0;
  };
  using Late = std::function<void(const Paced& token, const Paced& before)>;

  // `late` is called for every paced token; may be empty.
  Reader(const Job& job, Outcome& outcome, const Late& late)
      : job_(job), outcome_(outcome), late_(late) {}

  void feed(std::string_view bytes, int64_t now_us);
  // Call when the server has closed the connection.
  void closed();

  bool begun() const { return begun_; }  // at least one byte was read
  bool has_head() const { return part_ != Part::head; }
  bool whole() const { return part_ == Part::end; }
  bool keeps_alive() const { return keep_; }
  int events() const { return events_; }

 private:
  enum class Part { head, length, until_close, chunk_size, chunk, chunk_end, trailer, end };

  void wrong(std::string_view what) {
    if (outcome_.wrong.empty()) outcome_.wrong = what;
  }
  void head(std::string_view text);
  void end();
  std::string_view framing_line(std::string_view& bytes, bool& complete);
  void body(std::string_view bytes);
  void line(std::string_view text);
  void event_line(std::string_view text);
  void event();
  void data_line(std::string_view text);
  void stamps(std::string_view text);

  const Job& job_;
  Outcome& outcome_;
  const Late& late_;
  int64_t now_us_ = 0;
  Part part_ = Part::head;
  bool begun_ = false;
  bool keep_ = true;
  bool stream_ = false;
  size_t left_ = 0;        // bytes left of the body or of a chunk
  std::string partial_;    // incomplete line of the head or of the chunked framing
  std::string tail_;       // incomplete line of an event
  std::string_view name_;  // of the current event
  bool data_ = false;
  int events_ = 0;
  Paced before_;
};

}  // namespace stoka::load
