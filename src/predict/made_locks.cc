#include "predict/made_locks.h"

#include <algorithm>

namespace sooth {
namespace {

constexpr std::uint64_t kAtomic = std::uint64_t{1} << 63;
constexpr std::uint64_t kSemaphore = std::uint64_t{3} << 62;

}  // namespace

MadeLocks::MadeLocks(const TraceIndex& index, const PastClocks& past) : index_(index) {
  if (!index.is_hard() || index.has_branches()) {
    return;
  }
  FlatMap<std::vector<EventIndex>> accesses;  // by variable, of those that an rmw accesses
  for (EventIndex e = 0; e < index.size(); ++e) {
    if (index.event(e).op == Op::kAtomicRmw && index.variables(e).size() == 1) {
      accesses[index.variables(e).front()];
    }
  }
  for (EventIndex e = 0; e < index.size() && !accesses.empty(); ++e) {
    for (const VariableIndex v : index.variables(e)) {
      if (std::vector<EventIndex>* own = accesses.find(v)) {
        own->push_back(e);
      }
    }
  }
  accesses.for_each([&](std::uint64_t v, const std::vector<EventIndex>& own) {
    look_at_atomic(static_cast<VariableIndex>(v), own, past);
  });
  for (std::uint32_t s = 0; s < index.semaphores().semaphores().size(); ++s) {
    look_at_semaphore(s);
  }
}

void MadeLocks::look_at_atomic(VariableIndex variable, std::span<const EventIndex> accesses, const PastClocks& past) {
  std::vector<EventIndex> takes, gives, first;  // first: writes of the free value that no take goes before
  std::optional<std::uint64_t> free;
  FlatMap<bool> seen;  // writes that takes saw
  for (const EventIndex e : accesses) {
    const Value* const value = index_.value(e);
    if (index_.event(e).op != Op::kAtomicRmw || index_.variables(e).size() != 1 || value == nullptr ||
        value->size > 8) {
      continue;
    }
    free = free ? free : value->low;
    if (value->low == *free) {
      takes.push_back(e);
      if (const EventIndex write = index_.seen(e).front(); write != kNoEvent) {
        seen[write] = true;
      }
    }
  }
  FlatMap<bool> holds;  // by thread
  for (const EventIndex e : accesses) {
    if (!is_write(index_.event(e).op)) {
      continue;
    }
    const std::uint32_t thread = index_.thread(e);
    const bool takes_it = std::binary_search(takes.begin(), takes.end(), e);
    const Value* const value = index_.value(e);
    const bool stores = index_.event(e).op == Op::kWrite || index_.event(e).op == Op::kAtomicStore;
    const bool gives_it =
        seen.contains(e) ||
        (stores && value != nullptr && (index_.variables(e).size() != 1 || value->size > 8 || value->low == *free));
    if (takes_it && (gives_it || holds[thread])) {
      return;
    }
    if (takes_it) {
      holds[thread] = true;
    } else if (gives_it && holds[thread]) {
      holds[thread] = false;
      gives.push_back(e);
    } else if (gives_it) {
      first.push_back(e);
    }
  }
  for (const EventIndex e : first) {
    // Of each thread the first take stands for the others.
    FlatMap<bool> asked;
    for (const EventIndex take : takes) {
      bool& known = asked[index_.thread(take)];
      const bool before = known || (e < take && (index_.thread(e) == index_.thread(take) || past.needs(take, e)));
      if (!before) {
        return;
      }
      known = true;
    }
  }
  note(kAtomic | variable, takes, gives);
}

void MadeLocks::look_at_semaphore(std::uint32_t number) {
  const SemaphoreIndex::Semaphore& semaphore = index_.semaphores().semaphores()[number];
  std::uint64_t at_first = semaphore.first;
  std::vector<EventIndex> gives;
  FlatMap<std::uint32_t> holds;  // by thread
  auto post = semaphore.posts.begin();
  const auto pass_posts = [&](EventIndex end) {
    for (; post != semaphore.posts.end() && *post < end; ++post) {
      std::uint32_t& held = holds[index_.thread(*post)];
      if (held > 0) {
        --held;
        gives.push_back(*post);
      } else {
        ++at_first;
      }
    }
  };
  for (const EventIndex wait : semaphore.waits) {
    pass_posts(wait);
    ++holds[index_.thread(wait)];
  }
  pass_posts(kNoEvent);
  if (at_first == 1) {
    note(kSemaphore | number, semaphore.waits, gives);
  }
}

void MadeLocks::note(std::uint64_t lock, std::span<const EventIndex> takes, std::span<const EventIndex> gives) {
  for (const EventIndex e : takes) {
    takes_[e] = lock;
  }
  for (const EventIndex e : gives) {
    gives_[e] = lock;
  }
  ++count_;
}

}  // namespace sooth
