// What a thread would find in memory if others had come earlier or later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "recipe/execute/thread_executor.h"

namespace sooth {

// A byte that somebody has written.
struct WrittenByte {
  bool is = false;
  std::optional<std::uint8_t> byte;  // nothing: not known
  EventIndex event = kNoEvent;       // that has written it; kNoEvent: none of the trace
};

// The threads but one have made their recorded events in front of a *cut* and what that one cannot begin without, and
// nothing else, when that one begins; and it runs without being interrupted. That is a guess at an order in which it leaves its recorded path, consistent in
// itself; whether it is one that can be is up to those who ask for witnesses.
//
// With an overlay, another thread has run like that before and has left its path; then comes this one, which had made
// its own events in front of the cut, too.
class View {
 public:
  // All must outlive it.
  View(const SharedExecution& execution, std::uint32_t thread, EventIndex cut)
      : sharing_(&execution.sharing), options_(&execution.options), thread_(thread), cut_(cut) {}
  View(const SharedExecution& execution, std::uint32_t thread, std::shared_ptr<const Overlay> overlay);

  EventIndex cut() const { return cut_; }

  // The thread reads so many bytes, at most 8, when `before` is its next event.
  std::optional<std::uint64_t> value(std::uint64_t address, std::uint32_t size, EventIndex before) const;
  std::optional<std::uint8_t> byte(std::uint64_t address, EventIndex before) const;
  // Whether it makes this event of its own as it did in the recorded run, because it did so before the others went on.
  bool is_settled(EventIndex own) const { return overlay_ != nullptr && own < cut_; }
  // Whether somebody has written there who has left its path.
  bool is_overlaid(std::uint64_t address, std::uint64_t size) const;

  // The thread has read a variable, and finds this; has written a byte with that event.
  void saw(std::uint32_t variable, std::uint64_t value) { other_.emplace_back(variable, value); }
  void wrote(EventIndex e, std::uint64_t address, std::optional<std::uint8_t> byte) { own_[address] = {true, byte, e}; }

  // Variables that have other values than in the recorded run.
  const std::vector<std::pair<std::uint32_t, std::uint64_t>>& other() const { return other_; }

 private:
  const Sharing* sharing_;
  const ExecuteOptions* options_;
  std::uint32_t thread_;
  EventIndex cut_;
  std::shared_ptr<const Overlay> overlay_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> other_;
  FlatMap<WrittenByte> own_;  // by address: what the thread has written on its recorded path, to memory that others use
};

// What memory is like when a thread has left its recorded path in a view, and has come so far beside it.
struct Overlay {
  std::uint32_t thread = 0;
  View view;                     // of what it has not written since
  EventIndex before = kNoEvent;  // its next event, where it has left the path
  FlatMap<WrittenByte> written;  // by address: what it has written since
};

// Where it makes a difference for the thread how far others have come: behind what they do in a critical section, and
// behind what they do to atomics.
std::vector<EventIndex> find_cuts(const SharedExecution& execution, std::uint32_t thread);
// Ways of others that it may make a difference for.
std::vector<std::shared_ptr<const Overlay>> choose_overlays(const SharedExecution& execution, std::uint32_t thread);

}  // namespace sooth
