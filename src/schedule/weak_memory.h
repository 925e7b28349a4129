// What an atomic operation may see and do when memory is as weak as C++ allows: the rule of `--memory-model c11`. Pure and
// freestanding like strategy.h: the run time library asks inside the program, tests compare it with the axioms.
//
// Operations are done one after the other, in an order that extends program order and reads-from, so what does not follow
// from an execution of that kind (load buffering, values out of thin air) does not happen. For each location the latest
// stores are kept in modification order. A load may read any of them that coherence does not hide from its thread; a store
// may be put in front of others that are done already, as long as nothing orders it behind them; a read-modify-write comes
// right behind what it reads. Sequentially consistent operations are done in the order S of C++20, [atomics.order].
//
// What a thread knows is a View: for each slot, that is a thread, how many of its events happen before. Slot 0 counts
// sequentially consistent accesses, as if a thread of its own made them, which fences learn of. docs/weak-memory.md has the
// axioms and why this is the same.
#pragma once

#include <cstdint>

namespace sooth::weak {

inline constexpr std::uint32_t kSlots = 32;
inline constexpr std::uint32_t kSequential = 0;  // the slot that is no thread
inline constexpr std::uint32_t kHistory = 12;    // stores of a location that are kept
// A thread reads the same store so many times while there are newer ones, and then no more: stores become visible in a
// finite time, so loops that wait have an end.
inline constexpr std::uint8_t kPatience = 3;

enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcqRel, kSeqCst };
constexpr bool acquires(Order order) {
  return order == Order::kAcquire || order == Order::kAcqRel || order == Order::kSeqCst;
}
constexpr bool releases(Order order) {
  return order == Order::kRelease || order == Order::kAcqRel || order == Order::kSeqCst;
}

struct View {
  std::uint32_t at[kSlots] = {};

  constexpr void join(const View& other) {
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      at[i] = other.at[i] > at[i] ? other.at[i] : at[i];
    }
  }
};

struct Value {
  std::uint64_t low = 0, high = 0;

  friend constexpr bool operator==(const Value& a, const Value& b) { return a.low == b.low && a.high == b.high; }
};

// A thread. `slot` is from 1 on; another thread may have it after the end of one, as if it were the same that goes on.
struct Thread {
  std::uint32_t slot = 1;
  View now;       // what happens before its next event, and what fences of S add to that
  View released;  // ... of that, up to its last release fence
  View heard;     // what an acquire fence would learn
};

struct Store {
  Value value;
  View message;                     // what an acquire learns that reads it
  View seen;                        // by slot: the first of its events that wrote or read this; 0: none
  std::uint8_t again[kSlots] = {};  // by slot: so often read while there were newer ones
  bool follows = false;             // a read-modify-write of the one in front of it: nothing comes between the two
  std::uint32_t number = 0;  // from 0 in the order in which they were done; 0 is what was there before all others
  // The caller's: who did it, where.
  std::uint32_t writer = 0;
  std::uint64_t place = 0;
};

// Stores in modification order; memory holds the last. At least one while it is in use.
struct Location {
  std::uint32_t count = 0;
  std::uint32_t numbered = 0;  // stores so far
  Store stores[kHistory];

  constexpr const Store& newest() const { return stores[count - 1]; }
  // Only this can be read from here on, as if it had been there before all others. `message`: what may come with it.
  constexpr void restart(const Value& value, const View& message) {
    count = 1;
    stores[0] = Store{};
    stores[0].value = value;
    stores[0].message = message;
    stores[0].number = numbered++;
  }
};

// What an operation did.
struct Done {
  Value read;               // not of a store
  std::uint32_t place = 0;  // of what it read among the stores that there were; of a store: where it was put
  bool wrote = false;
  std::uint32_t written = 0;              // where that is now
  bool is_newest = false;                 // ... the last in modification order: memory changes
  std::uint32_t chosen = 0, choices = 1;  // as `choose` was asked; 1: it was not
};

// What all locations have in common. `choose(n)`, asked if n > 1, gives a number below n: 0 is the newest store, or a place
// behind all others, as if memory were sequentially consistent; the others are older.
class Memory {
 public:
  template <typename Choose>
  constexpr Done load(Thread& thread, Location& location, Order order, Choose choose) {
    return modify(
        thread, location, order, order, [](const Value&, Value&) { return false; }, choose);
  }

  template <typename Choose>
  constexpr Done store(Thread& thread, Location& location, Order order, const Value& value, Choose choose) {
    const std::uint32_t event = ++thread.now.at[thread.slot];
    const bool in_s = order == Order::kSeqCst;
    const std::uint32_t first = floor(thread, location, in_s) + 1;
    std::uint32_t places[kHistory + 1] = {};
    Done done;
    std::uint32_t count = 0;
    for (std::uint32_t at = location.count; at >= first; --at) {
      if (at == location.count || !location.stores[at].follows) {
        places[count++] = at;
      }
    }
    pick(count, choose, done);
    done.place = places[done.chosen];
    done.wrote = true;
    done.is_newest = done.place == location.count;
    Store fresh;
    fresh.value = value;
    fresh.message = releases(order) ? thread.now : thread.released;
    mark(fresh, thread, event, in_s ? ++sequential_ : 0);
    done.written = insert(location, done.place, fresh);
    return done;
  }

