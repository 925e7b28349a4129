#include "order/made_locks.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/flat_map.h"
#include "order/made_words.h"
#include "order/must_order.h"
#include "order/thread_clocks.h"

namespace sooth {
namespace {

constexpr std::uint64_t kGranule = 8;
constexpr std::uint32_t kNoWord = 0;  // numbers of words start at 1

// The latest rmws of a thread: one of them may have been for a ticket.
class Tickets {
 public:
  // Another thread has the slot: what the one before it drew nobody uses any more.
  void belong_to(ThreadId thread) {
    if (thread_ != thread) {
      *this = {};
      thread_ = thread;
    }
  }
  void add(TurnLock::Ticket ticket) {
    for (TurnLock::Ticket& known : std::span(all_).first(count_)) {
      if (known.word == ticket.word) {
        known = ticket;
        return;
      }
    }
    all_[next_] = ticket;
    next_ = (next_ + 1) % all_.size();
    count_ = std::min(count_ + 1, all_.size());
  }
  std::span<const TurnLock::Ticket> all() const { return std::span(all_).first(count_); }

 private:
  std::array<TurnLock::Ticket, 4> all_;
  std::size_t count_ = 0, next_ = 0;
  ThreadId thread_{};
};

// One atomic variable, as long as its memory is not allocated anew.
struct FollowedWord {
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  std::uint32_t next = kNoWord;  // in the same granule
  FlagLock flag;
  TurnLock turn;
  // Whether every rmw adds one, and nobody stores behind the first of them.
  bool counts = true;
  std::optional<std::uint64_t> next_number;
  EventId first{}, last{};  // accesses
  bool accessed = false;

  bool touches(const Event& e) const { return e.object < address + size && address < e.object + e.size; }
  bool is(const Event& e) const { return e.object == address && e.size == size; }
  void rule_out() {
    flag.rule_out();
    turn.rule_out();
    counts = false;
  }
  void note(EventId id) {
    first = accessed ? first : id;
    last = id;
    accessed = true;
  }
};

}  // namespace

class MadeLockFinder::Follower {
 public:
  explicit Follower(std::size_t max_steps) : max_steps_(max_steps), hard_(*this, KeepOrder::kHard) {}

  void watch(std::span<const Event> events) {
    for (const Event& e : events) {
      if (is_atomic(e.op)) {
        watched_.push_back({e.object, e.size});
      }
    }
    std::sort(watched_.begin(), watched_.end());
    watched_.erase(std::unique(watched_.begin(), watched_.end()), watched_.end());
    for (const auto& [address, size] : watched_) {
      find_or_add(address, size);
    }
  }

  void consume(const Batch& batch, const Batch& slotted) {
    for (std::size_t i = 0; i < batch.events.size() && !too_many_; ++i) {
      const Event& e = slotted.events[i];
      hard_.incoming(e);
      slot_ = e.thread;
      step(batch.events[i], batch.id(i), i < batch.values.size() ? &batch.values[i] : nullptr);
      hard_.outgoing(e);
      if (e.op == Op::kEnd) {
        clocks_.rest(e.thread);
      }
    }
  }

  bool any_candidates() const { return !too_many_ && (!semaphores_.empty() || any_rmw_ || !found_.empty()); }

  std::vector<MadeLock> finish() {
    for (std::uint32_t word = 1; word <= words_.size(); ++word) {
      close(word);
    }
    for (auto& [address, semaphore] : semaphores_) {
      keep(semaphore.finish(), address);
    }
    if (too_many_) {
      return {};
    }
    add_turns();
    std::sort(found_.begin(), found_.end(),
              [](const MadeLock& a, const MadeLock& b) { return a.steps.front().event < b.steps.front().event; });
    return std::move(found_);
  }

  // MustOrder's host.
  const VectorClock& current(ThreadId thread) { return clocks_.of(thread); }
  void sent(ThreadId thread) { clocks_.advance(thread); }
  void receive(ThreadId thread, const VectorClock& message) { clocks_.of(thread).join(message); }

 private:
  struct Turn {
    MadeLock lock;
    std::vector<std::uint32_t> counters;
  };

