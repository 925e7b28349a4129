// The strategy `auto`: several strategies share the runs of a program by what they bring.
//
// What a run brings is what no run before it showed: an order of two operations (SeenOrder), an order of all of them at
// their objects (RunLog::order_hash), another end or output. Runs are planned in rounds, from what the rounds before
// brought, so the plans do not depend on how many runs are made at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "confirm/reads_from_fuzzer.h"
#include "confirm/site_code.h"
#include "launch/controlled_run.h"
#include "schedule/control_file.h"
#include "schedule/run_log.h"

namespace sooth {

// What the runs of a program have shown.
struct TestCoverage {
  struct Share {
    std::string strategy;
    std::uint64_t runs = 0;
    std::uint64_t brought = 0;  // orders that no run before it had, of two operations or of all
  };
  std::uint64_t runs = 0;
  std::uint64_t orders = 0;     // of two operations, or accesses at sites, of different threads at the same object
  std::uint64_t schedules = 0;  // orders of all of these
  std::uint64_t once = 0;       // of these orders, seen in one run only
  std::uint64_t last_new = 0;   // the run, from 1, that was the last to show one of `orders`
  std::vector<Share> shares;

  // The probability that another run shows an order of all operations that none did (Good: The Population Frequencies of
  // Species, Biometrika 1953, equation 9).
  double chance_of_new() const { return runs == 0 ? 1 : static_cast<double>(once) / static_cast<double>(runs); }
};

// "surw:20,5,5@1", as the threads of the run came to events; "surw" if nobody counted.
std::string surw_of(const ProcessLog& process);

class Portfolio {
 public:
  struct Planned {
    std::size_t arm = 0;
    std::size_t pair = 0;  // of the arm `directed`
    RunPlan plan;
  };

  // Runs towards a split section. Nothing tells whether they got there.
  static constexpr std::uint64_t kSplitTrials = 12;
  // Runs of a round.
  static constexpr std::uint64_t kRound = 12;
  // Ranges of code that are sites of a run, at most: each costs time at every access near it.
  static constexpr std::size_t kMaxSites = 64;

  // `seed`: of what is drawn here, which is the goals of `rff`. `only_rff`: it has all the runs.
  explicit Portfolio(std::uint64_t seed = 1, bool only_rff = false) : only_rff_(only_rff), fuzzer_(seed) {}

  // Two places that may race: their accesses become scheduling points, and runs are steered to them.
  void add_pair(const PairCode& pair);
  // As split_code() makes it: runs are steered so that the section comes in between.
  void add_split(const std::vector<SiteCode>& acquires);
  // The next runs, `most` at most; without their seeds. The first round is one run, which measures.
  std::vector<Planned> next_round(std::uint64_t most);
  // A run that repeats an earlier one. It belongs to no strategy.
  Planned kept(RunPlan plan) const;
  // Runs in the order in which they were planned. `is_new_end`: no run before ended so, or printed that. `hit`: it
  // created the race that it was steered to. Whether it ended in a new way, or showed a new order of two places.
  bool take(const Planned& planned, const RunLog& log, bool is_new_end, bool hit);
  // Runs by arm and what they showed.
  TestCoverage coverage() const;

 private:
  enum Arm : std::size_t { kRandom, kPct, kPos, kSurw, kRff, kDirected, kArms, kKept = kArms, kAccounts };
  struct Account {
    std::uint64_t runs = 0, brought = 0;
    double recent_runs = 0, recent_worth = 0;  // of late rounds more than of early ones
  };
  struct Pair {
    PairCode code;
    bool is_split = false;
    std::uint64_t planned = 0, hits = 0;
  };

  bool has_use_of(std::size_t arm) const;
  std::vector<std::size_t> share_out(std::uint64_t runs) const;
  Planned plan_of(std::size_t arm);
  const Pair* open_pair(std::size_t& at) const;

  const bool only_rff_;
  ReadsFromFuzzer fuzzer_;
  Account accounts_[kAccounts];
  std::vector<Pair> pairs_;
  std::size_t next_pair_ = 0;
  std::vector<SiteCode> sites_;
  std::uint64_t steps_ = 0;  // K of pct; 0: unknown
  std::string surw_ = "surw";
  std::uint64_t runs_ = 0, last_new_ = 0;
  std::set<SeenOrder> orders_;
  std::map<std::uint64_t, std::uint64_t> schedules_;  // how many runs had them
};

}  // namespace sooth
