// Following a schedule that somebody has written down: as stretches, or as choices. What is pure about it, freestanding
// like strategy.h; the run time library asks inside the program, tests ask without one.
#pragma once

#include <cstdint>

#include "schedule/protocol.h"
#include "schedule/strategy.h"

namespace sooth {

// How far a thread has come: protocol.h.
struct Position {
  std::uint64_t events = 0;
  std::uint64_t accesses = 0;
};

// A thread that stops like this cannot go on at once; after the others it could, but another was chosen.
constexpr bool is_stop(control::StretchEnd end) {
  return end == control::StretchEnd::kBlocked || end == control::StretchEnd::kOutside ||
         end == control::StretchEnd::kTaken || end == control::StretchEnd::kEnded ||
         end == control::StretchEnd::kRunEnded;
}

// Walks along a list of stretches. Not thread safe.
class StretchFollower {
 public:
  enum class Verdict : std::uint8_t {
    kGoesOn,    // the stretch is not over
    kIsOver,    // advance(), then wanted() has the turn
    kDiverges,  // divergence() and found() say why
  };

  constexpr StretchFollower() = default;
  // Both tables stay the caller's. The column `reserved` of `threads` becomes this object's: it must be 0. `has_sites`:
  // threads whose stretch ends with kPostponed are postponed when they come to a site; else that is the same as
  // kPreempted.
  constexpr StretchFollower(const control::Stretch* stretches, std::uint32_t count, control::ThreadOrigin* threads,
                            std::uint32_t thread_count, bool has_sites)
      : stretches_(stretches), count_(count), threads_(threads), thread_count_(thread_count), has_sites_(has_sites) {}

  constexpr bool is_over() const { return at_ >= count_; }
  constexpr std::uint32_t index() const { return at_; }
  constexpr const control::Stretch& current() const { return stretches_[at_]; }
  constexpr std::uint32_t count() const { return count_; }
  constexpr const control::Stretch& at(std::uint32_t index) const { return stretches_[index]; }
  constexpr bool is_last() const { return at_ + 1 == count_; }
  constexpr void advance() { ++at_; }
  constexpr void retreat() { --at_; }

  // A thread of this run was created. The first thread of all is number 0 here and there.
  constexpr void created(std::uint32_t id, std::uint32_t parent, std::uint32_t child) {
    for (std::uint32_t i = 0; i < thread_count_; ++i) {
      control::ThreadOrigin& row = threads_[i];
      if (row.reserved == 0 && row.child == child && id_of(row.parent) == parent) {
        row.reserved = id + 1;
      }
    }
  }
  // The number in this run of a thread of the schedule; control::kNone: there is none yet. Rows are few, and mostly in
  // order.
  constexpr std::uint32_t id_of(std::uint32_t thread) const {
    if (thread == 0) {
      return 0;
    }
    for (std::uint32_t i = 0; i < thread_count_; ++i) {
      const control::ThreadOrigin& row = threads_[(i + thread - 1) % thread_count_];
      if (row.thread == thread) {
        return row.reserved - 1;
      }
    }
    return control::kNone;
  }
  // Of whom the current stretch is; there is one.
  constexpr std::uint32_t wanted() const { return id_of(current().thread); }

  // The thread of the current stretch has come to `position` and stops as `how` says, or could be made to stop
  // (kPreempted, kYielded). `hash`: of all operations so far. `is_operation`: it is in front of an operation, or does
  // not go on.
  constexpr Verdict look(const Position& position, control::StretchEnd how, std::uint32_t hash, bool is_operation) {
    const control::Stretch& s = current();
    const bool is_there = position.events == s.events &&
                          (s.accesses == control::kAnyAccesses ? is_operation : position.accesses == s.accesses);
    const bool is_beyond =
        position.events > s.events ||
        (position.events == s.events && s.accesses != control::kAnyAccesses && position.accesses > s.accesses);
    if (!is_there && !is_beyond) {
      // Whoever is outside, or was found there, comes back and goes on: calls that wait for the world are nothing that
      // a schedule has to mention.
      const bool comes_back = how == control::StretchEnd::kOutside || how == control::StretchEnd::kTaken;
      return is_stop(how) && !comes_back ? diverge(control::Divergence::kEarly, static_cast<std::uint64_t>(how))
                                         : Verdict::kGoesOn;
    }
    const bool other_hash = s.hash != 0 && s.hash != hash;
    // It is to stop by itself, which it is about to do: a lock is tried behind the scheduling point in front of it. Or
    // this is not yet the place: several calls in a row may leave no event (a lock that is tried in vain,
    // pthread_cancel), and only the hash tells them apart.
    const bool stops_itself = is_stop(s.end) || s.end == control::StretchEnd::kYielded ||
                              (has_sites_ && s.end == control::StretchEnd::kPostponed);
    if (is_there && !is_stop(how) && (other_hash || (stops_itself && how == control::StretchEnd::kPreempted))) {
      return Verdict::kGoesOn;
    }
    if (other_hash) {
      return diverge(control::Divergence::kOtherHash, hash);
    }
    return Verdict::kIsOver;
  }

