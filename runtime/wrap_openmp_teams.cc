// The teams of a league as GCC compiles them. libgomp runs them one after the other, in the thread that came by; the
// specification orders nothing between them. So each is a thread of its own to the analyses, as tasks are, and what comes
// behind the league is ordered behind all of them. Target regions that run on the host, with `nowait` as tasks.
#include "runtime/fibers.h"
#include "runtime/intercept.h"
#include "runtime/openmp.h"

using namespace sooth;
using namespace sooth::rt;
using namespace sooth::rt::openmp;

extern "C" __attribute__((weak)) int omp_get_num_devices();

SOOTH_REAL static Real<void(void**)> real_GOMP_taskwait_depend{"GOMP_taskwait_depend"};

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

namespace {

// Of libgomp's interface.
constexpr unsigned kNoWait = 1 << 0;
constexpr unsigned short kPassedAsItIs = 0xd;

// A target region that need not be done when its construct is. libgomp makes a task of its own of it, which hands the
// region nothing but copies of the addresses: in front of them is that of this.
struct Target {
  Body body;
  Team* team;
  Fiber* fiber;
  u64 message, parent, group;
  uptr pc;
  std::size_t bytes;  // of this and its places
  u32 dependences;

  Dependence* places() { return reinterpret_cast<Dependence*>(this + 1); }
  Order order() { return {parent, group, team, pc, dependences, places()}; }
};

// Code of a target region, on the host: its thread is in no region then, and the teams have what is below on the stack.
class InTarget {
 public:
  explicit InTarget(Context* context) : outer_league_(league_), outer_team_(team_), outer_(context_) {
    league_ = &own_;
    team_ = nullptr;
    context_ = context;
    own_.top = of(__builtin_frame_address(0));
  }
  ~InTarget() {
    league_ = outer_league_;
    team_ = outer_team_;
    context_ = outer_;
  }
  InTarget(const InTarget&) = delete;
  InTarget& operator=(const InTarget&) = delete;

 private:
  League own_;
  League* outer_league_;
  Team* outer_team_;
  Context* outer_;
};

void run_target(void* p) {
  auto** addresses = static_cast<void**>(p);
  auto* target = static_cast<Target*>(addresses[0]);
  Thread* t = current();
  Inside inside(t);
  const uptr top = of(__builtin_frame_address(0));
  Fiber* before_it = nullptr;
  if (t != nullptr) {
    before_it = current_fiber(t);
    switch_to_fiber(t, target->pc, target->fiber, false);
    renew_own_memory(t, target->pc, top);
    after(t, target->pc, target->message);
    receive(t, target->order());
    exclude(t, target->order());
  }
  {
    Context context{};
    context.children = new_message();
    InTarget in(&context);
    target->body(addresses + 1);
  }
  if (before_it != nullptr && (t = current()) != nullptr) {
    include(t, target->order());
    tell_done(t, target->order());
    switch_to_fiber(t, target->pc, before_it, false);
    destroy_fiber(t, target->pc, target->fiber);
    renew_own_memory(t, target->pc, top);
  }
  unmap_memory(target, target->bytes);
}

// Outside of all regions there are tasks, too, if they are target regions.
Context* context_of_maker() {
  if (context_ == nullptr) {
    context_ = static_cast<Context*>(map_memory(sizeof(Context)));
    if (context_ != nullptr) context_->children = new_message();
  }
  return context_;
}

Target* make_target(Thread* t, uptr pc, Body body, void** depend) {
  Context* maker = context_of_maker();
  const u32 dependences = count_dependences(depend);
  const std::size_t bytes = sizeof(Target) + dependences * sizeof(Dependence);
  auto* target = maker == nullptr ? nullptr : static_cast<Target*>(map_memory(bytes));
  if (target == nullptr) fatal("out of memory for another target region");
  *target = {body, team_, create_fiber(t, pc), new_message(), maker->children, maker->group, pc, bytes, dependences};
  for (u32 i = 0; i < dependences; ++i) target->places()[i] = dependence(depend, i);
  before(t, pc, target->message);
  return target;
}

// Whether the region becomes a task, and we can tell which one. On a device it runs code that is not here.
bool is_task(const Thread* t, unsigned flags) {
  return t != nullptr && (flags & kNoWait) != 0 && (context_ == nullptr || !context_->final) &&
         omp_get_num_devices != nullptr && omp_get_num_devices() == 0;
}

constexpr uptr kMostAddresses = 1 << 12;

}  // namespace

SOOTH_INTERCEPT(void, GOMP_target_ext, int device, Body body, uptr count, void** addresses, uptr* sizes,
                unsigned short* kinds, unsigned flags, void** depend, void** arguments) {
  Thread* t = current_in_libgomp();
  const uptr pc = SOOTH_CALLER;
  if (is_task(t, flags) && count < kMostAddresses) {
    auto** more = static_cast<void**>(__builtin_alloca((count + 1) * sizeof(void*)));
    auto* more_sizes = static_cast<uptr*>(__builtin_alloca((count + 1) * sizeof(uptr)));
    auto* more_kinds = static_cast<unsigned short*>(__builtin_alloca((count + 1) * sizeof(unsigned short)));
    more[0] = make_target(t, pc, body, depend);
    more_sizes[0] = 0;
    more_kinds[0] = kPassedAsItIs;
    copy_memory(more + 1, addresses, count * sizeof *more);
    copy_memory(more_sizes + 1, sizes, count * sizeof *more_sizes);
    copy_memory(more_kinds + 1, kinds, count * sizeof *more_kinds);
    real_GOMP_target_ext(device, run_target, count + 1, more, more_sizes, more_kinds, flags, depend, arguments);
    return;
  }
  if (t != nullptr && context_ != nullptr && depend != nullptr) {
    // It waits, and goes on in this thread.
    call_waiting(t, pc, [&] { real_GOMP_taskwait_depend(depend); });
    receive_all(t, pc, depend);
  }
  Context context{};
  context.children = new_message();
  InTarget in(&context);
  real_GOMP_target_ext(device, body, count, addresses, sizes, kinds, flags, depend, arguments);
}

// Nothing is copied on the host, but these wait for what they depend on.
#define SOOTH_TARGET_DATA(name)                                                                                 \
  SOOTH_INTERCEPT(void, name, int device, uptr count, void** addresses, uptr* sizes, unsigned short* kinds,     \
                  unsigned flags, void** depend) {                                                              \
    Thread* t = current_in_libgomp();                                                                           \
    call_waiting(t, SOOTH_CALLER, [&] { real_##name(device, count, addresses, sizes, kinds, flags, depend); }); \
    if (t != nullptr && context_ != nullptr && (flags & kNoWait) == 0) receive_all(t, SOOTH_CALLER, depend);    \
  }
SOOTH_TARGET_DATA(GOMP_target_update_ext)
SOOTH_TARGET_DATA(GOMP_target_enter_exit_data)

// In a target region that runs on the host: the region calls this in front of each team, until it says that there is no
// other. The teams have the region's own variables for themselves, which are in between on the stack.
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
