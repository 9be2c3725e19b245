#include "ingest/plain_text.h"

#include <doctest/doctest.h>

#include <string>

namespace plain_text_test {

using namespace stoka::ingest;

TEST_CASE("plain text becomes paragraphs and fenced code") {
  struct {
    std::string_view text, blocks;
    size_t secret_code;
  } cases[] = {
      {"", "", 0},
      {" one\ntwo \n\n\nthree", "p:one two|p:three|", 0},
      {"Run:\n```sh\nmake\n\n  -j2\n```\nDone.", "p:Run:|c:make\n\n  -j2|p:Done.|", 0},
      {"Keys:\n\n```env secret\nPASSWORD=x\n```\n\nDone.", "p:Keys:|p:Done.|", 1},
      {"~~~ {secret}\nnever closed", "", 1},
      {"```\nnever closed\n", "p:``` never closed|", 0},
      {"````\nmade of\n```\nlonger\n````\n", "c:made of\n```\nlonger|", 0},
      {"````\ntoo short\n```\n", "p:```` too short ```|", 0},
      {"Install\n~~~~~~~\nRun it as root.\n\nThen wait for it.",
       "p:Install ~~~~~~~ Run it as root.|p:Then wait for it.|", 0},
      {"One\n~~~\nis this.\n\nTwo\n~~~\nis that.", "p:One ~~~ is this.|p:Two ~~~ is that.|", 0},
      {"Run:\n\n~~~\nmake\n~~~\nDone.", "p:Run:|c:make|p:Done.|", 0},
      {"Run:\n~~~sh\nmake\n~~~\nDone.", "p:Run:|c:make|p:Done.|", 0},
  };
  for (const auto& c : cases) {
    CAPTURE(c.text);
    const PlainText plain = parse_plain_text(c.text);
    std::string blocks;
    for (const Block& block : plain.blocks)
      blocks.append(block.kind == BlockKind::code ? "c:" : "p:").append(block.text).append("|");
    CHECK(blocks == c.blocks);
    CHECK(plain.secret_code == c.secret_code);
  }
}

}  // namespace plain_text_test
