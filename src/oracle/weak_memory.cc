#include "oracle/weak_memory.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace sooth::oracle {
namespace {

// A relation on events, of which there are few.
class EventPairs {
 public:
  explicit EventPairs(std::size_t events) : rows_(events, 0) {}

  std::size_t size() const { return rows_.size(); }
  bool has(std::size_t a, std::size_t b) const { return (rows_[a] >> b & 1) != 0; }
  void add(std::size_t a, std::size_t b) { rows_[a] |= std::uint64_t{1} << b; }

  EventPairs operator|(const EventPairs& other) const {
    EventPairs sum = *this;
    for (std::size_t i = 0; i < size(); ++i) {
      sum.rows_[i] |= other.rows_[i];
    }
    return sum;
  }
  // First this, then the other.
  EventPairs then(const EventPairs& other) const {
    EventPairs both(size());
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) {
        both.rows_[a] |= has(a, b) ? other.rows_[b] : 0;
      }
    }
    return both;
  }
  EventPairs or_same() const {
    EventPairs same = *this;
    for (std::size_t i = 0; i < size(); ++i) {
      same.add(i, i);
    }
    return same;
  }
  EventPairs closed() const {
    EventPairs all = *this;
    for (std::size_t b = 0; b < size(); ++b) {
      for (std::size_t a = 0; a < size(); ++a) {
        all.rows_[a] |= all.has(a, b) ? all.rows_[b] : 0;
      }
    }
    return all;
  }
  bool is_irreflexive() const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (has(i, i)) {
        return false;
      }
    }
    return true;
  }
  bool is_acyclic() const { return closed().is_irreflexive(); }
  template <typename Keep>
  EventPairs where(Keep keep) const {
    EventPairs some(size());
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) {
        if (has(a, b) && keep(a, b)) {
          some.add(a, b);
        }
      }
    }
    return some;
  }

 private:
  std::vector<std::uint64_t> rows_;
};

struct LitmusEvent {
  LitmusStep step;
  bool is_initial = false;
  bool is_read = false, is_write = false;  // as turned out
  std::uint32_t read = 0, written = 0;
  LitmusOrder order = LitmusOrder::kRelaxed;  // as turned out
};

bool is_acquire(LitmusOrder order) {
  return order == LitmusOrder::kAcquire || order == LitmusOrder::kAcqRel || order == LitmusOrder::kSeqCst;
}
bool is_release(LitmusOrder order) {
  return order == LitmusOrder::kRelease || order == LitmusOrder::kAcqRel || order == LitmusOrder::kSeqCst;
}

class LitmusExecutions {
 public:
  LitmusExecutions(const Litmus& program, SequentialRule rule)
      : rule_(rule), locations_(program.locations), sb_(count_of(program)), source_(count_of(program), 0) {
    for (std::uint32_t i = 0; i < program.locations; ++i) {
      LitmusEvent event;
      event.step = {LitmusStep::Kind::kStore, i, 0, 0, LitmusOrder::kRelaxed, LitmusOrder::kRelaxed};
      event.is_initial = event.is_write = true;
      events_.push_back(event);
    }
    for (const std::vector<LitmusStep>& thread : program.threads) {
      const std::size_t first = events_.size();
      for (const LitmusStep& step : thread) {
        LitmusEvent event;
        event.step = step;
        event.is_read = step.kind != LitmusStep::Kind::kStore && step.kind != LitmusStep::Kind::kFence;
        for (std::size_t i = 0; i < locations_; ++i) {
          sb_.add(i, events_.size());
        }
        for (std::size_t i = first; i < events_.size(); ++i) {
          sb_.add(i, events_.size());
        }
        if (event.is_read) {
          reads_.push_back(events_.size());
        }
        events_.push_back(event);
      }
    }
  }

  std::set<std::string> outcomes() {
    choose_source(0);
    return std::move(outcomes_);
  }

 private:
  static std::size_t count_of(const Litmus& program) {
    return std::accumulate(program.threads.begin(), program.threads.end(), std::size_t{program.locations},
                           [](std::size_t sum, const auto& thread) { return sum + thread.size(); });
  }
  static bool may_write(const LitmusEvent& event) {
    return event.step.kind != LitmusStep::Kind::kLoad && event.step.kind != LitmusStep::Kind::kFence;
  }

