// How the detectors come to see a trace: all of it in one pass, or, after a first look, what can matter to them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "detect/sharing_scan.h"
#include "filter/tree.h"
#include "order/lock_view.h"
#include "order/made_locks.h"
#include "pipeline/analysis.h"
#include "pipeline/trace_variables.h"
#include "trace/format/event_spool.h"
#include "trace/tools/thread_slots.h"

namespace sooth {

// A detector at work, and what it costs.
struct RunningDetector {
  const DetectorInfo* info;
  std::unique_ptr<Detector> detector;
  double seconds = 0;
  bool slots = false;      // its threads are slots
  bool included = false;   // another one finds what it reports
  bool direct = false;     // sees everything in the first pass, because looking first gains nothing for it
  std::int64_t grown = 0;  // bytes by which the process grew while it worked, of a sample
  std::optional<std::uint64_t> stopped_at{};  // it would have taken more memory than there may be; events until then
};

// Feeds batches to detectors. With a trace that can be read again, most of it is looked at only once, by a scan that
// tells which memory is shared (detect/sharing_scan.h): the detectors then see the accesses to that memory in a second
// pass, if there are any. Without one, or where most of the accesses are of that kind, they see everything in the first.
// What they find is the same, but for locks that the program made of atomics and semaphores, which the first pass
// recognises (order/made_locks.h): who looks at those sees the trace in the second pass, with them (order/lock_view.h).
//
// A trace that comes by only once is kept in a spool as far as AnalysisOptions::spool_bytes go, and the second pass is made
// out of it: at the end, as with any other trace, or, when the spool is full, for the older half of it with what is known
// by then. What is still private then and is found to be unordered later is missing from it: late_places(). Detectors that
// would not stay sound without it see everything from there on, and nobody sees locks that the program made.
//
// When the process takes more than AnalysisOptions::max_memory, the detector that grows most is stopped: what it has found
// stays, and it finds nothing more. When it is the first look that grows, the trace ends there for all of them.
class DetectorPasses {
 public:
  explicit DetectorPasses(const AnalysisOptions& options);
  ~DetectorPasses();

  // The first pass, batch by batch. `tables` resolve what is in it.
  // The outline is that of the batch.
  void consume(const Batch& batch, const BatchOutline& outline, const Tables& tables);
  // After the last batch; makes the second pass, if one is needed. Fails when the trace cannot be read again, or has
  // become another one. Returns how many events the detectors have seen: all, unless cancelled.
  // `tables` are those of the first pass.
  Result<std::uint64_t> finish(const Tables& tables);
  // 8 bytes of memory each that were found to be unordered when their earliest accesses had left the spool: those were not
  // compared.
  std::uint64_t late_places() const { return late_; }
  // Why there is no spool any more: later accesses were compared with earlier ones to memory that was shared by then.
  const Status& spool_status() const { return spool_status_; }
  // Nothing more should be consumed: there is no memory for it.
  bool out_of_memory() const { return out_of_memory_; }

  const std::vector<RunningDetector>& detectors() const { return detectors_; }
  // The same detectors again, without the filter, to compare with; or none.
  const std::vector<RunningDetector>& unfiltered() const { return unfiltered_; }
  const TreeFilter* filter() const { return filter_.get(); }
  double filter_seconds() const { return filter_seconds_; }
  const ThreadSlots& slots() const { return slots_; }
  // By which finds at the same sites were told apart.
  VariableClasses& variables() { return variables_; }

 private:
  // What the second pass leaves out.
  struct Views {
    SharedTimes times;
    SharedView several;
    SharedView sections;
    SharedView unordered;

    explicit Views(SharedTimes found)
        : times(std::move(found)),
          several(times, SharingLevel::kSeveral),
          sections(times, SharingLevel::kUnordered, true),
          unordered(times, SharingLevel::kUnordered) {}

    LockView reversible{{}, LockView::Of::kReversible};
    LockView meant{{}, LockView::Of::kMeant};

    Batch with_locks(const Batch& batch, SeesLocks sees) {
      switch (sees) {
        case SeesLocks::kOfTrace: break;
        case SeesLocks::kReversible: return reversible.show(batch);
        case SeesLocks::kMeant: return meant.show(batch);
      }
      return batch;
    }
    SharedView& view(Sees sees) {
      return sees == Sees::kUnordered ? unordered : sees == Sees::kSections ? sections : several;
    }
  };

  void look_first();
  void look_for_locks();
  bool spools_for(const RunningDetector& detector) const;
  void keep(const Batch& batch);
  void stop_keeping();
  bool gains(const RunningDetector& detector) const;
  bool give_up_locks();
  void choose_direct();
  void spool(const Batch& batch, const Tables& tables);
  void choose_direct_behind(const Tables& tables);
  void begin_behind();
  void see_all_without_gain();
  bool any_waits_behind() const;
  void see_behind(SharedTimes times);
  void feed_from_spool(const Tables& tables, std::uint64_t left);
  bool feed_next_from_spool(const Tables& tables);
  void stop_spooling(const Tables& tables);
  std::uint64_t finish_spool(const Tables& tables);
  Batch first_batch();
  Sees view_for(const RunningDetector& detector) const;
  bool sees_all_at_once(const RunningDetector& detector) const;
  bool waits_for_locks(const RunningDetector& detector) const;
  bool any_to_feed(const SharedTimes& times) const;
  void show_locks(Views& views);
  Result<std::uint64_t> feed_again(const Tables& tables);
  Result<std::uint64_t> read_again(Views& views, const Tables& tables);
  void feed(const Batch& batch, Views* views);
  void feed(std::vector<RunningDetector>& to, const Batch& batch, Views* views);
  template <typename IsFed>
  void feed_those(std::vector<RunningDetector>& to, const Batch& batch, const IsFed& is_fed);
  void feed_one(RunningDetector& to, const Batch& batch);
  void begin_sample(std::size_t events);
  bool bound_memory(std::uint64_t seen);
  bool stop_largest(std::uint64_t seen);
  std::uint64_t memory_in_use() const;

  const AnalysisOptions& options_;
  std::unique_ptr<TreeFilter> filter_;  // nullptr: none
  double filter_seconds_ = 0;
  std::vector<RunningDetector> detectors_;
  std::vector<RunningDetector> unfiltered_;
  bool any_slots_ = false;  // somebody takes them
  ThreadSlots slots_;
  std::vector<Event> renamed_;
  TraceVariables variables_;
  std::uint64_t events_ = 0;
  bool sampling_ = false;  // memory is looked at during this batch
  std::uint64_t unsampled_ = 0;
  bool out_of_memory_ = false;

  std::unique_ptr<EventSpool> spool_;  // what the second pass of a trace that comes by once is made of
  std::unique_ptr<Views> behind_;      // what it has left out so far; nullptr: it has not begun
  std::uint64_t late_ = 0;
  Status spool_status_;
  Status broken_;  // the spool cannot be read

  std::unique_ptr<SharingScan> scan_;       // nullptr: the detectors see everything in the first pass
  bool scan_slots_ = false;                 // it takes them
  bool looks_at_reads_ = false;             // it is ScanOrder::kReads
  std::unique_ptr<MadeLockFinder> finder_;  // nullptr: nobody waits for what it finds
  bool any_reversible_ = false;             // it has found some
  // The beginning of the trace, so that short traces need not be read again, nor those where looking gains nothing.
  std::vector<Event> first_events_;
  std::vector<StackId> first_stacks_;
  bool keeping_ = true;
};

}  // namespace sooth