  // `change(old, next)` says whether the old value is replaced, and fills in by what. Where it is not, the operation is a load
  // with order `otherwise`.
  template <typename Change, typename Choose>
  constexpr Done modify(Thread& thread, Location& location, Order order, Order otherwise, Change change,
                        Choose choose) {
    const std::uint32_t event = ++thread.now.at[thread.slot];
    const std::uint32_t first = floor(thread, location, order == Order::kSeqCst);
    const std::uint32_t first_otherwise = floor(thread, location, otherwise == Order::kSeqCst);
    std::uint32_t places[kHistory] = {};
    Done done;
    std::uint32_t count = 0;
    const std::uint32_t last = location.count - 1;
    Value next;
    for (std::uint32_t at = location.count; at-- > 0;) {
      const Store& store = location.stores[at];
      const bool is_free = at == last || !location.stores[at + 1].follows;
      const bool is_possible = change(store.value, next)
                                   ? at >= first && is_free
                                   : at >= first_otherwise && (at == last || store.again[thread.slot] < kPatience);
      if (is_possible) {
        places[count++] = at;
      }
    }
    pick(count, choose, done);
    done.place = places[done.chosen];
    Store& read = location.stores[done.place];
    done.read = read.value;
    done.wrote = change(read.value, next);
    const Order effective = done.wrote ? order : otherwise;
    const std::uint32_t in_s = effective == Order::kSeqCst ? ++sequential_ : 0;
    mark(read, thread, event, in_s);
    read.again[thread.slot] = static_cast<std::uint8_t>(read.again[thread.slot] + (done.place != last ? 1 : 0));
    (acquires(effective) ? thread.now : thread.heard).join(read.message);
    if (done.wrote) {
      done.is_newest = done.place == last;
      Store fresh;
      fresh.value = next;
      fresh.follows = true;
      fresh.message = releases(effective) ? thread.now : thread.released;
      fresh.message.join(read.message);  // the release sequence goes on
      mark(fresh, thread, event, in_s);
      done.written = insert(location, done.place + 1, fresh);
    }
    return done;
  }

  constexpr void fence(Thread& thread, Order order) {
    ++thread.now.at[thread.slot];
    if (acquires(order)) {
      thread.now.join(thread.heard);
    }
    if (order == Order::kSeqCst) {
      thread.now.join(fences_);
      thread.now.at[kSequential] = sequential_;
      fences_ = thread.now;
    }
    if (releases(order)) {
      thread.released = thread.now;
    }
  }

 private:
  // The latest store that the thread must not look behind: it, or a read of it, comes before in what the thread knows. For a
  // sequentially consistent access that is also what comes before in S, and what happens before a fence in S.
  constexpr std::uint32_t floor(const Thread& thread, const Location& location, bool in_s) const {
    View view = thread.now;
    if (in_s) {
      view.join(fences_);
      view.at[kSequential] = sequential_;
    }
    std::uint32_t at = location.count - 1;
    while (at > 0 && !is_known(location.stores[at], view)) {
      --at;
    }
    return at;
  }
  static constexpr bool is_known(const Store& store, const View& view) {
    for (std::uint32_t i = 0; i < kSlots; ++i) {
      if (store.seen.at[i] != 0 && store.seen.at[i] <= view.at[i]) {
        return true;
      }
    }
    return false;
  }

  template <typename Choose>
  static constexpr void pick(std::uint32_t count, Choose choose, Done& done) {
    done.choices = count;
    done.chosen = count > 1 ? choose(count) : 0;
  }

  static constexpr void mark(Store& store, const Thread& thread, std::uint32_t event, std::uint32_t in_s) {
    const auto set = [&store](std::uint32_t slot, std::uint32_t value) {
      store.seen.at[slot] = store.seen.at[slot] == 0 ? value : store.seen.at[slot];
    };
    set(thread.slot, event);
    set(kSequential, in_s);
  }

  // At the place, from 1 on. The oldest one is forgotten when there are too many. Returns where it is now.
  static constexpr std::uint32_t insert(Location& location, std::uint32_t at, const Store& fresh) {
    const bool forgets = location.count == kHistory;
    if (forgets) {
      for (std::uint32_t i = 1; i < at; ++i) {
        location.stores[i - 1] = location.stores[i];
      }
      --at;
    } else {
      for (std::uint32_t i = location.count++; i > at; --i) {
        location.stores[i] = location.stores[i - 1];
      }
    }
    location.stores[at] = fresh;
    location.stores[at].number = location.numbered++;
    return at;
  }

  View fences_;                   // of all sequentially consistent fences so far
  std::uint32_t sequential_ = 0;  // sequentially consistent accesses so far
};

}  // namespace sooth::weak
