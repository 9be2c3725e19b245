// nlohmann::json for the tests. Its class is compiled once, in json.cpp, and not again in every test
// file that uses it, which takes a fifth off the time to build the tests.
#pragma once

#include <nlohmann/json.hpp>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
