// For each lock and variable: the critical sections of the lock that accessed the variable. What rule (a) of WCP asks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "detect/access_log.h"
#include "order/clock_pool.h"
#include "order/shadow_memory.h"

namespace sooth {

enum class GuardId : std::uint32_t {};  // 0 is none
inline constexpr GuardId kNoGuard{0};

// A section that is over and accessed the variable: whose it was, when it was released, and what its release said.
struct ClosedSection {
  ThreadId thread{};
  Time released = 0;  // local time of the release; 0: there was none
  ClockId said = kNoClock;
};

// L(lock, variable) of Algorithm 1. Along the exclusive sections of a lock what releases say only grows, so the latest
// section and the latest of another thread answer for all; shared sections overlap, so there is one per thread.
struct Guard {
  // Sections of one mode that accessed the variable in one way.
  struct Sections {
    ClosedSection latest;
    ClosedSection other;  // the latest of a thread other than latest.thread
  };

  std::uint64_t lock = 0;
  CellId cell{};
  GuardId next_in_cell = kNoGuard;
  std::uint32_t open_section = 0;   // the section that touched it last, while that is open; see WcpDetector
  std::uint32_t open_position = 0;  // ... and where in its list
  std::uint8_t kinds = 0;           // bit k: some closed section accessed it in the way of AccessKind k
  std::array<Sections, 4> exclusive;  // by AccessKind
  std::uint32_t shared = 0;           // its list of shared sections; 0 for none
  std::uint32_t generation = 0;       // grows when the guard is dropped, so that those who remember it can tell
};

// Guards are found by lock and cell, and follow their cell when it is split or dropped.
class SectionGuards {
 public:
  explicit SectionGuards(ClockPool& clocks) : clocks_(clocks), guards_(1), shared_(1) {}

  // The guard of a lock and a cell, made when there is none.
  GuardId find(std::uint64_t lock, CellId cell);
  Guard& operator[](GuardId id) { return guards_[raw(id)]; }

  // A section is over that accessed the guard's variable in the given way.
  void close_exclusive(GuardId id, AccessKind kind, ThreadId thread, Time released, ClockId said);
  void close_shared(GuardId id, AccessKind kind, ThreadId thread, Time released, ClockId said);

  // Calls visit(const ClosedSection&) for shared sections of any thread that accessed the variable in this way.
  template <typename Visit>
  void for_each_shared(GuardId id, AccessKind kind, Visit&& visit) const {
    const std::uint32_t list = guards_[raw(id)].shared;
    if (list == 0) {
      return;
    }
    for (const SharedSection& section : shared_[list]) {
      if (section.kind == kind) {
        visit(section.closed);
      }
    }
  }

  // Calls visit(GuardId) for the guards of a cell.
  template <typename Visit>
  void for_each(CellId cell, Visit&& visit) const {
    for (GuardId id = head(cell); id != kNoGuard; id = guards_[raw(id)].next_in_cell) {
      visit(id);
    }
  }
  // `to` gets copies of the guards of `from`; calls copied(GuardId original, GuardId copy) for each.
  template <typename Copied>
  void copy_cell(CellId from, CellId to, Copied&& copied) {
    for (GuardId id = head(from); id != kNoGuard; id = guards_[raw(id)].next_in_cell) {
      copied(id, copy_guard(id, to));
    }
  }
  void drop_cell(CellId cell);

  std::size_t size() const { return guards_.size() - 1 - free_.size(); }

 private:
  struct SharedSection {
    AccessKind kind{};
    ClosedSection closed;
  };

  GuardId head(CellId cell) const { return raw(cell) < heads_.size() ? heads_[raw(cell)] : kNoGuard; }
  GuardId add(std::uint64_t lock, CellId cell);
  GuardId copy_guard(GuardId id, CellId to);
  void replace(ClosedSection& slot, const ClosedSection& with);
  // Locks get small numbers, so that a lock and a cell fit one key.
  std::uint64_t key(std::uint64_t lock, CellId cell);

  ClockPool& clocks_;
  std::vector<Guard> guards_;
  std::vector<std::vector<SharedSection>> shared_;
  std::vector<GuardId> heads_;  // by CellId
  std::vector<GuardId> free_;
  FlatMap<std::uint32_t> lock_numbers_;  // number + 1
  FlatMap<GuardId> index_;
};

}  // namespace sooth
