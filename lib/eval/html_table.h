// Tables of figures. What is given as text is escaped; cells are HTML already.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stoka::eval {

std::string percent(double share);  // "87.5%"

// A cell whose text stands to the right. `kind`: its class besides, "best".
std::string number_cell(const std::string& text, std::string_view kind = "");
std::string number_cell(size_t n);

// Two cells: a share of n as a figure and a bar, and its interval as whiskers and in figures. A
// dash where n is 0.
std::string share_cells(double share, size_t n);

std::string row(std::string_view name, const std::string& cells);

// Columns whose name begins with '#' are numbers. It scrolls sideways where it is too wide. `id` is
// its own on the page.
std::string table(std::string_view id, std::string_view caption,
                  std::span<const std::string> columns, const std::string& rows);

}  // namespace stoka::eval
