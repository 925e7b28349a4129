#include "run/hang_watch.h"

#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "launch/controlled_run.h"
#include "launch/isolation.h"
#include "launch/program_path.h"
#include "launch/reaching_out.h"

namespace sooth {
namespace {

namespace fs = std::filesystem;

// In a run that is recorded serially, threads that have no turn wait for a futex, too.
bool is_inside(const std::string& call) {
  if (call == "running") {
    return true;
  }
  for (const long each : {SYS_futex, SYS_nanosleep, SYS_clock_nanosleep, SYS_sched_yield}) {
    if (call == std::to_string(each)) {
      return true;
    }
  }
  return false;
}

// A line of /proc/PID/maps: "7f00-7f10 rw-s 00000000 08:01 123   /path".
bool is_shared_with_others(const std::string& line, const std::string& own) {
  std::istringstream words(line);
  std::string range, rights, offset, device, node, path;
  words >> range >> rights >> offset >> device >> node >> path;
  if (rights.size() < 4 || rights[3] != 's') {
    return false;
  }
  // Memory without a file is shared with children only, which controlled runs know of.
  return path.rfind(own, 0) != 0 && path.rfind("/dev/zero", 0) != 0;
}

}  // namespace

bool waits_for_itself_only(pid_t process, const std::string& own) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::error_code error;
  std::size_t threads = 0;
  for (fs::directory_iterator at(folder + "/task", error), end; !error && at != end; at.increment(error)) {
    std::ifstream file(at->path() / "syscall");
    std::string call;
    if (!(file >> call) || !is_inside(call)) {
      return false;
    }
    ++threads;
  }
  std::ifstream maps(folder + "/maps");
  bool any = false;
  for (std::string line; std::getline(maps, line); any = true) {
    if (is_shared_with_others(line, own)) {
      return false;
    }
  }
  return !error && threads > 0 && any;
}

HangWatch::HangWatch(HangWatchJob job, pid_t recorded, std::function<void()> found)
    : job_(std::move(job)), recorded_(recorded), found_(std::move(found)), thread_([this] { watch(); }) {}

HangWatch::~HangWatch() { stop(); }

bool HangWatch::stop() {
  {
    const std::lock_guard<std::mutex> guard(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
  return has_found_;
}

bool HangWatch::pause(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex_);
  return !stopped_.wait_for(lock, time, [this] { return stop_.load(); });
}

void HangWatch::watch() {
  for (std::chrono::milliseconds time = job_.after, before{0}; pause(time - before); before = time, time *= 2) {
    if (keeps_to_itself()) {
      // Who does not hang there may be slow: a second look would tell the same.
      if (hangs_again() && keeps_to_itself() && !stop_) {
        has_found_ = true;
        found_();
      }
      return;
    }
  }
}

bool HangWatch::keeps_to_itself() {
  constexpr int kLooks = 20;
  for (int i = 0; i < kLooks; ++i) {
    if (!waits_for_itself_only(recorded_, job_.directory) || !pause(std::chrono::milliseconds(20))) {
      return false;
    }
  }
  return true;
}

bool HangWatch::hangs_again() {
  constexpr std::chrono::milliseconds kLongest(10'000);  // most loops that count their rounds have given up by then
  const Result<std::string> path = find_program(job_.words.front());
  const Result<ControlledProgram> program = ControlledProgram::prepare(job_.words);
  if (!path.ok() || !program.ok() || !program->instrumented()) {
    return false;
  }
  std::optional<Isolation> isolation;
  if (!calls_that_reach_out(*path).empty()) {
    Result<Isolation> possible = Isolation::probe();
    if (!possible.ok()) {
      return false;
    }
    isolation = std::move(*possible);
  }
  RunPlan plan;
  plan.strategy = job_.strategy == "os" ? "random" : job_.strategy;
  plan.seed = job_.seed;
  ControlledRunOptions how;
  how.timeout = kLongest;
  how.max_output = 64 << 10;
  how.cancel = &stop_;
  how.input = job_.input;
  how.isolation = isolation ? &*isolation : nullptr;
  how.end_hangs = true;
  const Result<RunOutcome> ended = program->run(plan, how);
  if (!ended.ok() || ended->cancelled || ended->log.state != control::RunState::kHung) {
    return false;
  }
  how.end_hangs = false;
  const Result<RunOutcome> whole = program->run(plan, how);
  return whole.ok() && !whole->cancelled && whole->timed_out;
}

}  // namespace sooth
