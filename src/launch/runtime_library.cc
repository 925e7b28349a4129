#include "launch/runtime_library.h"

#include <filesystem>
#include <system_error>

namespace sooth {

namespace fs = std::filesystem;

Result<RuntimeLibrary> find_runtime_library() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    return Status::internal("cannot tell where sooth is installed: /proc/self/exe: " + error.message());
  }
  const fs::path prefix = executable.parent_path().parent_path();
  const fs::path places[] = {prefix / "runtime", prefix / SOOTH_INSTALL_LIBDIR / "sooth"};
  for (const fs::path& place : places) {
    if (fs::exists(place / kGccRuntimeName, error)) {
      const fs::path include = prefix / "include";
      return RuntimeLibrary{place.string(), fs::exists(include / "sooth/annotate.h", error) ? include.string() : ""};
    }
  }
  return Status::internal("the run time library " + std::string(kGccRuntimeName) + " is neither in " +
                          places[0].string() + " nor in " + places[1].string() + "; install sooth again");
}

}  // namespace sooth
