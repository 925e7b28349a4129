// In front of an access at a site of the pair: RaceFuzzer's rule (schedule/directed.h), carried out.
#include <signal.h>

#include "runtime/intercept.h"
#include "runtime/turn.h"
#include "runtime/turn_state.h"

// For the script that `sooth replay --gdb` gives to gdb: the thread that stopped and one that it meets, by our numbers,
// how many threads follow, and of each our number and the kernel's.
struct DebuggedThreads {
  static constexpr sooth::rt::u32 kMost = 1024;
  sooth::rt::u32 here, other, count;
  sooth::rt::u32 threads[kMost][2];
};
SOOTH_EXPORT DebuggedThreads __sooth_debugged;
DebuggedThreads __sooth_debugged;

namespace sooth::rt::turn {

using sooth::control::RecordKind;
using sooth::control::StretchEnd;

namespace {

void log_race(Node* n, const SiteAccess& access, Approach approach) {
  controlled::log_race(n->id, access, RecordKind::kRace, approach == Approach::kGoesFirst);
  for (Node* other = postponed_.first(); other != nullptr; other = other->next) {
    if (are_racing(access, other->access) || are_meeting(access, other->access))
      controlled::log_race(other->id, other->access, RecordKind::kRaceWith, approach == Approach::kGoesSecond);
  }
}

// Those that meet the access do theirs, before anybody else does anything.
void release_racing(const SiteAccess& access) {
  for (Node* n = postponed_.first(); n != nullptr;) {
    Node* next = n->next;
    if (are_racing(access, n->access) || are_meeting(access, n->access)) {
      postponed_.remove(n);
      n->is_urgent = true;
      make_ready(n);
    }
    n = next;
  }
}

void tell_debugger(const Node* n) {
  DebuggedThreads& d = __sooth_debugged;
  if (d.count == DebuggedThreads::kMost) return;
  d.threads[d.count][0] = n->id;
  d.threads[d.count++][1] = n->system_id;
}

// For a debugger: this thread and those it meets stand in front of their accesses.
void stop_at_race(Thread* t, const SiteAccess& access) {
  char line[512];
  char* end = line + sizeof line;
  char* p = append_number(append_text(line, end, "race: thread "), end, node_of(t)->id);
  for (Node* n = postponed_.first(); n != nullptr; n = n->next)
    if (are_racing(access, n->access)) p = append_number(append_text(p, end, " meets thread "), end, n->id);
  append_text(p, end, "; stopped in front of both accesses");
  warn(line);
  DebuggedThreads& d = __sooth_debugged;
  d.here = d.other = node_of(t)->id;
  d.count = 0;
  tell_debugger(node_of(t));
  for (Queue* queue : {&postponed_, &ready_, &blocked_})
    for (Node* n = queue->first(); n != nullptr; n = n->next)
      if (n != node_of(t)) tell_debugger(n);
  for (Node* n = postponed_.first(); n != nullptr; n = n->next)
    if (are_racing(access, n->access)) d.other = n->id;
  sys_call(SYS_tgkill, sys_call(SYS_getpid), sys_call(SYS_gettid), SIGTRAP);
}

}  // namespace

void approach(Thread* t, const SiteAccess& access) {
  if (nodes_ == 1) return;  // programs initialise at the sites of a pair, too
  bool is_acquire = (access.kinds & (sooth::control::kReads | sooth::control::kWrites)) == 0;
  Approach approach = Approach::kPass;
  for (bool asked = false; !asked;) {
    hold(t);
    Locked locked(t);
    asked = holder_ == node_of(t);  // else it was taken away just now
    if (!asked || !is_directed(t)) continue;
    approach = decide_approach(t, access);
    bool meets = approach == Approach::kGoesFirst || approach == Approach::kGoesSecond;
    if (meets) log_race(node_of(t), access, approach);
  }
  if (approach == Approach::kPass) return;
  if (approach != Approach::kPostpone && !is_acquire && controlled::has_flag(sooth::control::kStopAtRace))
    stop_at_race(t, access);
  if (approach == Approach::kGoesFirst) return;
  const u32* word = nullptr;
  {
    Locked locked(t);
    Node* n = node_of(t);
    if (approach == Approach::kGoesSecond) release_racing(access);
    n->access = access;
    begin_postponement(n);
    give_up(t);
    set_state(n, State::kPostponed);
    postponed_.push_back(n);
    wake_monitor();
    word = pass_on(n, StretchEnd::kPostponed);
  }
  wake_up(word);
  await_turn(t);
}

}  // namespace sooth::rt::turn
