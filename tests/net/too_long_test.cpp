#include "net/too_long.h"

#include <doctest/doctest.h>

#include <string>

namespace too_long_test {

using stoka::net::too_long;

TEST_CASE("the known messages about a too long input are recognised") {
  const struct {
    int status;
    std::string body;
  } cases[] = {
      {422, R"({"error":"`inputs` must have less than 512 tokens. Given: 534","error_type":"V"})"},
      {413, "Failed to buffer the request body: length limit exceeded"},
      {413, ""},
      {400, R"({"error":{"message":"This model's maximum context length is 512 tokens."}})"},
      {400, R"({"error":"the input length exceeds the context length"})"},
      {400, R"({"error":{"message":"the request exceeds the available context size"}})"},
      {500, R"({"error":{"message":"input (596 tokens) is too large to process."}})"},
      {400, R"({"error":{"message":"Input is TOO LONG"}})"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    CHECK(too_long({one.status, "", one.body}));
  }
}

TEST_CASE("other errors are not about the length of the input") {
  const struct {
    int status;
    std::string body;
  } cases[] = {
      {422, R"({"error":"batch size 40 > maximum allowed batch size 32"})"},
      {422, R"({"error":"Tokenizer error: invalid input"})"},
      {429, R"({"error":"too many tokens a minute"})"},
      {401, R"({"error":"invalid tokens"})"},
      {500, ""},
      {500, "<html>the length of this page</html>"},
      {200, R"({"message":"too long"})"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.body);
    CHECK_FALSE(too_long({one.status, "", one.body}));
  }
}

}  // namespace too_long_test
