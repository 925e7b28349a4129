#include "confirm/auto_tests.h"

#include <utility>
#include <vector>

#include "confirm/campaign.h"
#include "confirm/ordered_work.h"
#include "confirm/test_corpus.h"

namespace sooth {
namespace {

class AutoTests {
 public:
  AutoTests(const std::function<Result<RunOutcome>(const RunPlan&)>& run, const FindPairs& find_pairs, TestTally& tally,
            const TestOptions& options)
      : run_(run),
        find_pairs_(find_pairs),
        tally_(tally),
        options_(options),
        planned_(runs_of_shard(options)),
        portfolio_(options.seed + options.shard - 1, options.strategy == kRffStrategy) {}

  Result<TestResult> go() {
    record();
    seeds_ = options_.corpus == nullptr ? 0 : options_.corpus->seeds();
    SOOTH_RETURN_IF_ERROR(repeat_kept());
    while (made_ < planned_ && !stopped_ && !options_.cancelled()) {
      SOOTH_RETURN_IF_ERROR(do_round());
    }
    if (options_.corpus != nullptr) {
      SOOTH_RETURN_IF_ERROR(options_.corpus->finish(seeds_));
    }
    TestResult result = tally_.finish();
    result.corpus = options_.corpus == nullptr ? std::nullopt : std::optional(corpus_);
    result.runs = made_;
    result.planned = planned_;
    for (std::size_t i = 0; i < races_.size() && options_.strategy != kRffStrategy; ++i) {
      if (!is_split_[i]) {
        result.races.push_back(std::move(races_[i]));
      }
    }
    result.coverage = portfolio_.coverage();
    return result;
  }

 private:
  std::uint64_t next_seed() { return options_.seed + options_.shard - 1 + seeds_++ * options_.shards; }

  void count_run() {
    ++made_;
    options_.on_run(made_);
  }

  void record() {
    if (planned_ < kWorthRecording) {
      return;
    }
    const Result<std::vector<DirectedPair>> found = find_pairs_(options_.seed);
    if (found.ok()) {
      for (const DirectedPair& pair : *found) {
        if (pair.is_split) {
          portfolio_.add_split(pair.code.sites);
        } else {
          portfolio_.add_pair(pair.code);
        }
        is_split_.push_back(pair.is_split);
        pairs_.push_back(pair.code);
        races_.push_back({pair.first, pair.second, 0, 0, 0, {}});
      }
    }
  }

  // What earlier campaigns kept comes first. What shows nothing that another did not is not kept any more.
  Status repeat_kept() {
    if (options_.corpus == nullptr) {
      return {};
    }
    const std::vector<TestCorpus::Kept>& kept = options_.corpus->kept();
    std::vector<Portfolio::Planned> round;
    for (std::size_t i = 0; i < kept.size() && i < planned_; ++i) {
      round.push_back(portfolio_.kept(TestCorpus::plan_of(kept[i])));
    }
    return do_runs(round, [&](std::uint64_t i, const RunOutcome& run, bool brought) -> Status {
      ++corpus_.repeated;
      if (brought && !kept[i].is_of_other_build) {
        return {};
      }
      corpus_.removed += brought ? 0 : 1;
      SOOTH_RETURN_IF_ERROR(options_.corpus->remove(kept[i]));
      return brought ? keep(round[i], run) : Status();
    });
  }

  Status do_round() {
    std::vector<Portfolio::Planned> round = portfolio_.next_round(planned_ - made_);
    for (Portfolio::Planned& planned : round) {
      planned.plan.seed = next_seed();
    }
    return do_runs(round, [&](std::uint64_t i, const RunOutcome& run, bool brought) {
      return brought ? keep(round[i], run) : Status();
    });
  }

  // `settle(i, run, brought)` is called for each run in order, with whether there was something new about it.
  template <typename Settle>
  Status do_runs(const std::vector<Portfolio::Planned>& round, const Settle& settle) {
    Status status;
    const auto work = [&](std::uint64_t i) { return run_(round[i].plan); };
    const auto take = [&](std::uint64_t i, Result<RunOutcome>&& run) {
      stopped_ = !run.ok() || run->cancelled;
      if (stopped_) {
        status = run.ok() ? Status() : run.status();
        return false;
      }
      const bool brought = judge(round[i], *run);
      status = settle(i, *run, brought);
      stopped_ = options_.until_failure && tally_.has_failure();
      return status.ok() && !stopped_;
    };
    do_in_order<Result<RunOutcome>>(round.size(), options_.jobs, work, take, options_.cancelled);
    return status;
  }

  // Whether there was something new about the run.
  bool judge(const Portfolio::Planned& planned, const RunOutcome& run) {
    bool hit = false;
    if (planned.plan.plan == control::Plan::kDirected && !is_split_[planned.pair]) {
      Target target;
      target.pair = pairs_[planned.pair];
      TestRace& race = races_[planned.pair];
      hit = reaches(target, run.log);
      ++race.trials;
      if (hit && race.hits++ == 0) {
        race.first_seed = planned.plan.seed;
        race.schedule = tally_.schedule_of(planned.plan, run);
      }
    }
    const bool is_new = tally_.add(planned.plan, run);
    const bool brought = portfolio_.take(planned, run.log, is_new, hit);
    count_run();
    return brought;
  }

  Status keep(const Portfolio::Planned& planned, const RunOutcome& run) {
    if (options_.corpus == nullptr || run.log.state == control::RunState::kNotStarted) {
      return {};
    }
    const Result<bool> added = options_.corpus->add(tally_.schedule_of(planned.plan, run), classify(run).failed());
    corpus_.added += added.ok() && *added ? 1 : 0;
    return added.ok() ? Status() : added.status();
  }

  const std::function<Result<RunOutcome>(const RunPlan&)>& run_;
  const FindPairs& find_pairs_;
  TestTally& tally_;
  const TestOptions& options_;
  const std::uint64_t planned_;
  CorpusUse corpus_;
  std::uint64_t made_ = 0, seeds_ = 0;
  bool stopped_ = false;
  Portfolio portfolio_;
  std::vector<PairCode> pairs_;
  std::vector<bool> is_split_;   // parallel to pairs_
  std::vector<TestRace> races_;  // parallel to pairs_
};

}  // namespace

Result<TestResult> run_auto_tests(const std::function<Result<RunOutcome>(const RunPlan&)>& run,
                                  const FindPairs& find_pairs, TestTally& tally, const TestOptions& options) {
  return AutoTests(run, find_pairs, tally, options).go();
}

}  // namespace sooth
