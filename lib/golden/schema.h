// The schema of the golden TOML files: which keys a file may have, and of which type their values
// are. Every file is checked, so that a mistyped key is an error instead of a line that is never
// used.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml.h"

namespace stoka::golden {

enum class KeyType { text, list, count };  // a string, a list of strings, a whole number from 0

struct KeyRule {
  std::string name;  // "post.lines"; a * stands for any name: "meta.*.reply"
  KeyType type = KeyType::list;
};

// Returns the keys of a golden file, for example of "router.toml". For replies.toml these are the
// built-in replies; the caller adds the replies that router.toml names.
std::vector<KeyRule> known_keys(std::string_view file);

// Fails with an error of kind config that names the file, the line, the key and, for an unknown
// key, the closest known one.
Result<> check_keys(std::string_view file, std::span<const TomlEntry> entries,
                    std::span<const KeyRule> known);

}  // namespace stoka::golden
