// nlohmann::json for the tests. The template is instantiated once, in json.cpp, and not in every
// test file that uses it, which saves a fifth of the time to build the tests.
#pragma once

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
