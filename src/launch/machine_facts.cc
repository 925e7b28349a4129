#include "launch/machine_facts.h"

#include <sched.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "launch/captured_process.h"
#include "launch/compiler_command.h"
#include "launch/environment.h"
#include "launch/preflight.h"
#include "launch/private_directory.h"
#include "launch/program_path.h"
#include "launch/runtime_library.h"
#include "symbol/debug_file.h"

namespace sooth {
namespace {

constexpr char kTrialSource[] = R"(#include <pthread.h>
static int shared;
static void *work(void *unused) { shared = 1; return unused; }
int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, 0, work, 0) != 0) return 1;
  return pthread_join(thread, 0) != 0 || shared != 1;
}
)";

// Whether `attempt` succeeds in a process of its own, so that it leaves nothing behind in ours.
bool succeeds_in_child(const std::function<bool()>& attempt) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(attempt() ? 0 : 1);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool can_fix_addresses() {
  const int now = ::personality(0xffffffff);
  return now >= 0 && ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0 &&
         (static_cast<unsigned>(::personality(0xffffffff)) & ADDR_NO_RANDOMIZE) != 0;
}

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::uint64_t free_bytes(const std::string& directory) {
  struct statvfs info {};
  return ::statvfs(directory.c_str(), &info) == 0 ? std::uint64_t{info.f_bavail} * info.f_frsize : 0;
}

std::uint64_t limit_of(decltype(RLIMIT_AS) what) {
  rlimit limit{};
  return ::getrlimit(what, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : 0;
}

// The smallest limit of the control groups that we are in (version 2, and 1 where it stands in the usual place).
std::uint64_t control_group_limit() {
  std::uint64_t smallest = 0;
  const auto take = [&](const std::string& path) {
    const std::optional<std::uint64_t> limit = number_in(path);
    if (limit && *limit < (std::uint64_t{1} << 60)) {  // version 1 writes a huge number for none
      smallest = smallest == 0 ? *limit : std::min(smallest, *limit);
    }
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::")) {
      for (std::filesystem::path group = line.substr(3); group.has_relative_path(); group = group.parent_path()) {
        take("/sys/fs/cgroup" + group.string() + "/memory.max");
      }
    }
  }
  take("/sys/fs/cgroup/memory.max");
  take("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  return smallest;
}

std::uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) {
      std::uint64_t kilobytes = 0;
      std::istringstream(line.substr(line.find(':') + 1)) >> kilobytes;
      return kilobytes * 1024;
    }
  }
  return 0;
}

FoundTool look_for(std::vector<std::string> names) {
  FoundTool tool;
  tool.name = names.front();
  for (const std::string& name : names) {
    if (const Result<std::string> path = find_program(name); path.ok()) {
      tool.name = name;
      tool.path = *path;
      break;
    }
  }
  return tool;
}

// Empty when it ended with 0; else the end of what it printed.
std::string run_quietly(const std::vector<std::string>& words) {
  CaptureLimits limits;
  limits.timeout = std::chrono::seconds(60);
  const Result<Captured> done = run_captured(words, current_environment(), limits);
  if (!done.ok()) {
    return done.status().message();
  }
  if (!done->timed_out && done->end.shell_status() == 0) {
    return {};
  }
  std::string text = done->errors.empty() ? done->output : done->errors;
  text.erase(text.find_last_not_of(" \n") + 1);
  text = text.substr(text.rfind('\n') + 1);  // linkers say the reason last
  return shell_line(words) + " ended with " + done->end.describe() + (text.empty() ? "" : ": " + text);
}

