#include "predict/hand_over.h"

#include <algorithm>
#include <iterator>

namespace sooth {
namespace {

constexpr std::size_t kMostPairs = 64;           // looked at for two sites
constexpr std::size_t kMostSteps = 4000;         // reads looked at on the way back from one access
constexpr std::size_t kMostTargets = 64;         // accesses that a way may lead over
constexpr std::size_t kMostTurns = 256;          // threads that counted, or passed on
constexpr std::size_t kMostReads = 20'000;       // of one variable
constexpr std::size_t kMostNumbers = 1u << 24;   // that must-order is remembered in
constexpr std::size_t kMostStarts = 32;          // of blocks that begin in front of an address
constexpr std::size_t kMostInstances = 100'000;  // pairs of accesses, of which some are looked at

bool contains(const std::vector<std::uint64_t>& sorted, std::uint64_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

HandOvers::HandOvers(const TraceIndex& index, const TraceView& trace) : index_(index), trace_(trace) {
  cross_reads_.resize(index.thread_count());
  for (EventIndex e = 0; e < index.size(); ++e) {
    const Event& event = index.event(e);
    if (event.op == Op::kAlloc || event.op == Op::kFree) {
      learn_block(e);
    }
    if (!is_access(event.op) && event.op != Op::kFree) {
      continue;
    }
    accesses_[event.site].push_back(e);
    bool crosses = false;
    const std::span<const EventIndex> seen = index.seen(e);
    const std::span<const VariableIndex> variables = index.variables(e);
    for (std::size_t i = 0; i < variables.size() && event.op != Op::kFree; ++i) {
      if (is_read(event.op)) {
        reads_[variables[i]].push_back(e);
        crosses = crosses || (seen[i] != kNoEvent && index.event(seen[i]).thread != event.thread);
      }
      if (is_write(event.op)) {
        writes_[variables[i]].push_back(e);
      }
    }
    if (crosses) {
      cross_reads_[raw(event.thread)].push_back(e);
    }
  }
  learn_order();
}

void HandOvers::learn_block(EventIndex e) {
  const Event& event = index_.event(e);
  std::vector<BlockIndex>& here = blocks_at_[event.object];
  if (event.op == Op::kAlloc) {
    here.push_back(static_cast<BlockIndex>(blocks_.size()));
    blocks_.push_back({event.object, event.object + event.size, e, kNoEvent});
  } else if (!here.empty() && blocks_[here.back()].freed == kNoEvent) {
    blocks_[here.back()].freed = e;
  }
}

void HandOvers::learn_order() {
  const std::uint32_t threads = index_.thread_count();
  known_.resize(threads);
  std::vector<std::uint32_t> clock(threads);
  for (EventIndex e = 0; e < index_.size() && numbers_.size() < kMostNumbers; ++e) {
    const std::span<const EventIndex> before = index_.predecessors(e);
    // A notification wakes, and orders no memory.
    if (before.empty() || index_.event(e).op == Op::kCondWait) {
      continue;
    }
    const auto join = [&](std::uint32_t thread, std::uint32_t position) {
      const std::vector<Known>& known = known_[thread];
      const auto it = std::upper_bound(known.begin(), known.end(), position,
                                       [](std::uint32_t at, const Known& each) { return at < each.position; });
      for (std::uint32_t t = 0; it != known.begin() && t < threads; ++t) {
        clock[t] = std::max(clock[t], numbers_[std::prev(it)->at + t]);
      }
    };
    std::fill(clock.begin(), clock.end(), 0);
    join(index_.thread(e), index_.position(e));
    for (const EventIndex other : before) {
      join(index_.thread(other), index_.position(other));
      clock[index_.thread(other)] = std::max(clock[index_.thread(other)], index_.position(other) + 1);
    }
    known_[index_.thread(e)].push_back({index_.position(e), numbers_.size()});
    numbers_.insert(numbers_.end(), clock.begin(), clock.end());
  }
}

// By program order and must-order.
bool HandOvers::ordered(EventIndex first, EventIndex second) const {
  const std::uint32_t thread = index_.thread(first);
  if (thread == index_.thread(second)) {
    return index_.position(first) <= index_.position(second);
  }
  const std::vector<Known>& known = known_[index_.thread(second)];
  const auto it = std::upper_bound(known.begin(), known.end(), index_.position(second),
                                   [](std::uint32_t at, const Known& each) { return at < each.position; });
  return it != known.begin() && numbers_[std::prev(it)->at + thread] > index_.position(first);
}

bool HandOvers::locked_together(EventIndex a, EventIndex b) const {
  const std::vector<SectionIndex> of_a = index_.held_after(index_.thread(a), index_.position(a));
  if (of_a.empty()) {
    return false;
  }
  const std::vector<SectionIndex> of_b = index_.held_after(index_.thread(b), index_.position(b));
  return std::any_of(of_a.begin(), of_a.end(), [&](SectionIndex s) {
    return std::any_of(of_b.begin(), of_b.end(), [&](SectionIndex t) {
      return s == t || exclude_each_other(index_.section(s), index_.section(t));
    });
  });
}

HandOvers::BlockIndex HandOvers::block_at(std::uint64_t address, EventIndex when) const {
  auto it = blocks_at_.upper_bound(address);
  for (std::size_t starts = 0; it != blocks_at_.begin() && starts < kMostStarts; ++starts) {
    --it;
    const auto later = [&](EventIndex e, BlockIndex block) { return e < blocks_[block].allocated; };
    const auto next = std::upper_bound(it->second.begin(), it->second.end(), when, later);
    if (next == it->second.begin()) {
      continue;
    }
    const Block& block = blocks_[*std::prev(next)];
    if (address < block.end && (block.freed == kNoEvent || when <= block.freed)) {
      return *std::prev(next);
    }
  }
  return kNoBlock;
}

// Whether the event read or wrote a pointer into the block.
bool HandOvers::has_pointer(EventIndex e, BlockIndex block) const {
  const Value& value = trace_.values[e];
  return block != kNoBlock && ((value.size >= 8 && value.low != 0 && block_at(value.low, e) == block) ||
                               (value.size == 16 && value.high != 0 && block_at(value.high, e) == block));
}

// The same of a read, also of one that is too long for its value to be recorded: a vector that grows copies its elements.
bool HandOvers::reads_pointer(EventIndex read, BlockIndex block) const {
  if (trace_.values[read].size > 0 || block == kNoBlock) {
    return has_pointer(read, block);
  }
  const std::span<const EventIndex> seen = index_.seen(read);
  return std::any_of(seen.begin(), seen.end(),
                     [&](EventIndex write) { return write != kNoEvent && has_pointer(write, block); });
}

// What stood there when the write came.
std::optional<std::uint64_t> HandOvers::value_before(EventIndex write, VariableIndex variable) const {
  const std::vector<EventIndex>* const writes = writes_.find(variable);
  const auto it = std::lower_bound(writes->begin(), writes->end(), write);
  const EventIndex before = it == writes->begin() ? kNoEvent : *std::prev(it);
  const Event& event = index_.event(write);
  if (before != kNoEvent && index_.event(before).op != Op::kAtomicRmw && trace_.values[before].size > 0 &&
      index_.event(before).object == event.object && index_.event(before).size == event.size) {
    return trace_.values[before].low;
  }
  const std::vector<EventIndex>* const reads = reads_.find(variable);
  if (reads == nullptr) {
    return std::nullopt;
  }
  const auto begin = before == kNoEvent ? reads->begin() : std::upper_bound(reads->begin(), reads->end(), before);
  for (auto read = begin; read != reads->end() && *read <= write; ++read) {
    if (trace_.values[*read].size > 0 && index_.event(*read).object == event.object &&
        index_.event(*read).size == event.size) {
      return trace_.values[*read].low;
    }
  }
  return std::nullopt;
}

// Reads in one function, inlined copies included, are taken for one and the same; without names each site is its own.
std::uint32_t HandOvers::function_of(EventIndex e) {
  const SiteId site = index_.event(e).site;
  const auto [it, added] = function_of_site_.try_emplace(site, 0);
  if (added) {
    const std::string name = trace_.tables == nullptr ? "" : trace_.tables->site(site).function;
    const std::string key = name.empty() ? "#" + std::to_string(raw(site)) : name;
    it->second = functions_.try_emplace(key, static_cast<std::uint32_t>(functions_.size())).first->second;
  }
  return it->second;
}

// Whether the thread makes an access of the site between these positions.
bool HandOvers::comes_behind(SiteId site, std::uint32_t thread, std::uint32_t from, std::uint32_t to) const {
  const std::span<const EventIndex> events = index_.events_of(thread);
  const auto all = accesses_.find(site);
  if (all == accesses_.end() || from + 1 >= events.size()) {
    return false;
  }
  const auto end =
      to < events.size() ? std::lower_bound(all->second.begin(), all->second.end(), events[to]) : all->second.end();
  for (auto it = std::lower_bound(all->second.begin(), all->second.end(), events[from + 1]); it != end; ++it) {
    if (index_.thread(*it) == thread) {
      return true;
    }
  }
  return false;
}

const HandOvers::Decision& HandOvers::decision(VariableIndex variable, std::uint32_t function, SiteId site) {
  const auto [it, added] = decisions_.try_emplace({variable, function, site});
  Decision& decision = it->second;
  const std::vector<EventIndex>* const reads = reads_.find(variable);
  if (!added || reads == nullptr) {
    return decision;
  }
  std::map<std::uint32_t, EventIndex> last;  // read of a thread
  const auto close = [&](EventIndex read, std::uint32_t end) {
    const Value& value = trace_.values[read];
    if (value.size > 0 && value.size <= 8) {
      const bool behind = comes_behind(site, index_.thread(read), index_.position(read), end);
      (behind ? decision.behind : decision.not_behind).push_back(value.low);
    }
  };
  for (std::size_t i = 0; i < std::min(reads->size(), kMostReads); ++i) {
    const EventIndex read = (*reads)[i];
    if (function_of(read) != function) {
      continue;
    }
    const auto [before, first] = last.try_emplace(index_.thread(read), read);
    if (!first) {
      close(before->second, index_.position(read));
      before->second = read;
    }
  }
  for (const auto& [thread, read] : last) {
    close(read, static_cast<std::uint32_t>(index_.events_of(thread).size()));
  }
  for (std::vector<std::uint64_t>* values : {&decision.behind, &decision.not_behind}) {
    std::sort(values->begin(), values->end());
    values->erase(std::unique(values->begin(), values->end()), values->end());
  }
  return decision;
}

// Whether the thread of `write` had done `first` by then, or had counted on from what a thread wrote of which the same is
// true. Collects what stood there before.
bool HandOvers::counted_on(EventIndex write, VariableIndex variable, EventIndex first,
                           std::vector<std::uint64_t>& olds) const {
  for (std::size_t turn = 0; turn < kMostTurns; ++turn) {
    if (const std::optional<std::uint64_t> old = value_before(write, variable)) {
      olds.push_back(*old);
    }
    if (ordered(first, write)) {
      return true;
    }
    const std::vector<EventIndex>* const reads = reads_.find(variable);
    if (reads == nullptr) {
      return false;
    }
    // The last read of the same thread in the same critical section.
    auto it = std::lower_bound(reads->begin(), reads->end(), write);
    while (it != reads->begin() && index_.thread(*std::prev(it)) != index_.thread(write)) {
      --it;
    }
    if (it == reads->begin()) {
      return false;
    }
    const EventIndex read = *std::prev(it);
    const std::vector<SectionIndex> then = index_.held_after(index_.thread(read), index_.position(read));
    const std::vector<SectionIndex> now = index_.held_after(index_.thread(write), index_.position(write));
    const bool same_section = std::any_of(
        then.begin(), then.end(), [&](SectionIndex s) { return std::find(now.begin(), now.end(), s) != now.end(); });
    const std::span<const VariableIndex> variables = index_.variables(read);
    const auto at = std::find(variables.begin(), variables.end(), variable) - variables.begin();
    const EventIndex seen = index_.seen(read)[static_cast<std::size_t>(at)];
    if (!same_section || seen == kNoEvent || seen >= write) {
      return false;
    }
    write = seen;
  }
  return false;
}

HandOver HandOvers::example(bool by_pointer, EventIndex write, EventIndex read) const {
  HandOver found;
  found.verdict = HandOverVerdict::kRecognised;
  found.by_pointer = by_pointer;
  if (const Tables* const tables = trace_.tables) {
    found.write = tables->site(index_.event(write).site);
    found.read = tables->site(index_.event(read).site);
    const std::uint64_t address = index_.event(read).object;
    const bool named = tables->object_name(ObjectKind::kMemory, address) != nullptr ||
                       tables->named_range(ObjectKind::kMemory, address) != nullptr;
    found.variable = named ? tables->describe(ObjectKind::kMemory, address) : "";
    for (const SectionIndex s : index_.held_after(index_.thread(read), index_.position(read))) {
      for (const SectionIndex t : index_.held_after(index_.thread(write), index_.position(write))) {
        if (exclude_each_other(index_.section(s), index_.section(t))) {
          found.lock = tables->describe(ObjectKind::kLock, index_.event(index_.section(s).acquire).object);
        }
      }
    }
  }
  return found;
}

// Whether who wrote a pointer into the block had done the first access by then, or had got the pointer from such a one.
bool HandOvers::passed_on(EventIndex write, BlockIndex block, Search& search, StopPoll& poll) {
  std::vector<EventIndex> writes{write};
  std::vector<EventIndex> seen_before;
  while (!writes.empty() && seen_before.size() < kMostTurns && !poll.stopped()) {
    const EventIndex last = writes.back();
    writes.pop_back();
    if (ordered(search.pair.first, last)) {
      return true;
    }
    const std::vector<EventIndex>& reads = cross_reads_[index_.thread(last)];
    auto it = std::lower_bound(reads.begin(), reads.end(), last);
    for (std::size_t step = 0; it != reads.begin() && step < kMostSteps && !poll.stop(); ++step) {
      --it;
      if (*it < search.pair.first) {
        break;  // what it saw was written before
      }
      for (const EventIndex other : index_.seen(*it)) {
        if (other != kNoEvent && other > search.pair.first && index_.thread(other) != index_.thread(last) &&
            reads_pointer(*it, block) && locked_together(*it, other) &&
            std::find(seen_before.begin(), seen_before.end(), other) == seen_before.end()) {
          seen_before.push_back(other);
          writes.push_back(other);
        }
      }
    }
  }
  return false;
}

// Looks for what was handed over to the thread of `target` in front of it, an access to the block.
void HandOvers::explain(EventIndex target, BlockIndex block, Search& search, StopPoll& poll) {
  search.visited.push_back(target);
  const std::vector<EventIndex>& reads = cross_reads_[index_.thread(target)];
  auto it = std::lower_bound(reads.begin(), reads.end(), target);
  std::vector<EventIndex> sources;  // unlocked reads of pointers into the block
  for (std::size_t step = 0; it != reads.begin() && !search.found.has_value(); ++step) {
    --it;
    const EventIndex read = *it;
    if (read < search.pair.first) {
      break;  // what it saw was written before
    }
    if (step >= kMostSteps || poll.stop()) {
      search.complete = false;
      break;
    }
    const bool points = reads_pointer(read, block);
    const std::span<const VariableIndex> variables = index_.variables(read);
    const std::span<const EventIndex> seen = index_.seen(read);
    bool locked = false;
    for (std::size_t i = 0; i < variables.size() && !search.found.has_value(); ++i) {
      const EventIndex write = seen[i];
      if (write == kNoEvent || index_.thread(write) == index_.thread(read) || !locked_together(read, write)) {
        continue;
      }
      locked = true;
      if (points && passed_on(write, block, search, poll)) {
        search.found = example(true, write, read);
        break;
      }
      std::vector<std::uint64_t> olds;
      // What the last read in front of the access itself saw decides about it, not one in front of that.
      if (target != search.pair.second || !counted_on(write, variables[i], search.pair.first, olds)) {
        continue;
      }
      const std::uint32_t function = function_of(read);
      const std::vector<EventIndex>& all = *reads_.find(variables[i]);
      const bool is_last = std::none_of(
          std::upper_bound(all.begin(), all.end(), read), std::lower_bound(all.begin(), all.end(), target),
          [&](EventIndex e) { return index_.thread(e) == index_.thread(read) && function_of(e) == function; });
      if (!is_last) {
        continue;
      }
      const Decision& decided = decision(variables[i], function, index_.event(target).site);
      const bool without =
          std::any_of(olds.begin(), olds.end(), [&](std::uint64_t old) { return contains(decided.behind, old); });
      const bool seen_apart =
          std::any_of(olds.begin(), olds.end(), [&](std::uint64_t old) { return contains(decided.not_behind, old); });
      if (!without && seen_apart) {
        search.found = example(false, write, read);
      } else if (!without) {
        search.unclear = true;
      }
    }
    if (points && !locked) {
      sources.push_back(read);
    }
  }
  // A pointer that stands in another block, which was handed over.
  for (const EventIndex source : sources) {
    if (search.found.has_value() || search.visited.size() >= kMostTargets || poll.stopped()) {
      return;
    }
    if (std::find(search.visited.begin(), search.visited.end(), source) == search.visited.end()) {
      explain(source, block_at(index_.event(source).object, source), search, poll);
    }
  }
}

HandOver HandOvers::explain(const Pair& pair, StopPoll& poll) {
  Search search{pair};
  explain(pair.second, block_at(index_.event(pair.second).object, pair.second), search, poll);
  if (search.found.has_value()) {
    return *search.found;
  }
  const bool open = search.unclear || !search.complete || poll.stopped() || search.visited.size() >= kMostTargets;
  HandOver none;
  none.verdict = open ? HandOverVerdict::kUnclear : HandOverVerdict::kContradicted;
  return none;
}

// Each access with the last of the other site in each other thread.
std::vector<HandOvers::Pair> HandOvers::pairs_of(SiteId low, SiteId high, StopPoll& poll) const {
  std::vector<EventIndex> events;
  for (const SiteId site : {low, high}) {
    const auto it = accesses_.find(site);
    if (it != accesses_.end() && (site == low || low != high)) {
      const std::size_t middle = events.size();
      events.insert(events.end(), it->second.begin(), it->second.end());
      std::inplace_merge(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(middle), events.end());
    }
    if (low == high) {
      break;
    }
  }
  struct Last {
    std::uint32_t thread = 0;
    EventIndex at_low = kNoEvent, at_high = kNoEvent;
  };
  FlatMap<std::vector<Last>> last;  // by variable
  std::vector<Pair> pairs;
  const auto add = [&](EventIndex first, EventIndex second) {
    const Event& a = index_.event(first);
    const Event& b = index_.event(second);
    const bool conflict = (is_write(a.op) || is_write(b.op)) && !(is_atomic(a.op) && is_atomic(b.op));
    const bool again = !pairs.empty() && pairs.back().first == first && pairs.back().second == second;
    if (conflict && !again) {
      pairs.push_back({first, second});
    }
  };
  for (const EventIndex e : events) {
    const SiteId site = index_.event(e).site;
    for (const VariableIndex v : index_.variables(e)) {
      if (poll.stop() || pairs.size() >= kMostInstances) {
        return pairs;
      }
      std::vector<Last>& threads = last[v];
      Last* own = nullptr;
      for (Last& each : threads) {
        if (each.thread == index_.thread(e)) {
          own = &each;
          continue;
        }
        const EventIndex other = site == low ? (low == high ? each.at_low : each.at_high) : each.at_low;
        if (other != kNoEvent) {
          add(other, e);
        }
      }
      own = own != nullptr ? own : &threads.emplace_back(Last{index_.thread(e)});
      (site == low ? own->at_low : own->at_high) = e;
    }
  }
  return pairs;
}

HandOver HandOvers::judge(SiteId low, SiteId high, StopPoll& poll) {
  const std::vector<Pair> pairs = pairs_of(low, high, poll);
  HandOver all;
  bool unclear = false;
  const std::size_t stride = std::max<std::size_t>(1, pairs.size() / kMostPairs);
  for (std::size_t i = 0; i < pairs.size() && all.pairs < kMostPairs; i += stride) {
    const Pair& pair = pairs[i];
    if (poll.stop(64)) {
      return {};
    }
    if (ordered(pair.first, pair.second) || locked_together(pair.first, pair.second)) {
      continue;
    }
    HandOver one = explain(pair, poll);
    one.pairs = all.pairs + 1;
    if (one.verdict == HandOverVerdict::kContradicted) {
      return one;
    }
    unclear = unclear || one.verdict == HandOverVerdict::kUnclear;
    all = one;
  }
  return unclear || poll.stopped() ? HandOver{} : all;  // each of them has to be recognised
}

}  // namespace sooth
