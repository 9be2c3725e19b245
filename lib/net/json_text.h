// Functions for text of model servers, which is often only almost JSON. They prepare it for a
// strict parser and find the message in an error body.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace stoka::net {

// Replaces invalid UTF-8 by U+FFFD, an unpaired surrogate escape by \ufffd, and NaN, Infinity and
// -Infinity outside strings by null. Nesting deeper than `most_depth` is a protocol error. Nothing
// else is checked: the result may still be invalid JSON.
Result<std::string> repair_json(std::string_view text, size_t most_depth = 64);

// The message in an error body of any known shape: {"error":{"message"}}, {"error":"text"},
// {"message"}, {"detail"}, {"object":"error","message"}, or plain text. The result is one line of
// at most 200 characters without control characters or a final full stop. It is empty for an empty
// body or an HTML page. The key is redacted before the text is cut.
std::string error_message(std::string_view body, const Secret& key = {});

}  // namespace stoka::net
