#include "launch/claimed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace sooth {

std::string numbered_name(const std::string& program, const std::string& ending, int n) {
  const std::string start = "sooth-" + std::filesystem::path(program).filename().string();
  return n == 1 ? start + ending : start + "-" + std::to_string(n) + ending;
}

Result<ClaimedFile> ClaimedFile::create(const std::string& program, const std::string& ending) {
  for (int n = 1;; ++n) {
    const std::string name = numbered_name(program, ending, n);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
      ::close(fd);
      return ClaimedFile(name);
    }
    if (errno != EEXIST) {
      return Status::usage("cannot write " + name + ": " + std::strerror(errno));
    }
  }
}

ClaimedFile::~ClaimedFile() {
  struct stat now {};
  if (!path_.empty() && ::lstat(path_.c_str(), &now) == 0 && S_ISREG(now.st_mode) && now.st_size == 0) {
    ::unlink(path_.c_str());
  }
}

}  // namespace sooth
