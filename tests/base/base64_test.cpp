#include "base/base64.h"

#include <doctest/doctest.h>

namespace base64_test {

using namespace stoka;

TEST_CASE("the test vectors of RFC 4648 are encoded and decoded") {
  for (auto [plain, coded] :
       std::initializer_list<std::pair<const char*, const char*>>{{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}}) {
    CHECK(to_base64(plain) == coded);
    CHECK(from_base64(coded) == plain);
  }
}

TEST_CASE("every byte is unchanged after encoding and decoding, and padding may be missing") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(from_base64(to_base64(all)) == all);
  CHECK(from_base64("Zg") == "f");
}

TEST_CASE("malformed Base64 is refused") {
  for (const char* text : {"Zg=a", "Z", "Zm9v\n", "Zm-v", "Zm9vY"}) {
    CAPTURE(std::string(text));
    CHECK_FALSE(from_base64(text));
  }
}

}  // namespace base64_test
