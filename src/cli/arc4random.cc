// For archives that run on systems whose glibc does not have it yet; src/cli/CMakeLists.txt says for whom.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    std::abort();  // as glibc's does
  }
  return number;
}