  void step(const Event& e, EventId id, const Value* value) {
    switch (e.op) {
      case Op::kRead:
      case Op::kWrite: return access(e, id, value);
      case Op::kAtomicLoad:
      case Op::kAtomicStore:
      case Op::kAtomicRmw: find_or_add(e.object, e.size); return access(e, id, value);
      case Op::kSemPost:
      case Op::kSemWait: return semaphore(e, id);
      case Op::kAlloc: return allocate(e);
      case Op::kFree: return each_in(e, [&](std::uint32_t word) { close(word); });
      case Op::kFence:
      case Op::kAcquire:
      case Op::kRelease:
      case Op::kNotify:
      case Op::kWait:
      case Op::kBarrierArrive:
      case Op::kBarrierLeave:
      case Op::kFork:
      case Op::kJoin:
      case Op::kBegin:
      case Op::kEnd:
      case Op::kHappensBefore:
      case Op::kHappensAfter:
      case Op::kEnter:
      case Op::kExit:
      case Op::kCallBegin:
      case Op::kCallEnd:
      case Op::kMisuse:
      case Op::kCondNotify:
      case Op::kCondWait:
      case Op::kAcquireFailed: return;
    }
  }

  void find_or_add(std::uint64_t address, std::uint32_t size) {
    std::uint32_t& head = granules_[address / kGranule];
    for (std::uint32_t word = head; word != kNoWord; word = words_[word - 1].next) {
      if (words_[word - 1].address == address && words_[word - 1].size == size) {
        return;
      }
    }
    FollowedWord& added = words_.emplace_back();
    added.address = address;
    added.size = size;
    added.next = std::exchange(head, static_cast<std::uint32_t>(words_.size()));
    if (size > kGranule || address % kGranule + size > kGranule) {
      added.rule_out();
    }
  }

  // Calls visit(word) for the words that share a byte with the event.
  template <typename Visit>
  void each_in(const Event& e, Visit&& visit) {
    if (words_.empty() || e.size == 0) {
      return;
    }
    const std::uint64_t from = e.object / kGranule;
    const std::uint64_t to = (e.object + e.size - 1) / kGranule;
    if (to - from >= words_.size()) {  // a long range, and few words
      for (std::uint32_t word = 1; word <= words_.size(); ++word) {
        visit_if(word, e, visit);
      }
      return;
    }
    for (std::uint64_t granule = from; granule <= to; ++granule) {
      const std::uint32_t* const head = granules_.find(granule);
      for (std::uint32_t word = head == nullptr ? kNoWord : *head; word != kNoWord;) {
        const std::uint32_t next = words_[word - 1].next;
        visit_if(word, e, visit);
        word = next;
      }
    }
  }
  template <typename Visit>
  void visit_if(std::uint32_t word, const Event& e, Visit&& visit) {
    if (words_[word - 1].touches(e)) {
      visit(word);
    }
  }

  void access(const Event& e, EventId id, const Value* value) {
    each_in(e, [&](std::uint32_t number) {
      FollowedWord& word = words_[number - 1];
      if (!word.is(e) || value == nullptr || value->size == 0 || value->size > kGranule) {
        return word.rule_out();
      }
      word.note(id);
      const std::size_t before = word.flag.size() + word.turn.size();
      const WordAccess access{e, id, value->low, slot_, clocks_.of(slot_)};
      word.flag.step(access);
      Tickets& tickets = tickets_[raw(slot_)];
      tickets.belong_to(e.thread);
      word.turn.step(access, tickets.all());
      count_up(word, access);
      if (e.op == Op::kAtomicRmw) {
        any_rmw_ = true;
        tickets.add({number, value->low});
      }
      steps_ += word.flag.size() + word.turn.size() - before;
      too_many_ = steps_ > max_steps_;
    });
  }

  static void count_up(FollowedWord& word, const WordAccess& access) {
    if (access.event.op == Op::kAtomicRmw) {
      word.counts = word.counts && word.next_number.value_or(access.value) == access.value;
      word.next_number = access.value + 1;
    } else if (is_write(access.event.op)) {
      word.counts = word.counts && !word.next_number.has_value();
    }
  }

