#include "launch/descendants.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <vector>

namespace sooth {
namespace {

// A process that starts others faster than they are found would keep us for ever.
constexpr int kRounds = 100;

std::mutex mutex;  // also held while a child is started, so that it is known before anybody can find it
std::set<pid_t>& known() {
  static std::set<pid_t> children;
  return children;
}

// The direct children of a process, of all its threads.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> found;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  DIR* directory = ::opendir(tasks.c_str());
  if (directory == nullptr) {
    return found;
  }
  while (const dirent* entry = ::readdir(directory)) {
    std::ifstream list(tasks + "/" + entry->d_name + "/children");
    for (pid_t child = 0; list >> child;) {
      found.push_back(child);
    }
  }
  ::closedir(directory);
  return found;
}

std::vector<pid_t> descendants_of(pid_t root) {
  std::vector<pid_t> all = children_of(root);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<pid_t> more = children_of(all[i]);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

// A child of this process that is over, or was started with the mark.
bool is_ours(pid_t orphan, const std::string& mark) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(orphan), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == orphan) {
    return true;
  }
  if (mark.empty()) {
    return false;
  }
  std::ifstream file("/proc/" + std::to_string(orphan) + "/environ", std::ios::binary);
  const std::string environment((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return (std::string(1, '\0') + environment).find('\0' + mark + '\0') != std::string::npos;
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

pid_t start_known_child(const std::function<pid_t()>& start) {
  const std::lock_guard<std::mutex> guard(mutex);
  const pid_t child = start();
  if (child > 0) {
    known().insert(child);
  }
  return child;
}

void forget_known_child(pid_t child) {
  const std::lock_guard<std::mutex> guard(mutex);
  known().erase(child);
}

void end_descendants(pid_t root, const std::string& mark) {
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<pid_t> all = descendants_of(root);
    for (const pid_t each : all) {
      ::kill(each, SIGKILL);
    }
    if (all.empty()) {
      break;
    }
  }
  const std::lock_guard<std::mutex> guard(mutex);
  for (int round = 0; round < kRounds; ++round) {
    bool any = false;
    for (const pid_t orphan : children_of(::getpid())) {
      if (known().contains(orphan) || !is_ours(orphan, mark)) {
        continue;
      }
      any = true;
      for (const pid_t each : descendants_of(orphan)) {
        ::kill(each, SIGKILL);
      }
      ::kill(orphan, SIGKILL);
      ::waitpid(orphan, nullptr, 0);
    }
    if (!any) {
      return;
    }
  }
}

}  // namespace sooth