  void choose_source(std::size_t next) {
    if (next == reads_.size()) {
      evaluate();
      return;
    }
    const std::size_t read = reads_[next];
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (i != read && may_write(events_[i]) && events_[i].step.location == events_[read].step.location) {
        source_[read] = i;
        choose_source(next + 1);
      }
    }
  }

  // Values follow from who reads from whom, if nobody's comes out of thin air.
  void evaluate() {
    EventPairs rf(events_.size());
    for (const std::size_t read : reads_) {
      rf.add(source_[read], read);
    }
    const EventPairs before = (sb_ | rf).closed();
    if (!before.is_irreflexive()) {
      return;
    }
    std::vector<std::size_t> order(events_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto predecessors = [&](std::size_t event) {
      return std::count_if(order.begin(), order.end(), [&](std::size_t other) { return before.has(other, event); });
    };
    std::vector<std::ptrdiff_t> rank(events_.size());
    for (std::size_t i = 0; i < rank.size(); ++i) {
      rank[i] = predecessors(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
    for (const std::size_t i : order) {
      if (!evaluate(i)) {
        return;
      }
    }
    writes_.assign(locations_, {});
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].is_write) {
        writes_[events_[i].step.location].push_back(i);
      }
    }
    choose_modification_order(0, rf);
  }

  // False: it reads from what turned out to be no write.
  bool evaluate(std::size_t i) {
    LitmusEvent& event = events_[i];
    const LitmusStep& step = event.step;
    event.order = step.order;
    event.is_write = may_write(event);
    event.written = step.value;
    if (!event.is_read) {
      return true;
    }
    if (!events_[source_[i]].is_write) {
      return false;
    }
    event.read = events_[source_[i]].written;
    if (step.kind == LitmusStep::Kind::kAdd) {
      event.written = event.read + step.value;
    }
    if (step.kind == LitmusStep::Kind::kCompare && event.read != step.expected) {
      event.is_write = false;
      event.order = step.failure;
    }
    return true;
  }

  void choose_modification_order(std::uint32_t location, const EventPairs& rf) {
    if (location == locations_) {
      judge(rf);
      return;
    }
    // The initial one is the first of them, and stays it.
    std::vector<std::size_t>& writes = writes_[location];
    do {
      choose_modification_order(location + 1, rf);
    } while (std::next_permutation(writes.begin() + 1, writes.end()));
  }

  // Release sequences are those of C++20: a store and the read-modify-writes behind it.
  EventPairs synchronizes(const EventPairs& rf) const {
    const EventPairs through = rf.where([&](std::size_t, std::size_t b) { return events_[b].is_write; });
    const EventPairs sequence = through.closed().or_same();
    EventPairs sw(events_.size());
    for (std::size_t write = 0; write < events_.size(); ++write) {
      for (std::size_t last = 0; last < events_.size(); ++last) {
        for (std::size_t read = 0; read < events_.size(); ++read) {
          if (events_[write].is_write && !events_[write].is_initial && sequence.has(write, last) &&
              rf.has(last, read)) {
            connect(write, read, sw);
          }
        }
      }
    }
    return sw;
  }
  void connect(std::size_t write, std::size_t read, EventPairs& sw) const {
    for (std::size_t a = 0; a < events_.size(); ++a) {
      const bool fence = events_[a].step.kind == LitmusStep::Kind::kFence;
      const bool gives = is_release(events_[a].order) && (a == write || (fence && sb_.has(a, write)));
      for (std::size_t b = 0; gives && b < events_.size(); ++b) {
        const bool other_fence = events_[b].step.kind == LitmusStep::Kind::kFence;
        if (is_acquire(events_[b].order) && (b == read || (other_fence && sb_.has(read, b)))) {
          sw.add(a, b);
        }
      }
    }
  }

  void judge(const EventPairs& rf) {
    EventPairs mo(events_.size());
    for (const std::vector<std::size_t>& writes : writes_) {
      for (std::size_t i = 0; i < writes.size(); ++i) {
        for (std::size_t k = i + 1; k < writes.size(); ++k) {
          mo.add(writes[i], writes[k]);
        }
      }
    }
    EventPairs rb(events_.size());
    for (const std::size_t read : reads_) {
      for (std::size_t write = 0; write < events_.size(); ++write) {
        if (write != read && mo.has(source_[read], write)) {
          rb.add(read, write);
        }
      }
    }
    const EventPairs eco = (rf | mo | rb).closed();
    const EventPairs hb = (sb_ | synchronizes(rf)).closed();
    // Coherence, and nothing between a read-modify-write and what it reads.
    if (!eco.is_irreflexive() || !hb.is_irreflexive() || !hb.then(eco).is_irreflexive() ||
        !rb.then(mo).is_irreflexive()) {
      return;
    }
    const bool allowed = rule_ == SequentialRule::kRc11 ? is_rc11(hb, eco, mo, rb) : is_ordered(hb, eco, rf);
    if (allowed) {
      outcomes_.insert(outcome());
    }
  }

  bool is_sc(std::size_t i) const { return events_[i].order == LitmusOrder::kSeqCst && !events_[i].is_initial; }
  bool is_fence(std::size_t i) const { return events_[i].step.kind == LitmusStep::Kind::kFence; }
  bool same_location(std::size_t a, std::size_t b) const {
    return !is_fence(a) && !is_fence(b) && events_[a].step.location == events_[b].step.location;
  }
  // The identity on events for which it holds.
  template <typename Holds>
  EventPairs those(Holds holds) const {
    EventPairs some(events_.size());
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (holds(i)) {
        some.add(i, i);
      }
    }
    return some;
  }

  bool is_rc11(const EventPairs& hb, const EventPairs& eco, const EventPairs& mo, const EventPairs& rb) const {
    const EventPairs sc = those([&](std::size_t i) { return is_sc(i); });
    const EventPairs fences = those([&](std::size_t i) { return is_sc(i) && is_fence(i); });
    const EventPairs elsewhere = sb_.where([&](std::size_t a, std::size_t b) { return !same_location(a, b); });
    const EventPairs hb_here = hb.where([&](std::size_t a, std::size_t b) { return same_location(a, b); });
    const EventPairs scb = sb_ | elsewhere.then(hb).then(elsewhere) | hb_here | mo | rb;
    const EventPairs left = sc | fences.then(hb.or_same());
    const EventPairs right = sc | hb.or_same().then(fences);
    const EventPairs between_fences = fences.then(hb | hb.then(eco).then(hb)).then(fences);
    return (left.then(scb).then(right) | between_fences).is_acyclic();
  }

  // [atomics.order], 4.1 to 4.4.
  bool is_ordered(const EventPairs& hb, const EventPairs& eco, const EventPairs& rf) const {
    const EventPairs sc = those([&](std::size_t i) { return is_sc(i); });
    const EventPairs fences = those([&](std::size_t i) { return is_sc(i) && is_fence(i); });
    const EventPairs left = sc | fences.then(hb);
    const EventPairs right = sc | hb.then(fences);
    return (left.then(eco).then(right) | sb_ | rf).is_acyclic();
  }

  std::string outcome() const {
    std::string text;
    for (const std::size_t read : reads_) {
      text += std::to_string(events_[read].read) + " ";
    }
    text += "/";
    for (const std::vector<std::size_t>& writes : writes_) {
      text += " " + std::to_string(events_[writes.back()].written);
    }
    return text;
  }

  SequentialRule rule_;
  std::uint32_t locations_;
  std::vector<LitmusEvent> events_;  // initial ones first, then thread by thread
  EventPairs sb_;
  std::vector<std::size_t> reads_;
  std::vector<std::size_t> source_;               // of a read
  std::vector<std::vector<std::size_t>> writes_;  // of a location, in modification order
  std::set<std::string> outcomes_;
};

