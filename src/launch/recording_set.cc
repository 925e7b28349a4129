#include "launch/recording_set.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "launch/claimed_file.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

// A descriptor that is closed at the end of the scope.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~OpenFile() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// ".123" or ".123.4": what a further process puts behind the name.
bool is_process_suffix(std::string_view text) {
  for (int parts = 0; parts < 2; ++parts) {
    if (!text.starts_with('.')) {
      return false;
    }
    text.remove_prefix(1);
    const std::size_t digits = std::min(text.size(), text.find_first_not_of("0123456789"));
    if (digits == 0) {
      return false;
    }
    text.remove_prefix(digits);
    if (text.empty()) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<RecordingState> read_recording_state(const std::string& directory) {
  const std::string path = directory + "/" + stream::kStreamsFile;
  const OpenFile file(path, O_RDONLY);
  if (file.fd() < 0) {
    return Status::bad_input(path + ": " + std::strerror(errno));
  }
  stream::Control control{};
  const ssize_t n = ::pread(file.fd(), &control, sizeof(control), 0);
  if (n != sizeof(control) || control.magic != stream::kControlMagic) {
    return Status::bad_input(path + ": the program ended before it had recorded anything");
  }
  RecordingState state;
  state.pid = control.pid;
  state.threads = control.threads;
  state.chunks = control.chunks;
  state.sites = std::min(control.sites, stream::kMaxSites);
  state.has_calls = (control.flags & stream::kWithCalls) != 0;
  state.ended = control.ended != 0;
  state.stop = static_cast<stream::StopReason>(control.stop_reason);
  state.left_out = control.left_out;
  state.handed_over = control.handed_over;
  return state;
}

Status stop_recording(int streams, stream::StopReason reason) {
  void* memory = ::mmap(nullptr, stream::kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, streams, 0);
  if (memory == MAP_FAILED) {
    return Status::internal(std::string("cannot map the recording: ") + std::strerror(errno));
  }
  auto* control = static_cast<stream::Control*>(memory);
  const bool recording = std::atomic_ref(control->magic).load(std::memory_order_acquire) == stream::kControlMagic;
  std::uint32_t none = 0;
  // The first reason wins, as in the library.
  if (recording &&
      std::atomic_ref(control->stop_reason).compare_exchange_strong(none, static_cast<std::uint32_t>(reason))) {
    std::atomic_ref(control->stop_ticket).store(std::atomic_ref(control->next_ticket).load());
    ::syscall(SYS_futex, &control->ring_put, FUTEX_WAKE, INT_MAX, nullptr, nullptr,
              0);  // threads that wait for a chunk
  }
  ::munmap(memory, stream::kControlBytes);
  return {};
}

RecordingSet::RecordingSet(std::string base, std::string absolute)
    : base_(std::move(base)), absolute_(std::move(absolute)) {
  for (std::string& each : existing()) {
    before_.insert(std::move(each));
  }
}

RecordingSet::~RecordingSet() {
  if (!absolute_.empty()) {
    ::rmdir(absolute_.c_str());  // only if nobody has recorded anything there
  }
}

Result<RecordingSet> RecordingSet::prepare_default(const std::string& program) {
  for (int n = 1;; ++n) {
    Result<RecordingSet> set = claim(numbered_name(program, ".trace", n));
    if (set.ok() || set.status().code() != ExitCode::kUsage) {
      return set;
    }
  }
}

Result<RecordingSet> RecordingSet::prepare(const std::string& base) {
  std::string name = base;
  while (name.size() > 1 && name.ends_with('/')) {
    name.pop_back();
  }
  return claim(name);
}

Result<RecordingSet> RecordingSet::claim(const std::string& name) {
  std::error_code error;
  const fs::path absolute = fs::absolute(name, error);
  const std::string parent = absolute.parent_path().string();
  if (error || ::access(parent.c_str(), W_OK | X_OK) != 0) {
    return Status::bad_input("cannot make " + name + ": " + parent + ": " +
                             (error ? error.message() : std::strerror(errno)));
  }
  RecordingSet set(name, absolute.string());
  // The directory is the claim: of several that want the name, one makes it. The program's library takes it over.
  if (::mkdir(absolute.c_str(), 0700) == 0) {
    return set;
  }
  const int reason = errno;
  set.absolute_.clear();  // not ours
  return reason == EEXIST ? Status::usage(name + " exists already: name another directory with -o")
                          : Status::bad_input("cannot make " + name + ": " + std::strerror(reason));
}

std::vector<std::string> RecordingSet::existing() const {
  const fs::path path(absolute_);
  const std::string name = path.filename().string();
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(path.parent_path(), error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string other = entry->path().filename().string();
    if (other.starts_with(name) &&
        (other.size() == name.size() || is_process_suffix(std::string_view(other).substr(name.size())))) {
      found.push_back(base_ + other.substr(name.size()));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> RecordingSet::made() const {
  std::vector<std::string> found = existing();
  std::erase_if(found, [this](const std::string& each) {
    return before_.contains(each) ||
           (each == base_ && ::access((each + "/" + stream::kStreamsFile).c_str(), F_OK) != 0);
  });
  return found;
}

void RecordingSet::stop() const {
  for (const std::string& directory : made()) {
    const OpenFile streams(directory + "/" + stream::kStreamsFile, O_RDWR);
    if (streams.fd() >= 0) {
      // It cannot fail for a recording that is going on; for one that is just being made there is nothing to stop.
      (void)stop_recording(streams.fd(), stream::StopReason::kSignal);
    }
  }
}

}  // namespace sooth
