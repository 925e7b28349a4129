// For each lock and variable: the critical sections of the lock that accessed the variable. What rule (a) of WCP asks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"
#include "detect/access_log.h"
#include "detect/section_queue.h"
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
// section and the latest of another thread answer for all; shared sections overlap, so there is one per thread. Of
// threads with one number, which come one after the other, the latest two.
struct alignas(64) Guard {
  // Sections of one mode that accessed the variable in one way: the latest, and the latest of another thread.
  using Sections = std::array<ClosedSection, 2>;

  // The latest section of a thread other than `own`. Without one, its `released` is 0, which everybody knows.
  const ClosedSection& latest_of_others(AccessKind kind, const ThreadLife& own) const {
    const Sections& sections = exclusive[raw(kind)];
    const unsigned is_own =
        (sections[0].thread == own.thread ? 1u : 0u) & (sections[0].released >= own.began ? 1u : 0u);
    return sections[is_own];
  }

  std::uint64_t lock = 0;
  std::uint32_t open_section = 0;     // the section that touched it last, while that is open; see WcpDetector
  std::uint32_t open_position = 0;    // ... and where in its list
  std::uint32_t generation = 0;       // grows when the guard is dropped, so that those who remember it can tell
  std::uint32_t shared = 0;           // its list of shared sections; 0 for none
  std::array<Sections, 4> exclusive;  // by AccessKind
  GuardId next_in_cell = kNoGuard;
  std::uint8_t kinds = 0;  // bit k: some closed section accessed it in the way of AccessKind k
};
static_assert(sizeof(Guard) == 128);

// Guards are found by lock and cell, and follow their cell when it is split or dropped.
class SectionGuards {
 public:
  explicit SectionGuards(ClockPool& clocks) : clocks_(clocks), guards_(1), shared_(1) {}

  // The guard of a lock and a cell, made when there is none.
  GuardId find(std::uint64_t lock, CellId cell) {
    // Most variables are guarded by one lock, whose guard then is the head.
    const GuardId first = head(cell);
    if (first != kNoGuard && guards_[raw(first)].lock == lock) [[likely]] {
      return first;
    }
    return find_behind_head(lock, cell);
  }
  Guard& operator[](GuardId id) { return guards_[raw(id)]; }
  // Asks for the memory that find() and the use of what it finds will touch.
  void prefetch(CellId cell) const {
    const Guard* guard = &guards_[raw(head(cell))];
    __builtin_prefetch(guard, 1);
    __builtin_prefetch(reinterpret_cast<const char*>(guard) + 64, 1);
  }

  // A section is over that accessed the guard's variable in the given way.
  void close_exclusive(GuardId id, AccessKind kind, const ThreadLife& own, Time released, ClockId said) {
    Guard& guard = guards_[raw(id)];
    guard.kinds |= static_cast<std::uint8_t>(1u << raw(kind));
    Guard::Sections& sections = guard.exclusive[raw(kind)];
    const bool other_thread = !own.did(sections[0].thread, sections[0].released);
    clocks_.hold(said);
    clocks_.drop(sections[other_thread ? 1 : 0].said);
    if (other_thread) [[likely]] {
      sections[1] = sections[0];
    }
    sections[0] = {own.thread, released, said};
  }
  void close_shared(GuardId id, AccessKind kind, const ThreadLife& own, Time released, ClockId said);

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
  GuardId find_behind_head(std::uint64_t lock, CellId cell);
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
