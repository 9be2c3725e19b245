#include "base/json.h"

#include <doctest/doctest.h>

#include "support/json.h"

namespace json_test {

using namespace stoka;

TEST_CASE("to_json_text writes one line and replaces invalid UTF-8") {
  CHECK(to_json_text(nlohmann::json{{"b", 1}, {"a", "\xC3("}}) ==
        "{\"a\":\"\xEF\xBF\xBD(\",\"b\":1}");
  CHECK(to_json_text(nlohmann::ordered_json{{"b", {1, 2}}, {"a", nullptr}}) ==
        R"({"b":[1,2],"a":null})");
}

}  // namespace json_test
