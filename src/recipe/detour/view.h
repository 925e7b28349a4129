// What a thread would find in memory if others had come earlier or later.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"
#include "recipe/execute/thread_executor.h"

namespace sooth {

// The threads but one have made their recorded events in front of a *cut* and nothing else when that one begins, and it
// runs without being interrupted. That is a guess at an order in which it leaves its recorded path, consistent in
// itself; whether it is one that can be is up to those who ask for witnesses.
class View {
 public:
  // All must outlive it.
  View(const SharedExecution& execution, std::uint32_t thread, EventIndex cut)
      : x_(&execution), thread_(thread), cut_(cut) {}

  EventIndex cut() const { return cut_; }

  // The thread reads so many bytes, at most 8, when `before` is its next event.
  std::optional<std::uint64_t> value(std::uint64_t address, std::uint32_t size, EventIndex before) const;
  std::optional<std::uint8_t> byte(std::uint64_t address, EventIndex before) const;

  // The thread has read a variable, and finds this; has written these bytes.
  void saw(std::uint32_t variable, std::uint64_t value) { other_.emplace_back(variable, value); }
  void wrote(std::uint64_t address, std::optional<std::uint8_t> byte) { own_[address] = {true, byte}; }

  // Variables that have other values than in the recorded run.
  const std::vector<std::pair<std::uint32_t, std::uint64_t>>& other() const { return other_; }

 private:
  struct Own {
    bool is = false;
    std::optional<std::uint8_t> byte;  // nothing: not known
  };

  const SharedExecution* x_;
  std::uint32_t thread_;
  EventIndex cut_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> other_;
  FlatMap<Own> own_;  // by address: what the thread has written on its recorded path, to memory that others use
};

// Where it makes a difference for the thread how far others have come: behind what they do in a critical section, and
// behind what they do to atomics.
std::vector<EventIndex> find_cuts(const SharedExecution& execution, std::uint32_t thread);

}  // namespace sooth
