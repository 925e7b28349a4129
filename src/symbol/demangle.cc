#include "symbol/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace sooth {

namespace {

// Empty: it is no mangled name.
std::string demangle_whole(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && readable != nullptr ? std::string(readable.get()) : std::string();
}

// What compilers make of the constructs of OpenMP: functions of their own. GCC's
// have the same name for regions and tasks.
std::string name_openmp(const std::string& text) {
  constexpr std::string_view kGcc = "._omp_fn.";
  if (text.starts_with(".omp_outlined")) {
    return "OpenMP region";
  }
  if (text.starts_with(".omp_task_entry.")) {
    return "OpenMP task";
  }
  const std::size_t part = text.find(kGcc);
  if (part == std::string::npos || part == 0 ||
      text.find_first_not_of("0123456789", part + kGcc.size()) != std::string::npos) {
    return {};
  }
  const std::string outer = text.substr(0, part);
  const std::string readable = outer.starts_with("_Z") ? demangle_whole(outer) : std::string();
  return (readable.empty() ? outer : readable) + ", OpenMP region";
}

}  // namespace

std::string demangle(std::string_view name) {
  std::string text(name.substr(0, name.find('@')));
  if (std::string region = name_openmp(text); !region.empty()) {
    return region;
  }
  if (!text.starts_with("_Z")) {
    return text;
  }
  if (std::string readable = demangle_whole(text); !readable.empty()) {
    return readable;
  }
  // Clang splits static variables into their members and numbers them.
  const std::size_t part = text.find_last_not_of("0123456789");
  if (part != std::string::npos && text[part] == '.' && part + 1 < text.size()) {
    if (std::string readable = demangle_whole(text.substr(0, part)); !readable.empty()) {
      return readable + text.substr(part);
    }
  }
  return text;
}

}  // namespace sooth
