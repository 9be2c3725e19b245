// Fuzz targets. Each is a function that takes any bytes, feeds them to one part of the library, and
// checks what must be true for all bytes. With clang, each target is a program of libFuzzer
// (scripts/fuzz); corpus_test.cpp runs the inputs in corpus/NAME in the ordinary tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stoka::fuzz {

// Every function throws a Violation if a rule does not hold. It may also crash, or stop at a
// sanitizer.
struct Violation : std::logic_error {
  using std::logic_error::logic_error;
};

void fuzz_cite(std::string_view input);         // the stream of a model, with citation tags
void fuzz_config(std::string_view input);       // a configuration file
void fuzz_frontmatter(std::string_view input);  // a page
void fuzz_json(std::string_view input);         // the body of a request or of a model's response
void fuzz_jwt(std::string_view input);          // a token, or the header and claims of one
void fuzz_markdown(std::string_view input);     // a page without frontmatter
void fuzz_request(std::string_view input);      // the bytes of an HTTP connection
void fuzz_sse(std::string_view input);          // an event stream

struct Target {
  std::string_view name;  // the file of the target is NAME_fuzz.cpp
  void (*run)(std::string_view input);
};
inline constexpr Target kTargets[] = {
    {"cite", fuzz_cite}, {"config", fuzz_config},   {"frontmatter", fuzz_frontmatter},
    {"json", fuzz_json}, {"jwt", fuzz_jwt},         {"markdown", fuzz_markdown},
    {"sse", fuzz_sse},   {"request", fuzz_request},
};

// `rule` is a sentence that must be true.
inline void check(bool is_true, std::string_view rule) {
  if (!is_true) throw Violation("this is not true: " + std::string(rule));
}

using Pieces = std::vector<std::string_view>;

inline Pieces single_bytes(std::string_view input) {
  Pieces out;
  for (size_t i = 0; i < input.size(); ++i) out.push_back(input.substr(i, 1));
  return out;
}

// The input in pieces of 1 to 16 bytes. Its last eight bytes are also the lengths of the pieces, so
// that the input decides where it is split and is still plain text.
inline Pieces chosen_pieces(std::string_view input) {
  const std::string_view lengths = input.substr(input.size() - std::min<size_t>(input.size(), 8));
  Pieces out;
  for (size_t i = 0; !input.empty(); ++i) {
    const size_t length = 1 + static_cast<unsigned char>(lengths[i % lengths.size()]) % 16;
    out.push_back(input.substr(0, length));
    input.remove_prefix(out.back().size());
  }
  return out;
}

// Calls parse(pieces) with the whole input, with single bytes and with the chosen pieces, and
// checks that the results are equal. Returns the result.
template <class Parse>
auto parse_in_splits(std::string_view input, const Parse& parse) {
  const auto whole = parse(Pieces{input});
  check(parse(single_bytes(input)) == whole, "single bytes give the result of the whole input");
  check(parse(chosen_pieces(input)) == whole, "pieces give the result of the whole input");
  return whole;
}

}  // namespace stoka::fuzz
