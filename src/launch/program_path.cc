#include "launch/program_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace sooth {
namespace {

constexpr char kDefaultPath[] = "/bin:/usr/bin";  // what execvp() takes when there is no PATH

// 0, or the error number that says why `path` cannot be executed.
int why_not_executable(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    return errno;
  }
  if (S_ISDIR(info.st_mode)) {
    return EISDIR;
  }
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

Result<std::string> find_program(const std::string& name) {
  if (name.empty()) {
    return Status::usage("the name of the program is empty");
  }
  if (name.find('/') != std::string::npos) {
    const int error = why_not_executable(name);
    if (error != 0) {
      return Status::bad_input("cannot start " + name + ": " + std::strerror(error));
    }
    return name;
  }
  const char* variable = std::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : kDefaultPath;
  int forbidden = 0;
  for (;;) {
    const std::string_view directory = path.substr(0, path.find(':'));
    const std::string file = (directory.empty() ? "." : std::string(directory)) + "/" + name;
    const int error = why_not_executable(file);
    if (error == 0) {
      return file;
    }
    forbidden = error == EACCES ? error : forbidden;
    if (directory.size() == path.size()) {
      break;
    }
    path.remove_prefix(directory.size() + 1);
  }
  if (forbidden != 0) {
    return Status::bad_input("cannot start " + name + ": the one in PATH may not be executed");
  }
  return Status::bad_input("cannot start " + name +
                           ": there is no such program in PATH; for one in this directory write ./" + name);
}

}  // namespace sooth
