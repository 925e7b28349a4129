// Who is woken at which point of a witness: point 4 of docs/semantics.md section 7, without any code of the analyses.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_set>
#include <vector>

#include "trace/event.h"

namespace sooth {

// A sequence of events so far: a trace, or a witness of it. Taking the earliest notify that will do never takes one that
// a later wait cannot do without, so whoever finds none has none.
class WitnessConditions {
 public:
  // A release or a notify has happened; nothing of others.
  void pass(const Event& e);
  // Whether the wait, which was woken, finds a notify since it began. Takes it.
  bool take(const Event& wait);

 private:
  struct Notify {
    std::uint64_t time;
    bool everybody;
    bool taken = false;
  };

  std::uint64_t time_ = 0;  // of the latest release or notify, from 1
  std::map<ThreadId, std::uint64_t> begins_;
  std::map<std::uint64_t, std::vector<Notify>> notifies_;  // by condition variable
};

// The waits of a trace, or of its prefix, that took a notify there: they need one.
std::unordered_set<std::uint32_t> explained_waits(std::span<const Event> trace);

}  // namespace sooth
