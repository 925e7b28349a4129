#include "launch/isolation.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "launch/private_directory.h"

namespace sooth {
namespace {

// Text of a fixed size, for processes that must not allocate.
class ShortText {
 public:
  ShortText& add(const char* text) {
    while (*text != 0 && size_ + 1 < sizeof text_) {
      text_[size_++] = *text++;
    }
    is_cut_ = is_cut_ || *text != 0;
    return *this;
  }
  ShortText& add(unsigned number) {
    char digits[16] = {};
    char* at = digits + sizeof digits - 1;
    do {
      *--at = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return add(at);
  }
  const char* text() const { return text_; }
  bool is_cut() const { return is_cut_; }

 private:
  char text_[2048] = {};
  std::size_t size_ = 0;
  bool is_cut_ = false;
};

// Closes, and leaves errno alone.
void close_quietly(int fd) {
  const int error = errno;
  if (fd >= 0) {
    ::close(fd);
  }
  errno = error;
}

bool write_to(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close_quietly(fd);
  return written;
}

bool start_loopback() {
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", sizeof "lo");
  request.ifr_flags = IFF_UP;
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool up = fd >= 0 && ::ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  close_quietly(fd);
  return up;
}

// What is written to the folder from here on goes to folders of the memory.
bool cover(const char* folder, const char* memory, unsigned number) {
  ShortText upper, work, options;
  upper.add(memory).add("/").add(number).add("u");
  work.add(memory).add("/").add(number).add("w");
  options.add("lowerdir=").add(folder).add(",upperdir=").add(upper.text()).add(",workdir=").add(work.text());
  ShortText with_attributes;
  with_attributes.add(options.text()).add(",userxattr");
  if (with_attributes.is_cut() || ::mkdir(upper.text(), 0700) != 0 || ::mkdir(work.text(), 0700) != 0) {
    return false;
  }
  struct stat was {};
  // As open to others as the folder itself is, and as sticky.
  if (::stat(folder, &was) != 0 || ::chmod(upper.text(), was.st_mode & 07777) != 0) {
    return false;
  }
  return ::mount("overlay", folder, "overlay", 0, with_attributes.text()) == 0 ||
         ::mount("overlay", folder, "overlay", 0, options.text()) == 0;
}

bool is_inside(const std::string& folder, const std::string& other) {
  return folder == other || (folder.starts_with(other) && folder[other.size()] == '/');
}

// A place below one of the folders where a file system is mounted, which keeps users from covering the folder.
std::string mounted_below(const std::vector<std::string>& folders) {
  std::ifstream mounts("/proc/self/mountinfo");
  std::string line;
  while (std::getline(mounts, line)) {
    std::istringstream fields(line);
    std::string skipped, place;
    fields >> skipped >> skipped >> skipped >> skipped >> place;
    if (std::any_of(folders.begin(), folders.end(),
                    [&](const std::string& folder) { return place != folder && is_inside(place, folder); })) {
      return place;
    }
  }
  return "";
}

// Whether it can stand among the options of a mount.
bool is_plain(const std::string& path) {
  return path.find_first_of(",:\\\"") == std::string::npos && path.size() < 512;
}

}  // namespace

bool Isolation::enter(const char* shared) const {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) != 0) {
    return false;
  }
  write_to("/proc/self/setgroups", "deny");  // without it the next but one may not be written
  return write_to("/proc/self/uid_map", user_map_) && write_to("/proc/self/gid_map", group_map_) && start_loopback() &&
         mount_layers(shared) && ::chdir(folder_.c_str()) == 0;
}

bool Isolation::mount_layers(const char* shared) const {
  ShortText memory, again;
  memory.add(shared).add("/").add(kMemoryFolder);
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", memory.text(), "tmpfs", 0, "mode=0700") != 0) {
    return false;
  }
  const int kept = ::open(shared, O_PATH | O_DIRECTORY | O_CLOEXEC);
  bool done = kept >= 0;
  for (unsigned i = 0; done && i < written_.size(); ++i) {
    done = cover(written_[i].c_str(), memory.text(), i);
  }
  // It may lie in a folder that is covered now.
  again.add("/proc/self/fd/").add(static_cast<unsigned>(std::max(kept, 0)));
  done = done && ::mount(again.text(), shared, nullptr, MS_BIND | MS_REC, nullptr) == 0;
  close_quietly(kept);
  return done;
}

Result<Isolation> Isolation::probe() {
  Isolation isolation;
  isolation.user_map_ = std::to_string(::geteuid()) + " " + std::to_string(::geteuid()) + " 1";
  isolation.group_map_ = std::to_string(::getegid()) + " " + std::to_string(::getegid()) + " 1";
  std::error_code error;
  isolation.folder_ = std::filesystem::current_path(error).string();
  for (const std::string& folder :
       {std::string("/tmp"), std::string("/var/tmp"), std::string("/dev/shm"), isolation.folder_}) {
    const bool covered = std::any_of(isolation.written_.begin(), isolation.written_.end(),
                                     [&](const std::string& other) { return is_inside(folder, other); });
    if (!covered && folder != "/" && std::filesystem::is_directory(folder, error)) {
      isolation.written_.push_back(folder);
    }
  }
  if (!std::all_of(isolation.written_.begin(), isolation.written_.end(), is_plain)) {
    return Status::bad_input("the path of the folder has signs that a mount cannot have");
  }
  const Result<PrivateDirectory> shared = PrivateDirectory::create(0);
  if (!shared.ok()) {
    return shared.status();
  }
  const std::string path = shared->path();
  if (::mkdir((path + "/" + kMemoryFolder).c_str(), 0700) != 0) {
    return Status::internal(std::string("cannot make a folder: ") + std::strerror(errno));
  }
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::_exit(isolation.enter(path.c_str()) ? 0 : errno == 0 ? 255 : errno);
  }
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string place = mounted_below(isolation.written_);
    return Status::bad_input(std::string("the kernel does not let us: ") +
                             (pid > 0 && WIFEXITED(status) ? std::strerror(WEXITSTATUS(status)) : "no process") +
                             (place.empty() ? "" : " (a file system is mounted at " + place + ")"));
  }
  return isolation;
}

}  // namespace sooth
