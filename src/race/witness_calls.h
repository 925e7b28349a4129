// Call order as the witness checker reads it off a trace: docs/semantics.md section 13, without any code of the
// analyses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "race/range_map.h"
#include "trace/batch.h"

namespace sooth {

// What must come before an event because something that is not recorded may have told its thread. Program order is not
// among it. Each event costs a logarithm and the pieces that calls have cut its bytes into; a begin or an end those of
// its reach, and a look at every call that is open.
class CallEdges {
 public:
  // `reaches` are sorted by call and must outlive it.
  explicit CallEdges(std::span<const Reach> reaches);

  // Every event once, in trace order. Only of `wanted` ones will be asked what they need.
  void add(std::uint32_t id, const Event& e, bool wanted);

  // An event that must come before `id` and that is not done; nothing when all are.
  template <typename Done>
  std::optional<std::uint32_t> missing(std::uint32_t id, Done&& done) const {
    auto need =
        std::lower_bound(needs_.begin(), needs_.end(), id, [](const Need& n, std::uint32_t e) { return n.event < e; });
    for (; need != needs_.end() && need->event == id; ++need) {
      if (!done(need->before)) {
        return need->before;
      }
    }
    return std::nullopt;
  }

  // Whether any call of the trace may have touched a byte of the access.
  bool reaches(const Event& access) const { return reaches(access.object, access.size); }
  bool reaches(std::uint64_t address, std::uint64_t size) const {
    return reaches(Bytes{address, address + (size - 1)});
  }

 private:
  struct Need {
    std::uint32_t event;
    std::uint32_t before;
  };
  struct Bytes {
    std::uint64_t first;
    std::uint64_t last;
  };
  struct Step {
    ThreadId thread;
    std::uint32_t event;
  };
  using Steps = std::vector<Step>;  // of each thread the latest
  struct Call {
    ThreadId thread;
    std::uint64_t object;
    std::vector<Bytes> bytes;  // sorted, apart from each other
    bool everything = false;   // also what has no bytes
    Steps told;                // what its unseen steps may know of
  };

  bool reaches(const Bytes& bytes) const;
  static void note(Steps& steps, Step step);
  static void note(Steps& steps, const Steps& more);
  static bool overlap(const std::vector<Bytes>& a, const std::vector<Bytes>& b);
  static bool can_talk(const Call& a, const Call& b);
  static bool takes_turns(Op op);
  static std::optional<Bytes> own_bytes(const Event& e);
  static void look_up(const RangeMap<Steps>& map, const Bytes& bytes, Steps& steps);
  static void enter(RangeMap<Steps>& map, const Bytes& bytes, Step step);

  void begin(std::uint32_t id, const Event& e);
  void end(const Event& e, Step step);
  void visit_open_calls(const Event& e, const std::optional<Bytes>& own, Step step);

  std::span<const Reach> rest_;  // of calls that have not begun
  RangeMap<bool> reachable_;     // by any call of the trace
  bool everything_ = false;      // some call of the trace reaches everything
  std::vector<Call> open_;       // in order of their begins; also those that reach nothing
  RangeMap<Steps> touched_;      // by events of the trace themselves, as far as it is reachable
  RangeMap<Steps> called_;       // by begins and ends of calls
  Steps all_touched_;            // the latest event of each thread
  Steps all_called_;             // begins and ends of calls that reach everything
  Steps before_;                 // what the event at hand needs
  std::vector<Need> needs_;      // by event
};

}  // namespace sooth