// Compiles and records a small program with each compiler that is there.
void try_compilers(MachineFacts& facts, const std::string& self) {
  const char* chosen = std::getenv("SOOTH_CC");
  facts.compiler = look_for({chosen != nullptr && *chosen != '\0' ? chosen : "gcc"});
  facts.clang = look_for({"clang", "clang-19", "clang-18", "clang-16", "clang-14"});
  facts.deep_clang = look_for({deep_compiler(false)});
  const Result<PrivateDirectory> place = PrivateDirectory::create(1 << 20);
  if (!place.ok() || !facts.runtime_error.empty()) {
    return;
  }
  const std::string source = place->path() + "/trial.c", program = place->path() + "/trial";
  std::ofstream(source) << kTrialSource;
  for (FoundTool* tool : {&facts.compiler, &facts.clang}) {
    if (tool->path.empty()) {
      continue;
    }
    tool->error = run_quietly({self, "cc", "--compiler=" + tool->path, source, "-o", program});
    if (tool->error.empty() && facts.trial_error.empty()) {
      facts.trial_error = run_quietly({self, "record", "--no-config", "-o", program + ".trace", "--", program});
      std::error_code ignored;
      std::filesystem::remove_all(program + ".trace", ignored);
    }
  }
  if (!facts.deep_clang.path.empty() && facts.has_deep_pass) {
    facts.deep_clang.error = run_quietly({self, "cc", "--deep", source, "-o", program});
  }
}

ProgramFacts look_at(const std::string& name) {
  ProgramFacts facts;
  facts.path = name;
  const Result<PreparedProgram> prepared = prepare_program(name);
  if (!prepared.ok()) {
    facts.refusal = prepared.status().message();
    return facts;
  }
  facts.instrumented = prepared->instrumented;
  facts.unseen = prepared->unseen;
  if (const Result<std::string> path = find_program(name); path.ok()) {
    const Result<std::unique_ptr<DebugFile>> file = DebugFile::open(*path, "");
    facts.has_lines = file.ok() && !(*file)->units().empty();
  }
  return facts;
}

}  // namespace

MachineFacts gather_facts(const std::string& program, const std::string& self) {
  MachineFacts facts;
  const Result<RuntimeLibrary> library = find_runtime_library();
  facts.runtime_error = library.ok() ? "" : library.status().message();
  facts.has_deep_pass = library.ok() && ::access(library->path(kDeepPassName).c_str(), R_OK) == 0;
  if (std::ifstream maps("/proc/self/maps"); !maps || maps.peek() == std::ifstream::traits_type::eof()) {
    facts.proc_error = "/proc/self/maps cannot be read";
  }
  if (const auto scope = number_in("/proc/sys/kernel/yama/ptrace_scope")) {
    facts.ptrace_scope = static_cast<int>(*scope);
  }
  facts.fixes_addresses = succeeds_in_child(can_fix_addresses);
  facts.has_seccomp = ::prctl(PR_GET_SECCOMP) >= 0;
  facts.makes_namespaces = succeeds_in_child([] { return ::unshare(CLONE_NEWUSER) == 0; });
  const char* chosen = std::getenv("TMPDIR");
  facts.scratch = chosen != nullptr && chosen[0] == '/' ? chosen : "/tmp";
  facts.scratch_error = ::access(facts.scratch.c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
  facts.scratch_free = free_bytes(facts.scratch);
  std::error_code error;
  facts.here = std::filesystem::current_path(error).string();
  facts.here_free = free_bytes(".");
  facts.memory = available_memory();
  const std::uint64_t group = control_group_limit(), address_space = limit_of(RLIMIT_AS);
  facts.memory_limit =
      group == 0 || address_space == 0 ? std::max(group, address_space) : std::min(group, address_space);
  facts.file_limit = limit_of(RLIMIT_FSIZE);
  facts.cores = std::max(1u, std::thread::hardware_concurrency());
  try_compilers(facts, self);
  facts.gdb = look_for({"gdb"});
  facts.valgrind = look_for({"valgrind"});
  const char* browser = std::getenv("BROWSER");
  facts.browser = look_for({browser != nullptr && *browser != '\0' ? browser : "xdg-open", "xdg-open", "chromium",
                            "chromium-browser", "google-chrome", "firefox"});
  if (!program.empty()) {
    facts.program = look_at(program);
  }
  return facts;
}

}  // namespace sooth
