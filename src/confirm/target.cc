#include "confirm/target.h"

#include <algorithm>

#include "confirm/outcome.h"

namespace sooth {
namespace {

// The cycle of waiting threads that the thread is a part of, starting with it; empty when it is in none.
std::vector<const BlockedThread*> cycle_through(const std::vector<BlockedThread>& blocked, std::uint32_t thread) {
  std::vector<const BlockedThread*> cycle;
  std::uint32_t at = thread;
  do {
    const auto it =
        std::find_if(blocked.begin(), blocked.end(), [&](const BlockedThread& each) { return each.thread == at; });
    if (it == blocked.end() || cycle.size() == blocked.size()) {
      return {};
    }
    cycle.push_back(&*it);
    at = it->holder;
  } while (at != thread);
  return cycle;
}

bool is_at(const PlaceCode& place, std::uint64_t offset) {
  return std::any_of(place.ranges.begin(), place.ranges.end(),
                     [&](const AddressRange& range) { return offset >= range.begin && offset < range.end; });
}

// Whether it waits for one of these; also where nobody knows.
bool waits_for(const std::vector<AddressRange>& lock, const BlockedThread& blocked) {
  return lock.empty() || !blocked.variable.has_value() ||
         std::any_of(lock.begin(), lock.end(), [&](const AddressRange& range) {
           return *blocked.variable >= range.begin && *blocked.variable < range.end;
         });
}

// Nobody holds a semaphore, so there is no cycle to see: all threads are blocked, and these wait for one at their places.
bool waits_for_semaphores_at(const Target& target, const std::vector<BlockedThread>& blocked) {
  std::vector<std::uint32_t> taken;
  for (std::size_t i = 0; i < target.acquires.size(); ++i) {
    const auto one = std::find_if(blocked.begin(), blocked.end(), [&](const BlockedThread& each) {
      return each.on == control::BlockedOn::kSemaphore && is_at(target.acquires[i], each.offset) &&
             (i >= target.locks.size() || waits_for(target.locks[i], each)) &&
             std::find(taken.begin(), taken.end(), each.thread) == taken.end();
    });
    if (one == blocked.end()) {
      return false;
    }
    taken.push_back(one->thread);
  }
  return !taken.empty();
}

bool deadlocks_at(const Target& target, const std::vector<BlockedThread>& blocked) {
  const std::vector<PlaceCode>& acquires = target.acquires;
  if (waits_for_semaphores_at(target, blocked)) {
    return true;
  }
  return std::any_of(blocked.begin(), blocked.end(), [&](const BlockedThread& start) {
    const std::vector<const BlockedThread*> cycle = cycle_through(blocked, start.thread);
    if (cycle.size() != acquires.size()) {
      return false;
    }
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (!is_at(acquires[i], cycle[i]->offset) ||
          (i < target.locks.size() && !waits_for(target.locks[i], *cycle[i]))) {
        return false;
      }
    }
    return true;
  });
}

// Whether the first byte that both touch is in the variable of the target.
bool is_about(const Target& target, const RacingThread& here, const RacingThread& other) {
  if (!target.variable.has_value()) {
    return true;
  }
  if (!here.variable.has_value() || !other.variable.has_value()) {
    return target.variable->empty();
  }
  const std::uint64_t byte = std::max(*here.variable, *other.variable);
  return std::any_of(target.variable->begin(), target.variable->end(),
                     [&](const AddressRange& range) { return byte >= range.begin && byte < range.end; });
}

bool creates(const Target& target, const CreatedRace& race) {
  return std::any_of(race.others.begin(), race.others.end(), [&](const RacingThread& other) {
    return target.pair.is_met_by(race.here, other) && is_about(target, race.here, other);
  });
}

// Whether a section came between two others: its thread met the one that was about to take the lock again.
bool comes_between(const Target& target, const CreatedRace& meeting) {
  const auto part = [&](const RacingThread& thread) {
    return thread.range < target.pair.sites.size() ? target.pair.sites[thread.range].sites : 0;
  };
  const auto meet = [&](const RacingThread& a, const RacingThread& b) {
    return (part(a) & control::kSecondSection) != 0 && (part(b) & control::kSectionBetween) != 0;
  };
  return std::any_of(meeting.others.begin(), meeting.others.end(),
                     [&](const RacingThread& other) { return meet(meeting.here, other) || meet(other, meeting.here); });
}

bool is_reached_by(const Target& target, const CreatedRace& race) {
  return target.kind == FindingKind::kAtomicity ? comes_between(target, race) : creates(target, race);
}

}  // namespace

bool reaches(const Target& target, const RunLog& log) {
  return std::any_of(log.processes.begin(), log.processes.end(), [&](const ProcessLog& process) {
    return target.kind == FindingKind::kDeadlock
               ? deadlocks_at(target, process.deadlock)
               : std::any_of(process.races.begin(), process.races.end(),
                             [&](const CreatedRace& race) { return is_reached_by(target, race); });
  });
}

bool reaches_by_delay(const Target& target, const RunLog& log) {
  return std::none_of(log.processes.begin(), log.processes.end(), [&](const ProcessLog& process) {
    return target.kind == FindingKind::kDeadlock
               ? process.longest_delay <= kUsualDelay && deadlocks_at(target, process.deadlock)
               : std::any_of(process.races.begin(), process.races.end(), [&](const CreatedRace& race) {
                   return race.delay <= kUsualDelay && is_reached_by(target, race);
                 });
  });
}

int first_place(const PairCode& pair, const RunLog& log) {
  for (const ProcessLog& process : log.processes) {
    for (const CreatedRace& race : process.races) {
      for (const RacingThread& other : race.others) {
        const bool in_order = pair.is_met_by_in_order(race.here, other);
        const bool in_turn = pair.is_met_by_in_order(other, race.here);
        if (!in_order && !in_turn) {
          continue;
        }
        const bool is_former = in_order && in_turn ? race.here.thread < other.thread : in_order;
        return race.here.first == is_former ? 0 : 1;
      }
    }
  }
  return -1;
}

}  // namespace sooth
