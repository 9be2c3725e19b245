# A CMake script that writes the source file OUT from FILES, which are separated by | and relative to DIR.
# See cmake/embed.cmake.
string(REPLACE "|" ";" FILES "${FILES}")
set(body "")
set(table "")
set(n 0)
foreach(file ${FILES})
  file(READ ${DIR}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND body "const unsigned char data_${n}[] = {${bytes}0};\n")
  string(APPEND table
         "    {\"${file}\", {reinterpret_cast<const char*>(data_${n}), sizeof data_${n} - 1}},\n")
  math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT}
"#include \"base/embedded.h\"

namespace stoka::embedded {
namespace {
${body}
const EmbeddedFile table[] = {
${table}};
}  // namespace

std::span<const EmbeddedFile> ${NAME}() { return table; }

}  // namespace stoka::embedded
")
