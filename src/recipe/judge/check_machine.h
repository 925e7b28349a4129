// All threads of a program and its memory, while a witness is acted out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "race/range_map.h"
#include "recipe/judge/concrete_memory.h"
#include "recipe/judge/concrete_thread.h"
#include "recipe/judge/recorded_run.h"
#include "recipe/witness/value_witness.h"

namespace sooth {

// Executes events in whatever order they come, as far as each is its thread's next: what it computes, not whether it
// may happen now (order, locks). Errors are sentences about the witness.
class CheckMachine {
 public:
  // `run` must outlive it.
  explicit CheckMachine(const RecordedRun& run);
  CheckMachine(const CheckMachine&) = delete;
  CheckMachine& operator=(const CheckMachine&) = delete;

  // How many events of the thread have happened.
  std::size_t done(std::uint32_t thread) const { return threads_[thread].position(); }

  // The event happens. `claimed`: what the witness says it reads.
  Status execute(std::uint32_t event, const std::optional<std::uint64_t>& claimed);
  // The thread gets to the event, which is an access or a free, and does not do it.
  Status arrive(std::uint32_t event);
  // The thread, which may leave its recorded path now, comes to its next event first.
  bool comes_to_event(std::uint32_t thread);
  // The thread goes on beside its recorded path up to the step, through others that the witness does not name.
  // What of the bytes that the step touches is the same variable for everybody; for locks none.
  using Touched = std::vector<Stretch>;
  Result<Touched> arrive(const DetourEvent& step);
  // It makes that step; not for locks, for which finish_lock().
  Status execute(const DetourEvent& step, const Touched& touched);
  void finish_lock(std::uint32_t thread) { threads_[thread].finish(); }
  // The next step that arrive() would have to go through first is one of a lock: nothing when it is not.
  const llvm::Instruction* left_at(std::uint32_t thread) const { return threads_[thread].left_at(); }

 private:
  static constexpr std::uint32_t kDetourWrite = std::numeric_limits<std::uint32_t>::max() - 1;  // no event

  struct ReadBack {
    ConcreteBytes bytes;
    std::vector<bool> differs;  // by byte: it is, or may be, not what the event read in the recorded run
    bool as_recorded = true;
  };
  struct Placed {
    std::uint64_t moved = 0;
    bool several = false;
    std::uint64_t begin = 0;  // of the block
    std::uint64_t last = 0;
  };

  Status execute_code(std::uint32_t event, ConcreteThread& thread, const std::optional<std::uint64_t>& claimed);
  Status execute_foreign(std::uint32_t event);
  Status fits(std::uint32_t event, const ConcreteStep& step, ConcreteThread& thread);
  Result<ReadBack> read(std::uint32_t event, const std::optional<ConcreteBytes>& told, bool foreign);
  Status check_claim(std::uint32_t event, const ReadBack& got, std::uint64_t claimed) const;
  void write(std::uint32_t event, const ConcreteBytes& bytes, const std::vector<bool>& changed);
  void note_alloc(std::uint32_t event);
  Status check_calls(std::uint32_t event);
  std::string visible_change(std::uint32_t thread, const std::vector<std::uint64_t>& pointers) const;
  Result<Touched> resolve(std::uint64_t address, std::uint64_t size, const llvm::Instruction& at) const;
  ConcreteBytes peek(std::span<const Stretch> stretches) const;
  Status step_beside(std::uint32_t thread, const ConcreteStep& step, const Touched& touched, Op done);
  Status cannot(std::uint32_t event, const std::string& why) const;
  std::uint32_t writer(const MemoryCell& cell) const {
    return cell.when == 0 ? Seen::kNobody : writers_[cell.when - 1];
  }

  const RecordedRun& run_;
  ConcreteOps ops_;
  ConcreteMemory memory_;
  std::vector<ConcreteThread> threads_;
  std::vector<std::vector<bool>> copied_;  // by thread: of what its copy has read, which bytes differ
  std::vector<std::uint32_t> writers_;     // the event of each write that happened
  RangeMap<Placed> allocated_;             // by address: where the block is that was allocated there
  // By address, the bytes that were written otherwise than in the recorded run, and what byte of a stretch that is.
  std::map<std::uint64_t, std::pair<bool, std::uint64_t>> changed_;
  struct OpenCall {
    std::uint32_t thread;
    std::uint64_t object;
    std::uint32_t begin;  // event
  };
  std::vector<OpenCall> open_calls_;  // of those that reach something
};

}  // namespace sooth