  void semaphore(const Event& e, EventId id) {
    SemaphoreLock& semaphore = semaphores_[e.object];
    const std::size_t before = semaphore.size();
    semaphore.step(e, id, slot_, clocks_.of(slot_));
    steps_ += semaphore.size() - before;
    too_many_ = steps_ > max_steps_;
  }

  // Other things lie there from now on.
  void allocate(const Event& e) {
    each_in(e, [&](std::uint32_t word) { close(word); });
    const std::uint64_t end = e.object + e.size;
    for (auto it = semaphores_.lower_bound(e.object); it != semaphores_.end() && it->first < end; ++it) {
      it->second.rule_out();
    }
  }

  // The word begins anew.
  void close(std::uint32_t number) {
    FollowedWord& word = words_[number - 1];
    std::optional<MadeLock> turn = word.turn.finish();
    if (turn.has_value()) {
      turn->object = word.address;
      turn->words.push_back({word.address, word.first, word.last});
      turns_.push_back({std::move(*turn), {word.turn.counters().begin(), word.turn.counters().end()}});
    }
    if (word.counts && word.next_number.has_value()) {
      counted_[number].push_back({word.address, word.first, word.last});
    }
    std::optional<MadeLock> flag = word.flag.finish();
    if (flag.has_value()) {
      flag->words.push_back({word.address, flag->steps.front().event, word.last});
    }
    keep(std::move(flag), word.address);
    FollowedWord fresh;
    fresh.address = word.address;
    fresh.size = word.size;
    fresh.next = word.next;
    word = std::move(fresh);
  }

  void keep(std::optional<MadeLock> lock, std::uint64_t object) {
    if (lock.has_value()) {
      lock->object = object;
      found_.push_back(std::move(*lock));
    }
  }

  // Ticket locks, with the word that the tickets came from.
  void add_turns() {
    for (Turn& turn : turns_) {
      const EventId first = turn.lock.steps.front().event;
      for (const std::uint32_t counter : turn.counters) {
        const auto known = counted_.find(counter);
        if (known == counted_.end()) {
          continue;
        }
        const auto word = std::find_if(known->second.begin(), known->second.end(),
                                       [&](const MadeLock::Word& w) { return w.first < first; });
        if (word != known->second.end()) {
          turn.lock.words.push_back(*word);
          found_.push_back(std::move(turn.lock));
          break;
        }
      }
    }
  }

  const std::size_t max_steps_;
  std::size_t steps_ = 0;
  bool too_many_ = false, any_rmw_ = false;
  ThreadId slot_{};      // of the thread of the event at hand
  ThreadClocks clocks_;  // by slot
  MustOrder<Follower, VectorClock> hard_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> watched_;  // address and size
  FlatMap<std::uint32_t> granules_;                               // the first word of each
  std::deque<FollowedWord> words_;
  FlatMap<Tickets> tickets_;  // by slot
  std::map<std::uint64_t, SemaphoreLock> semaphores_;
  std::map<std::uint32_t, std::vector<MadeLock::Word>> counted_;  // by word: those that count up
  std::vector<Turn> turns_;
  std::vector<MadeLock> found_;
};

MadeLockFinder::MadeLockFinder(std::size_t max_steps) : follower_(std::make_unique<Follower>(max_steps)) {}
MadeLockFinder::~MadeLockFinder() = default;
void MadeLockFinder::watch(std::span<const Event> events) { follower_->watch(events); }
void MadeLockFinder::consume(const Batch& batch, const Batch& slotted) { follower_->consume(batch, slotted); }
bool MadeLockFinder::any_candidates() const { return follower_->any_candidates(); }
std::vector<MadeLock> MadeLockFinder::finish() { return follower_->finish(); }

std::vector<MadeLock> find_made_locks(std::span<const Event> events, std::span<const Value> values) {
  MadeLockFinder finder;
  finder.watch(events);
  Batch all;
  all.events = events;
  all.values = values;
  finder.consume(all);
  return finder.finish();
}

}  // namespace sooth
