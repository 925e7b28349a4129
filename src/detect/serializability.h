// Whether what a trace does is what it would do with every block in one go, in one pass (Mathur, Viswanathan: Atomicity
// Checking in Linear Time using Vector Clocks, ASPLOS 2020, AeroDrome). docs/semantics.md, section 17.
//
// A thread's clock grows when a block of it begins. A block is violated as soon as its thread learns of the beginning of
// that same block from somebody else. When a block ends, everybody who knows its beginning learns all that it knows by
// then: the paper's Algorithm 1, lines 30 to 41. To find them without looking at everything, an open block keeps a list
// of those that took up a clock which knows it.
//
// Nothing is kept before the first block begins: who has not heard of one is on no cycle.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "order/shadow_memory.h"
#include "order/vector_clock.h"
#include "race/atomicity.h"
#include "trace/event.h"

namespace sooth {

class Serializability {
 public:
  using Report = std::function<void(const AtomicityCandidate&)>;
  // `report` is called for each violated block that is found, once.
  explicit Serializability(Report report) : report_(std::move(report)), memory_(*this) {}

  // In trace order. `is_block`: of a kEnter or kExit, whether the function is meant to be atomic.
  void consume(const AccessRecord& record, bool is_block);
  // The trace is over, and with it all blocks.
  void finish();
  // The number of the block that the thread is in, from 1 on; 0: in none.
  std::uint64_t block_of(ThreadId thread) const;

  // ShadowMemory's host.
  void on_new_cell(CellId cell);
  void on_split_cell(CellId from, CellId to);
  void on_drop_cell(CellId cell);

 private:
  // What somebody knew when he did something that others may come after.
  struct Sent {
    VectorClock clock;
    AccessRecord by;
  };
  using SentId = std::uint32_t;
  static constexpr SentId kNothing = ~SentId{0};
  struct Cell {
    SentId write = kNothing;
    std::vector<SentId> reads;  // since then, one of each thread
  };
  struct Lock {
    SentId exclusive = kNothing;
    std::vector<SentId> shared;  // since then, one of each thread
  };
  struct ThreadState {
    VectorClock clock;
    AccessRecord learnt;      // the last event by which it learnt something
    std::uint32_t depth = 0;  // of blocks that are open
    bool acts = false;        // it has had an event
    bool reported = false;    // the open one was
    Time begin = 0;           // of the open one
    std::uint64_t number = 0;
    AccessRecord first;                   // its enter
    std::unordered_set<SentId> knows_it;  // those that know its beginning, and perhaps some that did
  };

  ThreadState& state(ThreadId thread);
  bool is_open(ThreadId thread) const { return raw(thread) < threads_.size() && threads_[raw(thread)].depth > 0; }
  void enter(const AccessRecord& record);
  void exit(const AccessRecord& record);
  void end_block(ThreadId thread, const AccessRecord& last);
  void learn(ThreadId thread, const VectorClock& clock, const AccessRecord& from, const AccessRecord& at);
  void learn(SentId from, const AccessRecord& at);
  void send(SentId& slot, const AccessRecord& record);
  void send_own(std::vector<SentId>& slots, const AccessRecord& record);
  void register_with_open(SentId id);
  void drop(SentId& id);
  SentId copy(SentId id);
  void access(const AccessRecord& record);
  void acquire(const AccessRecord& record);
  void release(const AccessRecord& record);
  void synchronise(const AccessRecord& record);

  Report report_;
  bool begun_ = false;
  std::uint64_t blocks_ = 0;
  std::vector<ThreadState> threads_;
  std::vector<ThreadId> open_;  // threads in blocks
  std::vector<Sent> sent_;
  std::vector<SentId> free_;
  std::vector<Cell> cells_;
  std::vector<CellId> touched_;  // by the access that is looked at
  std::unordered_map<std::uint64_t, Lock> locks_;
  std::unordered_map<std::uint64_t, std::vector<SentId>> messages_;  // by kind of object and object
  ShadowMemory<Serializability> memory_;
};

}  // namespace sooth
