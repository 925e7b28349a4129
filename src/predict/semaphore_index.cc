#include "predict/semaphore_index.h"

#include <algorithm>
#include <deque>
#include <map>

namespace sooth {
namespace {

// Waits times threads that post. Above it nothing is said of what waits need.
constexpr std::uint64_t kMaxNeeds = 1 << 20;

bool is_operation(const Event& e) { return e.op == Op::kSemPost || e.op == Op::kSemWait; }

}  // namespace

SemaphoreIndex::SemaphoreIndex(std::span<const Event> events, bool counts) {
  if (counts && std::any_of(events.begin(), events.end(), is_operation)) {
    find_operations(events);
    for (const Semaphore& semaphore : semaphores_) {
      find_needs(events, semaphore);
    }
  }
}

// What is behind an alloc where the semaphore lies is none: that may be another semaphore.
void SemaphoreIndex::find_operations(std::span<const Event> events) {
  struct Live {
    std::uint32_t number = 0;
    bool renewed = false;
    std::deque<EventIndex> posts = {};  // that no wait has taken
  };
  std::map<std::uint64_t, Live> live;  // by address
  for (EventIndex id = 0; id < events.size(); ++id) {
    const Event& e = events[id];
    if (e.op == Op::kAlloc && e.size != 0) {
      const auto end = live.upper_bound(e.object + (e.size - 1));
      std::for_each(live.lower_bound(e.object), end, [](auto& entry) { entry.second.renewed = true; });
    }
    if (!is_operation(e)) {
      continue;
    }
    const auto [it, added] = live.try_emplace(e.object, Live{static_cast<std::uint32_t>(semaphores_.size())});
    if (added) {
      semaphores_.emplace_back();
    }
    Live& own = it->second;
    EventIndex took = kNoEvent;
    if (e.op == Op::kSemPost) {
      own.posts.push_back(id);
    } else if (!own.posts.empty()) {
      took = own.posts.front();
      own.posts.pop_front();
    }
    if (own.renewed) {
      if (took != kNoEvent) {
        needs_[id].push_back(took);
      }
      continue;
    }
    Semaphore& semaphore = semaphores_[own.number];
    numbers_[id] = static_cast<std::uint32_t>(operations_.size());
    operations_.push_back({own.number, took});
    (e.op == Op::kSemPost ? semaphore.posts : semaphore.waits).push_back(id);
    semaphore.first += e.op == Op::kSemWait && took == kNoEvent ? 1 : 0;
  }
}

// A wait comes after the waits of its thread, so it needs as many posts, or more than it held at first. Posts of one
// thread are needed where those of all others are not enough.
void SemaphoreIndex::find_needs(std::span<const Event> events, const Semaphore& semaphore) {
  std::map<std::uint32_t, std::vector<EventIndex>> posts;  // by thread
  for (const EventIndex post : semaphore.posts) {
    posts[raw(events[post].thread)].push_back(post);
  }
  if (semaphore.waits.size() * posts.size() > kMaxNeeds) {
    return;
  }
  std::map<std::uint32_t, std::uint64_t> waits;  // by thread, so far
  for (const EventIndex wait : semaphore.waits) {
    const std::uint32_t thread = raw(events[wait].thread);
    std::uint64_t enough = semaphore.first;  // together with the posts of the thread itself
    std::uint64_t others = 0;
    for (const auto& [poster, own] : posts) {
      if (poster == thread) {
        enough += static_cast<std::uint64_t>(std::lower_bound(own.begin(), own.end(), wait) - own.begin());
      } else {
        others += own.size();
      }
    }
    const std::uint64_t needed = ++waits[thread];
    for (const auto& [poster, own] : posts) {
      const std::uint64_t without = enough + (others - own.size());
      if (poster != thread && needed > without) {
        needs_[wait].push_back(own[needed - without - 1]);
      }
    }
  }
}

}  // namespace sooth
