// Splits a model's stream into text and <cite slug="…" quote="…"/> tags, whatever the splits of its
// bytes. The result does not depend on them.
//
// A tag is '<' or '</', "cite" in either case, and then white space, '/' or '>'. Everything else is
// text and passes at once: only "<", "</", "<c", … wait for the next byte. `<cite …/>` and `<cite
// …>` are the same; `</cite>` means nothing and is swallowed. Attributes come in any order, in
// double, single or typographic quotes or bare; entities are resolved; white space in a value
// collapses to one space; a quote character after a backslash does not end its value; the first of
// two equal attributes counts, unknown ones do not. '>' inside quotes does not end a tag.
//
// Malformed, dropped and counted: a tag without a slug; a tag that is still open at the end, or
// when the next "<cite " begins; a tag above kMaxTagBytes. Such a long one is skipped to its '>' or
// "/>", but not for more than kMaxTagBytes again: then what follows is text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cite/utf8_gate.h"

namespace stoka::cite {

inline constexpr size_t kMaxTagBytes = 2048;

// Called from push() and finish(), in the order of the stream.
class TagSink {
 public:
  virtual ~TagSink() = default;
  // Never empty, always valid UTF-8 by itself. Good until it returns.
  virtual void text(std::string_view text) = 0;
  // slug is not empty. quote is empty if the tag had none.
  virtual void tag(const std::string& slug, const std::string& quote) = 0;
};

// Not thread safe. No allocation outside of tags.
class Parser {
 public:
  explicit Parser(TagSink& sink) : sink_(sink) {}  // the sink must outlive the parser

  void push(std::string_view bytes);
  void finish();  // once, after the last push

  size_t malformed() const { return malformed_; }

 private:
  enum class State {
    text,
    prefix,   // of "<cite" or "</cite", in prefix_
    closing,  // after "</cite": white space, then '>'
    between,  // attributes
    name,
    after_name,
    before_value,
    double_quoted,
    single_quoted,
    curly_quoted,
    bare,
    skip,  // a tag that is too long
  };

  std::string_view push_text(std::string_view bytes);
  bool push_prefix(char c);  // false: c is still to be looked at, as text
  void push_tag(char c);
  void push_skip(char c);
  void emit(std::string_view bytes);
  void open(char c);
  void end_value();
  void close();
  void drop();
  bool in_quotes() const;

  TagSink& sink_;
  Utf8Gate gate_;
  State state_ = State::text;
  std::string prefix_;
  size_t tag_bytes_ = 0;
  size_t nested_ = 0;  // how much of "<cite" the last bytes of the tag are
  char last_ = 0;      // byte of the tag
  std::string name_;
  std::string value_;
  std::string slug_;
  std::string quote_;
  bool has_quote_ = false;
  char skip_quote_ = 0;
  size_t malformed_ = 0;
};

}  // namespace stoka::cite
