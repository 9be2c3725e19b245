// The entry point of one target for libFuzzer.
#include <cstdint>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // An exception ends the program, which libFuzzer reports together with the input.
  stoka::fuzz::STOKA_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
