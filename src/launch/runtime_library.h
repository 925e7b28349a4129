// The run time library: which file is loaded into a program so that its run is recorded.
#pragma once

#include <string>

#include "base/status.h"

namespace sooth {

// The library exists under two names. Each is that of a library of ThreadSanitizer, so that a program which was linked
// with that one gets ours instead: the dynamic linker loads a name only once.
inline constexpr char kGccRuntimeName[] = "libtsan.so.2";
#if defined(__aarch64__)
inline constexpr char kClangRuntimeName[] = "libclang_rt.tsan-aarch64.so";
#else
inline constexpr char kClangRuntimeName[] = "libclang_rt.tsan-x86_64.so";
#endif
// What `-ltsan` looks for: a link to the first one beside it.
inline constexpr char kGccLinkName[] = "libtsan.so";
// What clang loads for `sooth c++ --deep`, in the same directory.
inline constexpr char kDeepPassName[] = "sooth_deep_pass.so";

struct RuntimeLibrary {
  std::string directory;               // absolute, holds all the names above
  std::string include_directory = {};  // holds sooth/annotate.h; empty when there is none

  std::string path(const char* name) const { return directory + "/" + name; }
  // The directory of the library for another machine; it need not exist.
  std::string for_machine(std::string_view machine) const { return directory + "/" + std::string(machine); }
};

// Looks where the running executable was built or installed: `../runtime` and `../LIBDIR/sooth` from its directory;
// headers are in `../include`.
Result<RuntimeLibrary> find_runtime_library();

}  // namespace sooth