  // Accesses of the thread of the current stretch until it is over, when it has come to `position`; kAnyAccesses: an
  // operation comes first.
  constexpr std::uint64_t accesses_left(const Position& position) const {
    const control::Stretch& s = current();
    if (s.accesses == control::kAnyAccesses || position.events < s.events) {
      return control::kAnyAccesses;
    }
    return position.events > s.events || position.accesses >= s.accesses ? 0 : s.accesses - position.accesses;
  }

  // Whether the thread of the current stretch, at `position`, is to be postponed when it comes to a site: the end of a
  // predicted schedule.
  constexpr bool wants_postponed(const Position& position) const {
    const control::Stretch& s = current();
    return has_sites_ && s.end == control::StretchEnd::kPostponed && position.events >= s.events &&
           (s.accesses == control::kAnyAccesses || position.events > s.events || position.accesses >= s.accesses);
  }

  constexpr Verdict diverge(control::Divergence why, std::uint64_t found) {
    divergence_ = why;
    found_ = found;
    return Verdict::kDiverges;
  }
  constexpr control::Divergence divergence() const { return divergence_; }
  constexpr std::uint64_t found() const { return found_; }

 private:
  const control::Stretch* stretches_ = nullptr;
  std::uint32_t count_ = 0;
  control::ThreadOrigin* threads_ = nullptr;
  std::uint32_t thread_count_ = 0;
  bool has_sites_ = false;
  std::uint32_t at_ = 0;
  control::Divergence divergence_{};
  std::uint64_t found_ = 0;
};

// Takes a list of choices, then stays with the running thread. An Entry has `next` and `id`.
class ChoiceFollower {
 public:
  constexpr ChoiceFollower() = default;
  constexpr ChoiceFollower(const std::uint16_t* choices, std::uint32_t count) : choices_(choices), count_(count) {}

  // Of the next choice. After the list: how many there were.
  constexpr std::uint32_t index() const { return at_; }
  // choose() just now came to a choice of a thread that was not ready: wanted(). The rest of the list means nothing any
  // more.
  constexpr bool has_failed() const { return failed_; }
  constexpr std::uint32_t wanted() const { return choices_[at_ - 1]; }

  // As Strategy::choose(). Behind the list a thread that yields or has used up its quantum makes room for the next
  // higher number, so that loops that wait end. Entries of the list `blocked` for which can_fire() holds may be chosen,
  // too: by the list only, unless there is nobody else.
  template <typename Entry>
  constexpr Entry* choose(Entry* ready, Entry* running, SchedulingPoint point) {
    return choose(ready, running, point, static_cast<Entry*>(nullptr), [](const Entry*) { return false; });
  }
  template <typename Entry, typename CanFire>
  constexpr Entry* choose(Entry* ready, Entry* running, SchedulingPoint point, Entry* blocked, CanFire can_fire) {
    failed_ = false;
    Entry* only = running;
    std::uint32_t count = running == nullptr ? 0 : 1;
    const auto add = [&](Entry* entry) {
      only = only == nullptr ? entry : only;
      ++count;
    };
    for (Entry* entry = ready; entry != nullptr; entry = entry->next) {
      add(entry);
    }
    for (Entry* entry = blocked; entry != nullptr; entry = entry->next) {
      if (can_fire(entry)) {
        add(entry);
      }
    }
    if (count <= 1) {
      return only;
    }
    if (at_ < count_) {
      const std::uint32_t wanted = choices_[at_++];
      if (running != nullptr && running->id == wanted) {
        return running;
      }
      for (Entry* entry = ready; entry != nullptr; entry = entry->next) {
        if (entry->id == wanted) {
          return entry;
        }
      }
      for (Entry* entry = blocked; entry != nullptr; entry = entry->next) {
        if (entry->id == wanted && can_fire(entry)) {
          return entry;
        }
      }
      failed_ = true;
      count_ = at_;
    }
    if (ready == nullptr) {
      return running != nullptr ? running : only;
    }
    const bool makes_room = point == SchedulingPoint::kYield || point == SchedulingPoint::kQuantum;
    if (running != nullptr && !makes_room) {
      return running;
    }
    return next_behind(ready, running == nullptr ? control::kNone : running->id);
  }

 private:
  // The one with the lowest number above `id`, else the lowest.
  template <typename Entry>
  static constexpr Entry* next_behind(Entry* ready, std::uint32_t id) {
    Entry* lowest = ready;
    Entry* above = nullptr;
    for (Entry* entry = ready; entry != nullptr; entry = entry->next) {
      if (entry->id < lowest->id) {
        lowest = entry;
      }
      if (entry->id > id && (above == nullptr || entry->id < above->id)) {
        above = entry;
      }
    }
    return above != nullptr ? above : lowest;
  }

  const std::uint16_t* choices_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint32_t at_ = 0;
  bool failed_ = false;
};

}  // namespace sooth
