#include "run/order_census.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "order/must_clocks.h"
#include "race/site_key.h"

namespace sooth {
namespace {

constexpr std::uint64_t kGranule = 8;  // bytes of memory that are told apart

// Who uses an atomic, and how.
class AtomicUse {
 public:
  void add(const Event& event) {
    is_weak_ = is_weak_ || event.order < MemoryOrder::kSeqCst;
    (is_write(event.op) ? writers_ : readers_).add(event.thread);
  }
  bool may_see_older() const { return is_weak_ && readers_.has_other_than(writers_); }

 private:
  struct Threads {
    std::optional<ThreadId> first;
    bool several = false;

    void add(ThreadId thread) {
      several = several || (first.has_value() && *first != thread);
      first = first.value_or(thread);
    }
    bool has_other_than(const Threads& others) const {
      return first.has_value() && others.first.has_value() && (several || others.several || *first != *others.first);
    }
  };
  Threads readers_, writers_;  // who reads and writes in one is a writer
  bool is_weak_ = false;
};

}  // namespace

std::uint32_t OrderCensus::number_of(const Site& site) {
  return sites_.try_emplace(site_key(site), static_cast<std::uint32_t>(sites_.size())).first->second;
}

void OrderCensus::add(TraceReader& trace) {
  struct Last {
    Place place;
    Epoch when;
  };
  std::unordered_map<std::uint64_t, Last> locks, memory;  // who was there last
  std::unordered_map<std::uint64_t, AtomicUse> atomics;
  MustClocks must;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint64_t events = 0; events < kMostEvents;) {
    const Result<Batch> batch = trace.next();
    if (!batch.ok() || batch->empty()) {
      return;
    }
    events += batch->events.size();
    for (const Event& event : batch->events) {
      const bool locks_it = event.op == Op::kAcquire || event.op == Op::kAcquireFailed;
      has_condition_waits_ = has_condition_waits_ || was_woken(event);
      if (!locks_it && !is_access(event.op)) {
        must.learn(event);
        continue;
      }
      const auto [number, is_new] = numbers.try_emplace(raw(event.site), 0);
      if (is_new) {
        number->second = number_of(trace.tables().site(event.site));
      }
      if (is_atomic(event.op) && !has_weak_atomics_) {
        AtomicUse& use = atomics[event.object];
        use.add(event);
        has_weak_atomics_ = use.may_see_older();
      }
      const Place here{number->second, raw(event.thread)};
      auto& last = locks_it ? locks : memory;
      const std::uint64_t object = locks_it ? event.object : event.object / kGranule;
      const auto before = last.find(object);
      // In front of what an atomic access learns: that is what the other order would change.
      if (before != last.end() && before->second.place.second != here.second && seen_.size() < kMostPairs &&
          !must.knows(event.thread, before->second.when)) {
        seen_.emplace(before->second.place, here);
      }
      // What only reads leaves no order behind.
      if (locks_it || is_write(event.op)) {
        last[object] = {here, must.now(event.thread)};
      }
      must.learn(event);
    }
  }
}

std::uint64_t OrderCensus::one_way() const {
  return static_cast<std::uint64_t>(std::count_if(seen_.begin(), seen_.end(), [&](const auto& pair) {
    return !seen_.contains({pair.second, pair.first});
  }));
}

std::optional<std::string> OrderCensus::next_schedule() {
  std::map<std::string, std::uint64_t> gains;
  for (const auto& [before, after] : seen_) {
    if (!seen_.contains({after, before})) {
      ++gains["first:" + std::to_string(after.second)];
      ++gains["last:" + std::to_string(before.second)];
    }
  }
  // Who comes first changes what all the others find; who comes last is often last anyhow.
  const auto rank = [&](const auto& each) {
    return std::tuple(chosen_[each.first], each.first.starts_with("last"), ~each.second, each.first);
  };
  const auto better = [&](const auto& a, const auto& b) { return rank(a) < rank(b); };
  const auto best = std::min_element(gains.begin(), gains.end(), better);
  if (best == gains.end()) {
    return std::nullopt;
  }
  ++chosen_[best->first];
  return best->first;
}

}  // namespace sooth
