// Signals with values that came while their handler could not run, in the order in which they came.
#pragma once

#include <signal.h>

#include "runtime/sys.h"

namespace sooth::rt {

// For one thread and the handlers that interrupt it: push() may interrupt pop(), and nothing else may interrupt either but
// what does not touch the queue. Memory of zeroes is an empty queue. Where a signal can be left blocked while one of it waits, the kernel has this queue; under Valgrind it
// cannot, because the mask that a handler leaves in its context is not taken.
class SignalQueue {
 public:
  // False: there is no memory, and the signal is lost.
  bool push(const siginfo_t& info) {
    if (last_ == nullptr || last_->end == kPlaces) {
      auto* added = static_cast<Chunk*>(map_memory(sizeof(Chunk)));
      if (added == nullptr) return false;
      (last_ == nullptr ? first_ : last_->next) = added;
      last_ = added;
    }
    last_->places[last_->end] = info;
    barrier();
    last_->end = last_->end + 1;
    return true;
  }

  // False: it is empty.
  bool pop(siginfo_t& info) {
    while (first_ != nullptr) {
      if (first_->begin < first_->end) {
        info = first_->places[first_->begin];
        first_->begin = first_->begin + 1;
        return true;
      }
      // The last one stays: a handler may be about to add to it.
      if (first_->next == nullptr) return false;
      Chunk* empty = first_;
      first_ = empty->next;
      unmap_memory(empty, sizeof *empty);
    }
    return false;
  }

  bool is_empty() const {
    for (const Chunk* chunk = first_; chunk != nullptr; chunk = chunk->next)
      if (chunk->begin < chunk->end) return false;
    return true;
  }

 private:
  static constexpr u32 kPlaces = 254;
  struct Chunk {
    Chunk* volatile next;
    volatile u32 begin, end;
    siginfo_t places[kPlaces];
  };
  static void barrier() { asm volatile("" ::: "memory"); }

  Chunk* volatile first_;
  Chunk* volatile last_;
};

}  // namespace sooth::rt
