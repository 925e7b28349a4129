#include "run/ended_hangs.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sooth {
namespace {

constexpr std::size_t kMostKinds = 3;  // each takes the time of a run that hangs

// Who called the functions that the threads are in. Where in them they are differs from run to run.
std::string functions_of(const RunOutcome& run) {
  std::vector<std::string> threads;
  for (const ProcessLog& process : run.log.processes) {
    for (const BlockedThread& thread : process.stopped) {
      std::string calls;
      for (std::size_t i = 1; i < thread.stack.size(); ++i) {
        calls += std::to_string(thread.stack[i].offset) + " ";
      }
      threads.push_back(std::move(calls));
    }
  }
  std::sort(threads.begin(), threads.end());
  std::string key;
  for (const std::string& thread : threads) {
    key += thread + "\n";
  }
  return key;
}

}  // namespace

bool EndedHangs::are_ended() {
  const std::lock_guard<std::mutex> guard(mutex_);
  return are_ended_;
}

Result<RunOutcome> EndedHangs::judge(RunOutcome ended, const std::function<Result<RunOutcome>(bool patiently)>& again) {
  const std::lock_guard<std::mutex> guard(mutex_);  // others that were ended meanwhile wait for the answer
  const auto [known, is_new] = hangs_.emplace(functions_of(ended), false);
  if (!is_new && known->second) {
    return ended;
  }
  Result<RunOutcome> whole = again(hangs_.size() == 1);
  known->second = whole.ok() && whole->timed_out;
  are_ended_ = are_ended_ && known->second && hangs_.size() <= kMostKinds;
  return known->second ? Result<RunOutcome>(std::move(ended)) : std::move(whole);
}

}  // namespace sooth
