// The recorded run, executed once more by the judge: what it must know to tell whether another order of events is a run
// of the program.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "deep/program.h"
#include "race/witness.h"
#include "race/witness_calls.h"
#include "race/witness_memory.h"
#include "recipe/judge/concrete_memory.h"
#include "recipe/judge/concrete_thread.h"

namespace sooth {

// Read-only once made; the program and what the view shows must outlive it. The trace is well-formed and of less than
// 2^32 - 1 events. Time and memory are linear in the events, the instructions executed and the bytes touched.
class RecordedRun {
 public:
  // `observer` is told of it while it is executed.
  RecordedRun(const DeepProgram& program, const TraceView& trace, RunObserver* observer = nullptr);

  const DeepProgram& program() const { return program_; }
  const TraceView& trace() const { return trace_; }
  std::span<const ThreadTape> tapes() const { return tapes_; }
  const FirstContents& first_contents() const { return first_; }

  // How many events of a thread its code explains; what follows can only be taken as recorded. `why` is empty when it
  // is all of them.
  struct Extent {
    std::size_t events = 0;
    std::string why;
  };
  const Extent& extent(std::uint32_t thread) const { return extents_[thread]; }
  CallLog& log(std::uint32_t thread) const { return logs_[thread]; }

  // The bytes that an access, alloc or free touches.
  std::span<const Stretch> stretches(std::uint32_t event) const {
    return std::span(stretches_).subspan(first_stretch_[event], first_stretch_[event + 1] - first_stretch_[event]);
  }
  // What the trace says the event has read or written: as many bytes as it touches, or none.
  std::optional<ConcreteBytes> recorded(std::uint32_t event) const;
  // Bytes (bit i for byte i, bit 15 also for those behind it) in which a read found something else than the last write
  // left there: code that is not recorded has written in between.
  std::uint16_t surprises(std::uint32_t event) const {
    const std::uint16_t* found = surprises_.find(event);
    return found != nullptr ? *found : 0;
  }
  // Of reads with surprises or without a recorded value: who had written what they read. Others have none.
  std::span<const Seen> seen(std::uint32_t event) const;

  // Whether a call of the trace that was not recorded may have touched one of the bytes.
  bool is_reached(std::uint64_t address, std::uint64_t size) const { return calls_.reaches(address, size); }

  // Whether no other thread touches the 8 bytes around a byte of a stretch.
  bool is_private(std::uint32_t thread, bool allocated, std::uint64_t address) const {
    const std::uint32_t* user = users_[allocated ? 1 : 0].find(address / 8);
    return user == nullptr || *user == thread + 1;
  }

 private:
  static constexpr std::uint32_t kManyUsers = std::numeric_limits<std::uint32_t>::max();

  struct Runs {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void note_user(std::uint32_t event);
  void execute(std::uint32_t event);
  void execute_code(std::uint32_t event, ConcreteThread& thread);
  void stop(std::uint32_t thread, std::size_t events, std::string why);
  std::string mismatch(const Event& e, const ConcreteStep& step) const;
  ConcreteBytes read(std::uint32_t event, const std::optional<ConcreteBytes>& told);
  void write(std::uint32_t event, const std::optional<ConcreteBytes>& computed);

  const DeepProgram& program_;
  const TraceView trace_;
  std::vector<ThreadTape> tapes_;
  CallEdges calls_;
  FirstContents first_;
  std::vector<Stretch> stretches_;
  std::vector<std::size_t> first_stretch_;  // by event, and one more
  std::vector<Extent> extents_;             // by thread
  mutable std::vector<CallLog> logs_;       // by thread; not changed any more once made
  FlatMap<std::uint16_t> surprises_;
  FlatMap<Runs> runs_;
  std::array<FlatMap<std::uint32_t>, 2> users_;  // of 8 bytes: thread + 1, or kManyUsers
  std::vector<Seen> seen_;

  // While it is being made.
  struct Making;
  Making* making_ = nullptr;
  RunObserver* observer_ = nullptr;
};

}  // namespace sooth
