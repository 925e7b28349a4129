#include "oracle/well_formed.h"

#include <map>
#include <set>

namespace sooth::oracle {
namespace {

struct Hold {
  int depth = 0;
  bool exclusive = true;
};

class Checker {
 public:
  // nullptr when the event may stand here.
  const char* step(const Event& e) {
    if (finished_.contains(raw(e.thread))) {
      return "its thread has ended or was joined";
    }
    if (e.op == Op::kBegin && started_.contains(raw(e.thread))) {
      return "begin is not the first event of its thread";
    }
    started_.insert(raw(e.thread));
    if (const char* why = check_shape(e)) {
      return why;
    }
    return check_op(e);
  }

 private:
  static const char* check_shape(const Event& e) {
    const bool block = e.op == Op::kAlloc || e.op == Op::kFree;
    if (e.op == Op::kMisuse) {
      return is_misuse_kind(e.size) ? nullptr : "there is no such misuse";
    }
    if ((is_access(e.op) || block) != (e.size > 0)) {
      return "only accesses and blocks have bytes, and they have some";
    }
    if (e.object + e.size < e.object) {
      return "it wraps around the address space";
    }
    const bool ordered = is_atomic(e.op) || e.op == Op::kFence;
    return ordered == (e.order != MemoryOrder::kNotAtomic) ? nullptr : "memory orders stand on atomics and fences";
  }

  const char* check_op(const Event& e) {
    switch (e.op) {
      case Op::kAcquire: return acquire(e);
      case Op::kRelease: return release(e);
      case Op::kFork:
        return started_.contains(e.object) || !forked_.insert(e.object).second ? "the thread already exists" : nullptr;
      case Op::kJoin: finished_.insert(e.object); return e.object == raw(e.thread) ? "a thread joins itself" : nullptr;
      case Op::kEnd: finished_.insert(raw(e.thread)); return nullptr;
      case Op::kCallBegin: ++calls_[{raw(e.thread), e.object}]; return nullptr;
      case Op::kCallEnd: return --calls_[{raw(e.thread), e.object}] < 0 ? "the call has not begun" : nullptr;
      case Op::kRead:
      case Op::kWrite:
      case Op::kAtomicLoad:
      case Op::kAtomicStore:
      case Op::kAtomicRmw:
      case Op::kFence:
      case Op::kNotify:
      case Op::kWait:
      case Op::kBarrierArrive:
      case Op::kBarrierLeave:
      case Op::kSemPost:
      case Op::kSemWait:
      case Op::kBegin:
      case Op::kAlloc:
      case Op::kFree:
      case Op::kHappensBefore:
      case Op::kHappensAfter:
      case Op::kEnter:
      case Op::kExit:
      case Op::kMisuse:
      case Op::kCondNotify:
      case Op::kCondWait:
      case Op::kAcquireFailed: return nullptr;
    }
    return "unknown operation";
  }

  const char* acquire(const Event& e) {
    std::map<std::uint64_t, Hold>& holders = locks_[e.object];
    for (const auto& [thread, hold] : holders) {
      if (thread != raw(e.thread) && (hold.exclusive || !is_shared(e))) {
        return "another thread holds the lock";
      }
    }
    const auto [own, outermost] = holders.try_emplace(raw(e.thread), Hold{0, !is_shared(e)});
    if (!own->second.exclusive && !is_shared(e)) {
      return "it upgrades from shared to exclusive";
    }
    ++own->second.depth;
    return nullptr;
  }

  const char* release(const Event& e) {
    std::map<std::uint64_t, Hold>& holders = locks_[e.object];
    const auto own = holders.find(raw(e.thread));
    if (own == holders.end()) {
      return "its thread does not hold the lock";
    }
    if (own->second.depth == 1 && own->second.exclusive == is_shared(e)) {
      return "the last release has another mode than the first acquire";
    }
    if (--own->second.depth == 0) {
      holders.erase(own);
    }
    return nullptr;
  }

  std::set<std::uint64_t> started_, forked_, finished_;
  std::map<std::uint64_t, std::map<std::uint64_t, Hold>> locks_;  // by lock, by thread
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> calls_;  // by thread and call
};

}  // namespace

std::string why_malformed(std::span<const Event> trace) {
  Checker checker;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (const char* why = checker.step(trace[i])) {
      return "event " + std::to_string(i) + ": " + why;
    }
  }
  return "";
}

}  // namespace sooth::oracle
