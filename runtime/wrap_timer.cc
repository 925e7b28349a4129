// Timers and message queues that tell of something in a thread of their own (SIGEV_THREAD). libc starts it, for each
// notification anew; it comes behind whoever set the timer or asked to be told.
#include <mqueue.h>
#include <signal.h>
#include <time.h>

#include "runtime/control.h"
#include "runtime/intercept.h"
#include "runtime/recorder.h"
#include "runtime/stream_writer.h"
#include "runtime/sync.h"

using namespace sooth;
using namespace sooth::rt;

extern "C" void* __libc_malloc(std::size_t);

namespace {

// What is to be called, kept for ever: when the last thread has called it, only libc knows.
struct Notification {
  void (*function)(sigval);
  sigval value;
  uptr pc;  // of whoever asked for it
  u32 thread;
};

void notify(sigval value) {
  auto* notification = static_cast<Notification*>(value.sival_ptr);
  if (Thread* t = adopt_thread(notification->thread, notification->pc))
    write_event(t, notification->pc, Shape::of(Op::kHappensAfter), address_of(notification));
  notification->function(notification->value);
}

// Before the thread may start.
void asked(Thread* t, uptr pc, const Notification* notification) {
  write_event(t, pc, Shape::of(Op::kHappensBefore), address_of(notification));
  // When it comes, nobody here decides.
  if (recorder.controlled) controlled::log_external(t->id, sooth::control::External::kSignal);
}

// `event` with ours in the place of the program's function; nullptr: it is none for a thread, or there is no memory.
Notification* replace(const Thread* t, sigevent& event, uptr pc) {
  if (event.sigev_notify != SIGEV_THREAD || event.sigev_notify_function == nullptr) return nullptr;
  auto* notification = static_cast<Notification*>(__libc_malloc(sizeof(Notification)));
  if (notification == nullptr) return nullptr;
  *notification = {event.sigev_notify_function, event.sigev_value, pc, t->id};
  event.sigev_notify_function = notify;
  event.sigev_value.sival_ptr = notification;
  return notification;
}

// Which timer has which; of more than so many, setting one orders nothing.
struct Timer {
  timer_t id;
  Notification* notification;  // nullptr: free
};
constexpr int kTimers = 256;
Timer timers_[kTimers];
SpinLock timers_lock_;

void remember(timer_t id, Notification* notification) {
  SpinGuard guard(timers_lock_);
  for (Timer& timer : timers_) {
    if (timer.notification != nullptr && timer.id != id) continue;
    timer = {id, notification};
    return;
  }
}

Notification* notification_of(timer_t id) {
  SpinGuard guard(timers_lock_);
  for (const Timer& timer : timers_)
    if (timer.notification != nullptr && timer.id == id) return timer.notification;
  return nullptr;
}

void forget(timer_t id) {
  SpinGuard guard(timers_lock_);
  for (Timer& timer : timers_)
    if (timer.notification != nullptr && timer.id == id) timer.notification = nullptr;
}

}  // namespace

SOOTH_INTERCEPT(int, timer_create, clockid_t clock, sigevent* event, timer_t* to) {
  Thread* t = current();
  if (t == nullptr || event == nullptr) return real_timer_create(clock, event, to);
  sigevent ours = *event;
  Notification* notification = replace(t, ours, SOOTH_CALLER);
  if (notification != nullptr) asked(t, SOOTH_CALLER, notification);
  int result = real_timer_create(clock, &ours, to);
  if (result != 0) return result;
  if (notification != nullptr) remember(*to, notification);
  write_range(t, SOOTH_CALLER, Op::kWrite, address_of(to), sizeof *to);
  return result;
}
SOOTH_INTERCEPT(int, timer_settime, timer_t timer, int flags, const itimerspec* time, itimerspec* old) {
  Thread* t = current();
  Notification* notification = t != nullptr ? notification_of(timer) : nullptr;
  if (notification != nullptr) asked(t, SOOTH_CALLER, notification);
  int result = real_timer_settime(timer, flags, time, old);
  if (t != nullptr && result == 0 && old != nullptr)
    write_range(t, SOOTH_CALLER, Op::kWrite, address_of(old), sizeof *old);
  return result;
}
SOOTH_INTERCEPT(int, timer_delete, timer_t timer) {
  forget(timer);
  return real_timer_delete(timer);
}

SOOTH_INTERCEPT(int, mq_notify, mqd_t queue, const sigevent* event) {
  Thread* t = current();
  if (t == nullptr || event == nullptr) return real_mq_notify(queue, event);
  sigevent ours = *event;
  Notification* notification = replace(t, ours, SOOTH_CALLER);
  if (notification != nullptr) asked(t, SOOTH_CALLER, notification);
  return real_mq_notify(queue, &ours);
}
