// Threads of the recorded run that the end of the process cut off.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/batch_outline.h"
#include "trace/tables.h"

namespace sooth {

// Fed with every event of a trace, in order. Speaks of traces only that tell when threads begin and end, as recordings
// do.
class ThreadEnds {
 public:
  void consume(const Batch& batch) { consume(batch, BatchOutline(batch)); }
  void consume(const Batch& batch, const BatchOutline& outline);
  // One sentence for the threads that were created and never ran, one for those that ran and had not ended; none when
  // there are none. Threads of OpenMP that wait for the next parallel region have nothing left to do.
  std::vector<std::string> sentences(const Tables& tables) const;

 private:
  enum class Stage : std::uint8_t { kUnknown, kCreated, kBegun, kIdle, kEnded };
  void consume(const Event& event);
  Stage stage(std::uint64_t thread) const;
  void enter(std::uint64_t thread, Stage stage);

  bool tells_begins_ = false;
  std::vector<Stage> stages_;  // by thread
  std::uint32_t idle_ = 0;     // that are kIdle
};

}  // namespace sooth
