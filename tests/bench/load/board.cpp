#include "bench/load/board.h"

#include <sys/mman.h>

#include <new>

namespace stoka::load {

Board& make_board() {
  void* memory =
      ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return *new (memory) Board;
}

}  // namespace stoka::load
