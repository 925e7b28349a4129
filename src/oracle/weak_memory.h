// Which outcomes the C++ memory model allows of a tiny program of atomics, by enumerating executions (reads-from,
// modification orders) and asking the axioms. Slow and obviously right. docs/weak-memory.md states the axioms.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sooth::oracle {

enum class LitmusOrder : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcqRel, kSeqCst };

struct LitmusStep {
  enum class Kind : std::uint8_t { kLoad, kStore, kAdd, kExchange, kCompare, kFence };
  Kind kind = Kind::kLoad;
  std::uint32_t location = 0;  // from 0: x, y, z, ...
  std::uint32_t value = 0;     // that is stored or added
  std::uint32_t expected = 0;  // of kCompare
  LitmusOrder order = LitmusOrder::kRelaxed;
  LitmusOrder failure = LitmusOrder::kRelaxed;  // of kCompare
};
// The steps of each thread. All locations are 0 at first.
struct Litmus {
  std::vector<std::vector<LitmusStep>> threads;
  std::uint32_t locations = 0;
};

// "Wx1.rlx Wy1.rel | Ry.acq Rx.rlx". Steps: W store, R load, A fetch_add, E exchange, Cx01.ar.rlx compare-exchange of 0
// by 1 with both orders, F.sc fence. Locations x, y, z, w; values are digits; orders rlx, acq, rel, ar, sc. nullopt: it is
// nothing like that.
std::optional<Litmus> parse_litmus(std::string_view text);

enum class SequentialRule : std::uint8_t {
  kRc11,  // psc is acyclic (Lahav, Vafeiadis, Kang, Hur, Dreyer: Repairing sequential consistency in C/C++11, PLDI 2017)
  kOrdered,  // C++20's conditions on S, and S together with program order and reads-from is acyclic
};

// What loads and read-modify-writes read, thread by thread, then the last value of each location: "1 0 / 1 1".
std::set<std::string> weak_outcomes(const Litmus& program, SequentialRule rule);

}  // namespace sooth::oracle
