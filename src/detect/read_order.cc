#include "detect/read_order.h"

namespace sooth {

void ReadOrder::read(ThreadId reader, ThreadId writer, Time epoch) {
  if (reader == writer || raw(writer) >= threads_.size()) {
    return;
  }
  Thread& own = of(reader);
  if (own.taken[writer] >= epoch) {
    return;
  }
  const Held* held = threads_[raw(writer)].held.at(epoch);
  if (held == nullptr || !locks_.table().protects(held->locks, locks_.of(reader))) {
    return;
  }
  VectorClock& clock = clocks_.of(reader);
  bool more = clock[writer] + 1 < epoch;
  if (more) {
    clock.set(writer, epoch - 1);
  }
  if (const Past* past = threads_[raw(writer)].pasts.at(epoch)) {
    own.taken.set(writer, epoch);
    more = more || !clock.covers(past->clock);
    clock.join(past->clock);
  }
  if (more) {
    clock_changed(reader);
  }
}

void ReadOrder::receive(ThreadId thread, const VectorClock& message) {
  VectorClock& clock = clocks_.of(thread);
  if (!clock.covers(message)) {
    clock.join(message);
    clock_changed(thread);
  }
}

void ReadOrder::restart(ThreadId thread) {
  locks_.restart(thread);
  locks_changed(thread);
}

void ReadOrder::rest(ThreadId thread) {
  clocks_.rest(thread);
  if (raw(thread) < threads_.size() && threads_.size() > kFewThreads) {
    threads_[raw(thread)] = {};
  }
}

// What the thread knows is the past of its next epoch, and its own component in that is the epoch before.
void ReadOrder::clock_changed(ThreadId thread) {
  Recent<Past>& pasts = of(thread).pasts;
  const std::size_t most = std::min(kMostPasts, kMostTimes / (threads_.size() * threads_.size()));
  if (most == 0) {
    pasts.clear();
  } else {
    const VectorClock& clock = clocks_.of(thread);
    Past& past = pasts.add(most);
    past.from = clock[thread] + 1;
    past.clock = clock;
  }
  clocks_.advance(thread);
}

void ReadOrder::locks_changed(ThreadId thread) {
  clocks_.advance(thread);
  Recent<Held>& held = of(thread).held;
  held.add(std::clamp(kMostHeldInAll / threads_.size(), kLeastHeld, kMostHeld)) = {clocks_.time(thread),
                                                                                   locks_.of(thread)};
}

}  // namespace sooth