std::optional<LitmusOrder> parse_order(std::string_view text) {
  constexpr std::array<std::string_view, 5> kNames = {"rlx", "acq", "rel", "ar", "sc"};
  const auto* found = std::find(kNames.begin(), kNames.end(), text);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<LitmusOrder>(found - kNames.begin()));
}

std::optional<LitmusStep> parse_step(std::string_view word) {
  constexpr std::string_view kLetters = "RWAECF", kLocations = "xyzw";
  const std::size_t kind = kLetters.find(word[0]);
  const std::size_t dot = word.find('.');
  if (kind == std::string_view::npos || dot == std::string_view::npos) {
    return std::nullopt;
  }
  LitmusStep step;
  step.kind = static_cast<LitmusStep::Kind>(kind);
  constexpr std::array<std::size_t, 6> kLengths = {2, 3, 3, 3, 4, 1};  // up to the dot
  if (dot != kLengths[kind]) {
    return std::nullopt;
  }
  if (step.kind != LitmusStep::Kind::kFence) {
    const std::size_t location = kLocations.find(word[1]);
    if (location == std::string_view::npos) {
      return std::nullopt;
    }
    step.location = static_cast<std::uint32_t>(location);
  }
  const auto digit = [&](std::size_t at) { return static_cast<std::uint32_t>(word[at] - '0'); };
  if (step.kind == LitmusStep::Kind::kCompare) {
    step.expected = digit(2);
    step.value = digit(3);
  } else if (dot == 3) {
    step.value = digit(2);
  }
  std::string_view orders = word.substr(dot + 1);
  if (step.kind == LitmusStep::Kind::kCompare) {
    const std::size_t second = orders.find('.');
    const auto failure = second == std::string_view::npos ? std::nullopt : parse_order(orders.substr(second + 1));
    if (!failure) {
      return std::nullopt;
    }
    step.failure = *failure;
    orders = orders.substr(0, second);
  }
  const auto order = parse_order(orders);
  if (!order) {
    return std::nullopt;
  }
  step.order = *order;
  return step;
}

}  // namespace

std::optional<Litmus> parse_litmus(std::string_view text) {
  Litmus program;
  program.threads.emplace_back();
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word.empty()) {
      continue;
    }
    if (word == "|") {
      program.threads.emplace_back();
      continue;
    }
    const auto step = parse_step(word);
    if (!step) {
      return std::nullopt;
    }
    program.threads.back().push_back(*step);
    if (step->kind != LitmusStep::Kind::kFence) {
      program.locations = std::max(program.locations, step->location + 1);
    }
  }
  return program;
}

std::set<std::string> weak_outcomes(const Litmus& program, SequentialRule rule) {
  return LitmusExecutions(program, rule).outcomes();
}

}  // namespace sooth::oracle
