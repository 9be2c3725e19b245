// What model servers send is nearly JSON. This makes it JSON, before a parser sees it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace stoka::net {

// One pass: bytes that are no UTF-8 become U+FFFD; a surrogate escape without its other half
// becomes \ufffd; NaN, Infinity and -Infinity outside strings become null. Nesting deeper than
// `most_depth` is a protocol error. Whether the rest is JSON is for the parser to say.
Result<std::string> mend_json(std::string_view text, size_t most_depth = 64);

// The message of an error body, in any of the shapes servers use: {"error":{"message"}},
// {"error":"text"}, {"message"}, {"detail"}, {"object":"error","message"}, plain text. One line,
// cleaned, without full stops at its end, at most 200 characters; empty for an empty body or a page
// of HTML. The key is taken out before anything is cut.
std::string error_message(std::string_view body, const Secret& key = {});

}  // namespace stoka::net
