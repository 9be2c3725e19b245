// Separates the stream of a model into text and <cite slug="…" quote="…"/> tags. The stream may be
// split anywhere, even inside a UTF-8 sequence; the result does not depend on the splits.
//
// Syntax. A tag is '<' or '</', "cite" in any case, and then white space, '/' or '>'. Everything
// else is text and is passed on at once; only a beginning such as "<" or "</ci" is held back until
// the next byte decides. The syntax is lenient, because models write HTML of every kind:
// `<cite …/>` and `<cite …>` mean the same, and `</cite>` is ignored. Attributes may come in any
// order, with a value in double, single or typographic quotes or without quotes. In a value,
// character references are decoded, white space is collapsed to single spaces, and a backslash
// escapes the quote character. If an attribute occurs twice the first one counts; unknown
// attributes are ignored. A '>' in quotes does not end the tag.
//
// Errors. Malformed tags are dropped and counted: a tag without a slug; a tag that is still open
// when the stream ends or when the next "<cite " begins, as after a quote that is never closed; and
// a tag longer than kMaxTagBytes. The limit bounds both the memory and the time for which a broken
// tag can keep the rest of the answer from the reader. The remainder of an oversized tag is skipped
// up to its '>' or "/>", but for at most kMaxTagBytes more; after that, the stream is text again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "text/utf8.h"

namespace stoka::cite {

inline constexpr size_t kMaxTagBytes = 2048;

// Receives text and tags from push() and finish(), in the order of the stream.
class TagSink {
 public:
  virtual ~TagSink() = default;
  // Called with text, which is not empty and is valid UTF-8. The view is valid during the call.
  virtual void text(std::string_view text) = 0;
  // Called with a tag. The slug is not empty; the quote is empty if the tag has none.
  virtual void tag(const std::string& slug, const std::string& quote) = 0;
};

// The parser is not thread safe. It allocates memory only inside of tags.
class CitationParser {
 public:
  explicit CitationParser(TagSink& sink) : sink_(sink) {}  // the sink must outlive the parser

  void push(std::string_view bytes);
  void finish();  // must be called once, after the last push()

  size_t malformed() const { return malformed_; }

 private:
  // The states of the parser: `text` leads to `tag_start`, and `tag_start` leads to `text`,
  // `closing_tag` or a state of a tag. The states of a tag are `attributes` to `unquoted`.
  enum class State {
    text,
    tag_start,       // the bytes so far, in start_, are a beginning of "<cite" or "</cite"
    closing_tag,     // after "</cite" and white space: waits for '>'
    attributes,      // between attributes
    attribute_name,  // inside the name of an attribute
    after_name,      // after a name and white space: waits for '=' or another name
    before_value,    // after the '=' of an attribute
    double_quoted,
    single_quoted,
    curly_quoted,
    unquoted,
    oversized,  // skips the remainder of a tag that is longer than kMaxTagBytes
  };

  std::string_view push_text(std::string_view bytes);  // returns the bytes after the next '<'
  bool push_tag_start(char c);  // false: c is not part of a tag and must be parsed as text
  void push_tag(char c);
  void push_attribute(char c);
  void push_oversized(char c);
  void emit_text(std::string_view bytes);
  void begin_tag(char c);
  void end_value();
  void end_tag();
  void drop_tag();
  bool is_in_quotes() const;

  TagSink& sink_;
  text::Utf8Sanitizer sanitizer_;  // makes the text valid UTF-8
  State state_ = State::text;
  std::string start_;  // the bytes of a possible tag: see State::tag_start
  size_t tag_bytes_ = 0;
  size_t nested_start_ = 0;  // how many bytes of "<cite" the last bytes inside the tag are
  char last_ = 0;            // the previous byte of the tag
  std::string name_;         // the name of the current attribute, in lower case
  std::string value_;        // the value of the current attribute, as written
  std::string slug_;
  std::string quote_;
  bool has_quote_ = false;
  char oversized_quote_ = 0;  // the quote character that is open in an oversized tag, or 0
  size_t malformed_ = 0;
};

}  // namespace stoka::cite
