#include "base/memory_use.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string>

namespace sooth {
namespace {

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

// The first number of the file; 0 when it has none ("max") or is not there.
std::uint64_t number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? number : 0;
}

}  // namespace

std::uint64_t resident_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return 0;
  }
  std::array<char, 128> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  // "mapped resident ..."
  const char* const begin = text.data();
  const char* const end = begin + std::max<ssize_t>(size, 0);
  const char* const space = std::find(begin, end, ' ');
  std::uint64_t pages = 0;
  if (space != end) {
    std::from_chars(space + 1, end, pages);
  }
  return pages * page_bytes();
}

std::uint64_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  std::uint64_t bytes = pages > 0 ? static_cast<std::uint64_t>(pages) * page_bytes() : 0;
  for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::uint64_t most = number_in(limit);
    bytes = most == 0 ? bytes : bytes == 0 ? most : std::min(bytes, most);
  }
  return bytes;
}

void give_back_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace sooth
