#include "trace/recording/library_glue.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace sooth {

bool is_library_glue(const std::string& file) {
  constexpr std::string_view kGlue[] = {"atomic",
                                        "atomic_base.h",
                                        "atomic_wait.h",
                                        "atomic_timed_wait.h",
                                        "alloc_traits.h",
                                        "allocator.h",
                                        "barrier",
                                        "condition_variable",
                                        "cxxabi_forced.h",
                                        "gthr-default.h",
                                        "gthr-posix.h",
                                        "gthr.h",
                                        "latch",
                                        "mutex",
                                        "new_allocator.h",
                                        "semaphore",
                                        "semaphore_base.h",
                                        "shared_mutex",
                                        "std_mutex.h",
                                        "std_thread.h",
                                        "thread",
                                        "unique_lock.h"};
  const std::size_t slash = file.rfind('/');
  return slash != std::string::npos && file.find("/c++/") != std::string::npos &&
         std::find(std::begin(kGlue), std::end(kGlue), std::string_view(file).substr(slash + 1)) != std::end(kGlue);
}

bool is_library_glue(const Site& site) {
  if (!site.file.empty()) {
    return is_library_glue(site.file);
  }
  constexpr std::string_view kLibraries[] = {"libstdc++.so",  "libc++.so",   "libc++abi.so", "libc.so",
                                             "libpthread.so", "libgcc_s.so", "ld-linux"};
  const std::string_view name = std::string_view(site.module).substr(site.module.rfind('/') + 1);
  return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                     [&](std::string_view library) { return name.starts_with(library); });
}

void trim_glue(std::vector<Site>& stack) {
  const auto first = std::find_if(stack.begin(), stack.end(), [](const Site& site) { return !is_library_glue(site); });
  if (first != stack.end()) {
    stack.erase(stack.begin(), first);
  }
}

}  // namespace sooth
