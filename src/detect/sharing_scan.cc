#include "detect/sharing_scan.h"

#include <optional>

#include "detect/granule_scan.h"
#include "detect/hb_order.h"
#include "detect/read_order.h"
#include "detect/wcp_order.h"
#include "order/held_locks.h"
#include "order/shadow_memory.h"

namespace sooth {
namespace {

// What happens-before knows.
class HbLook {
 public:
  static constexpr bool kAccessesTeach = false;
  static constexpr bool kReadsTeach = false;

  void look_up(ThreadId thread) {
    own_ = ClockView(order_.clock(thread));
    time_ = own_[thread];
  }
  // Of the thread that was looked up.
  Time time() const { return time_; }
  bool knows(ThreadId thread, Time time) const { return time <= own_[thread]; }
  bool covers(const VectorClock& times) const { return own_.covers(times); }
  static constexpr bool in_section() { return false; }

  bool knows_sections(ThreadId thread, std::uint64_t lock) { return order_.knows_sections(thread, lock); }
  void rest(ThreadId thread) { order_.rest(thread); }
  void incoming(const Event& e) { order_.incoming(e); }
  void outgoing(const Event& e) { order_.outgoing(e); }
  void acquire(const Event& e) { order_.acquire(e); }
  void release(const Event& e) { order_.release(e); }

 private:
  HbOrder<HeldLocks> order_;
  ClockView own_;
  Time time_ = 0;
};

// What WCP knows. Only accesses in critical sections need cells.
class WcpLook {
 public:
  static constexpr bool kAccessesTeach = true;
  static constexpr bool kReadsTeach = false;

  WcpLook() : order_(kTrimAt), memory_(*this) {}

  void look_up(ThreadId thread) {
    time_ = order_.time(thread);
    known_.emplace(order_.known(thread));
    in_section_ = order_.in_section(thread);
  }
  Time time() const { return time_; }
  bool knows(ThreadId thread, Time time) const { return known_->knows(Epoch(thread, time)); }
  bool covers(const VectorClock& times) const { return known_->covers(times); }
  bool in_section() const { return in_section_; }
  void access_in_section(const Event& e) {
    const auto visit = [&](CellId cell) { order_.access_in_sections(cell, e); };
    if (e.op == Op::kFree) {
      memory_.free(e.object, e.size, visit);
    } else {
      memory_.access(e.object, e.size, visit);
    }
  }
  void allocate(const Event& e) { memory_.allocate(e.object, e.size); }

  bool knows_sections(ThreadId thread, std::uint64_t lock) { return order_.knows_sections(thread, lock); }
  void rest(ThreadId thread) { order_.rest(thread); }
  void incoming(const Event& e) { order_.incoming(e); }
  void outgoing(const Event& e) { order_.outgoing(e); }
  void acquire(const Event& e) { order_.acquire(e); }
  void release(const Event& e) { order_.release(e); }

  // ShadowMemory's host.
  void on_new_cell(CellId) {}
  void on_split_cell(CellId from, CellId to) { order_.on_split_cell(from, to); }
  void on_drop_cell(CellId cell) { order_.on_drop_cell(cell); }

 private:
  static constexpr std::size_t kTrimAt = 1024;

  WcpOrder order_;
  ShadowMemory<WcpLook> memory_;
  std::optional<WcpKnowledge> known_;
  Time time_ = 0;
  bool in_section_ = false;
};

// What all of them know.
class ReadLook {
 public:
  static constexpr bool kAccessesTeach = false;
  static constexpr bool kReadsTeach = true;

  void look_up(ThreadId thread) {
    thread_ = thread;
    own_ = ClockView(order_.clock(thread));
    time_ = own_[thread];
    in_section_ = order_.in_section(thread);
  }
  Time time() const { return time_; }
  bool knows(ThreadId thread, Time time) const { return time <= own_[thread]; }
  bool covers(const VectorClock& times) const { return own_.covers(times); }
  bool in_section() const { return in_section_; }
  void read(ThreadId writer, Time time) { order_.read(thread_, writer, time); }

  // Not followed.
  bool knows_sections(ThreadId, std::uint64_t) { return false; }
  void rest(ThreadId thread) { order_.rest(thread); }
  void incoming(const Event& e) { order_.incoming(e); }
  void outgoing(const Event& e) { order_.outgoing(e); }
  void acquire(const Event& e) { order_.acquire(e); }
  void release(const Event& e) { order_.release(e); }

 private:
  ReadOrder order_;
  ThreadId thread_{};
  ClockView own_;
  Time time_ = 0;
  bool in_section_ = false;
};

}  // namespace

std::unique_ptr<SharingScan> make_sharing_scan(ScanOrder order) {
  switch (order) {
    case ScanOrder::kHb: return std::make_unique<GranuleScan<HbLook>>();
    case ScanOrder::kWcp: return std::make_unique<GranuleScan<WcpLook>>();
    case ScanOrder::kReads: break;
  }
  return std::make_unique<GranuleScan<ReadLook>>();
}

}  // namespace sooth
