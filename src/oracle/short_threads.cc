#include "oracle/short_threads.h"

#include <algorithm>

#include "oracle/random.h"

namespace sooth::oracle {
namespace {

constexpr std::size_t kMaxThreads = 12;
constexpr std::size_t kMaxRunning = 4;
constexpr std::uint64_t kLocks = 2;

class ShortThreads {
 public:
  explicit ShortThreads(std::uint64_t seed) : random_(seed), events_wanted_(random_.between(20, 56)) {}

  std::vector<Event> make() {
    while (events_.size() < events_wanted_) {
      step();
    }
    return std::move(events_);
  }

 private:
  enum class Phase : std::uint8_t { kRunning, kOver, kJoined };
  struct Held {
    std::uint64_t lock = 0;
    bool shared = false;
  };
  struct Thread {
    Phase phase = Phase::kRunning;
    std::vector<Held> held;
  };

  std::vector<std::uint32_t> in(Phase phase) const {
    std::vector<std::uint32_t> all;
    for (std::uint32_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].phase == phase) {
        all.push_back(t);
      }
    }
    return all;
  }

  Event& emit(Op op, std::uint64_t object) {
    Event e;
    e.object = object;
    e.thread = ThreadId{current_};
    e.site = SiteId{random_.below(6)};
    e.op = op;
    events_.push_back(e);
    return events_.back();
  }

  void step() {
    std::vector<std::uint32_t> running = in(Phase::kRunning);
    current_ = random_.percent(30) ? 0 : random_.pick(running);
    const std::uint32_t what = random_.below(100);
    if (what < 24) {
      emit(random_.percent(50) ? Op::kWrite : Op::kRead, 64 + 8 * random_.below(2)).size = 8;
    } else if (what < 56) {
      lock();
    } else if (what < 62) {
      atomic();
    } else if (what < 67) {
      constexpr Op kEdges[] = {Op::kNotify,  Op::kWait,    Op::kHappensBefore, Op::kHappensAfter,
                               Op::kSemPost, Op::kSemWait, Op::kBarrierArrive, Op::kBarrierLeave};
      emit(random_.pick(kEdges), 0);
    } else if (what < 80) {
      fork(running.size());
    } else if (what < 89) {
      end();
    } else {
      join();
    }
  }

  void lock() {
    Thread& own = threads_[current_];
    const std::uint64_t lock = random_.below(kLocks);
    const auto held = [&](const Thread& thread, bool shared_counts) {
      return std::any_of(thread.held.begin(), thread.held.end(),
                         [&](const Held& h) { return h.lock == lock && (shared_counts || !h.shared); });
    };
    if (held(own, true) || (!own.held.empty() && random_.percent(25))) {
      const std::size_t i = random_.below(own.held.size());
      Event& e = emit(Op::kRelease, own.held[i].lock);
      e.flags = own.held[i].shared ? kShared : 0;
      own.held.erase(own.held.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
    const bool shared = random_.percent(30);
    if (std::any_of(threads_.begin(), threads_.end(), [&](const Thread& t) { return held(t, !shared); })) {
      return;
    }
    emit(Op::kAcquire, lock).flags = shared ? kShared : 0;
    own.held.push_back({lock, shared});
  }

  void atomic() {
    constexpr MemoryOrder kOrders[] = {MemoryOrder::kRelaxed, MemoryOrder::kAcquire, MemoryOrder::kRelease,
                                       MemoryOrder::kAcqRel};
    if (random_.percent(35)) {
      constexpr MemoryOrder kFences[] = {MemoryOrder::kAcquire, MemoryOrder::kRelease, MemoryOrder::kAcqRel};
      emit(Op::kFence, 0).order = random_.pick(kFences);
      return;
    }
    constexpr Op kOps[] = {Op::kAtomicLoad, Op::kAtomicStore, Op::kAtomicRmw};
    const Op op = random_.pick(kOps);
    MemoryOrder order = random_.pick(kOrders);
    if ((op == Op::kAtomicLoad && order != MemoryOrder::kAcquire) ||
        (op == Op::kAtomicStore && order != MemoryOrder::kRelease)) {
      order = MemoryOrder::kRelaxed;
    }
    Event& e = emit(op, 128);
    e.size = 8;
    e.order = order;
  }

  void fork(std::size_t running) {
    if (threads_.size() < kMaxThreads && running < kMaxRunning) {
      emit(Op::kFork, threads_.size());
      threads_.emplace_back();
    }
  }

  // Locks that it holds stay locked for ever.
  void end() {
    Thread& own = threads_[current_];
    if (current_ != 0 && (own.held.empty() || random_.percent(15))) {
      emit(Op::kEnd, 0);
      own.phase = Phase::kOver;
    }
  }

  void join() {
    std::vector<std::uint32_t> over = in(Phase::kOver);
    if (!over.empty()) {
      const std::uint32_t t = random_.pick(over);
      emit(Op::kJoin, t);
      threads_[t].phase = Phase::kJoined;
    }
  }

  Random random_;
  const std::size_t events_wanted_;
  std::vector<Thread> threads_{1};
  std::uint32_t current_ = 0;
  std::vector<Event> events_;
};

}  // namespace

std::vector<Event> short_threads(std::uint64_t seed) { return ShortThreads(seed).make(); }

}  // namespace sooth::oracle
