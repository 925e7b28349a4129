// What happens when the recorded run is executed again and leaves no event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "recipe/judge/concrete_value.h"
#include "trace/event.h"

namespace llvm {
class CallBase;
}

namespace sooth {

// Told by RecordedRun, in the order of the events: what a thread does between two of its events is told when it comes
// to the second.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  // Where a thread is: so many of its events and deep records are behind it.
  struct Position {
    std::uint32_t thread = 0;
    std::size_t events = 0;
    std::size_t records = 0;
  };

  // A local variable, or one of the thread, is at this address from here on.
  virtual void variable(std::uint64_t address, std::uint64_t size) = 0;
  // A call of code that is not executed begins; `words` are what it gets, as far as they are whole words and known. Not
  // of functions that look at no memory of the program but in events.
  virtual void call_begins(const Position& at, std::size_t depth, const llvm::CallBase& call,
                           std::span<const std::uint64_t> words) = 0;
  // The thread is back, by its latest record: its calls of this depth and more are over.
  virtual void calls_end(const Position& at, std::size_t depth) = 0;

  // The event is next.
  virtual void happens(std::uint32_t event) = 0;
  // From here on memory contains this; bits may be unknown.
  virtual void contains(std::uint64_t address, std::span<const ConcreteByte> bytes) = 0;
  virtual void contains_something(std::uint64_t address, std::uint64_t size) = 0;
};

}  // namespace sooth
