// The teams of a league as GCC compiles them. libgomp runs them one after the other, in the thread that came by; the
// specification orders nothing between them. So each is a thread of its own to the analyses, as tasks are, and what comes
// behind the league is ordered behind all of them.
#include "runtime/fibers.h"
#include "runtime/intercept.h"
#include "runtime/openmp.h"

using namespace sooth;
using namespace sooth::rt;
using namespace sooth::rt::openmp;

namespace {

using Body = void (*)(void*);

class League {
 public:
  // `below`: teams have what is below that on the stack for themselves.
  void begin_team(Thread* t, uptr at, uptr below) {
    begin_operation(t, at);
    runner_ = current_fiber(t);
    team_ = create_fiber(t, at);
    switch_to_fiber(t, at, team_, false);
    renew_own_memory(t, at, below);
  }
  void end_team(Thread* t, uptr at, uptr below) {
    if (team_ == nullptr) return;
    begin_operation(t, at);
    before(t, at, done_);
    switch_to_fiber(t, at, runner_, false);
    destroy_fiber(t, at, team_);
    team_ = nullptr;
    renew_own_memory(t, at, below);
  }
  void is_over(Thread* t, uptr at) { after(t, at, done_); }

  Body body = nullptr;
  void* data = nullptr;
  uptr pc = 0;
  uptr top = 0;

 private:
  const u64 done_ = new_message();
  Fiber* runner_ = nullptr;
  Fiber* team_ = nullptr;  // nullptr: none runs
};

// Of the target region that the thread is in.
__thread League* league_ __attribute__((tls_model("initial-exec"))) = nullptr;

void run_team(void* p) {
  auto* league = static_cast<League*>(p);
  const uptr top = of(__builtin_frame_address(0));
  if (Thread* t = current()) league->begin_team(t, league->pc, top);
  league->body(league->data);
  if (Thread* t = current()) league->end_team(t, league->pc, top);
}

}  // namespace

// On the host: calls the body once for each team.
SOOTH_INTERCEPT(void, GOMP_teams_reg, Body body, void* data, unsigned teams, unsigned limit, unsigned flags) {
  Thread* t = current_in_libgomp();
  if (t == nullptr) return real_GOMP_teams_reg(body, data, teams, limit, flags);
  League league;
  league.body = body;
  league.data = data;
  league.pc = SOOTH_CALLER;
  real_GOMP_teams_reg(run_team, &league, teams, limit, flags);
  if ((t = current()) != nullptr) league.is_over(t, SOOTH_CALLER);
}

// In a target region that runs on the host: the region calls this in front of each team, until it says that there is no
// other. The teams have the region's own variables for themselves, which are in between on the stack.
SOOTH_INTERCEPT(void, GOMP_target_ext, int device, Body body, uptr count, void** addresses, uptr* sizes,
                unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
  League league;
  league.top = of(__builtin_frame_address(0));
  League* outer = league_;
  league_ = &league;
  real_GOMP_target_ext(device, body, count, addresses, sizes, kinds, flags, depend, arguments);
  league_ = outer;
}
SOOTH_INTERCEPT(bool, GOMP_teams4, unsigned least, unsigned most, unsigned limit, bool first) {
  const bool another = real_GOMP_teams4(least, most, limit, first);
  Thread* t = current_in_libgomp();
  if (t == nullptr || league_ == nullptr) return another;
  league_->end_team(t, SOOTH_CALLER, league_->top);
  if (another)
    league_->begin_team(t, SOOTH_CALLER, league_->top);
  else
    league_->is_over(t, SOOTH_CALLER);
  return another;
}
