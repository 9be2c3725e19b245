// Which keys a golden TOML file may have, and what their values must be. Every such file is checked
// against this one list, so that a mistyped key is an error and not a line that is never said.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/toml.h"

namespace stoka::golden {

enum class Shape { text, list, count };  // a string, a list of strings, a whole number from 0

struct Key {
  std::string name;  // "post.lines"; one * stands for any name: "meta.*.reply"
  Shape shape = Shape::list;
};

// The keys of router.toml, hints.toml, … as the program reads them. Those of replies.toml are the
// built-in replies; the names that router.toml uses come on top.
std::vector<Key> known_keys(std::string_view file);

// A config error that names the file, the line, the key and the nearest known one.
Result<> check_keys(std::string_view file, std::span<const TomlEntry> entries,
                    std::span<const Key> known);

}  // namespace stoka::golden
