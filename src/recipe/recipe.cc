#include "recipe/recipe.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <utility>

#include "predict/race_candidates.h"
#include "race/site_key.h"
#include "recipe/detour_candidates.h"
#include "recipe/formula/formula.h"

namespace sooth {
namespace {

// Two accesses that neither simple orders bring together nor anything else keeps apart.
struct OpenPair {
  RaceTarget targets[2];
  EventIndex second = kNoEvent;
};

// Asks about dynamic pairs until one is a race: about all of them without the solver first, which is cheap.
class Asking {
 public:
  Asking(const RecipeModel& model, ExprTable& table, const RecipeOptions& options, RecipePair& result,
         std::vector<OpenPair>& open)
      : model_(model),
        table_(table),
        options_(options),
        windows_(model.index(), options.window),
        result_(result),
        open_(open) {}

  // False: no more is to be asked.
  bool ask(const RaceTarget (&targets)[2], EventIndex second) {
    if (result_.asked == options_.max_pairs) {
      return stop("none of the first " + std::to_string(options_.max_pairs) +
                  " pairs of accesses can meet, and there are more");
    }
    if (options_.out_of_time && options_.out_of_time()) {
      return stop(kOutOfTime);
    }
    ++result_.asked;
    const Window window = windows_.window(second);
    ValuePrediction prediction =
        predict_value_race(model_, table_, targets, options_, &window, nullptr, RecipeEffort::kTries);
    const Unknown* unknown = std::get_if<Unknown>(&prediction);
    if (unknown != nullptr && unknown->reason.empty()) {
      open_.push_back({{targets[0], targets[1]}, second});
      return true;
    }
    return settle(targets, std::move(prediction), false);
  }

  // What the solver has to decide.
  void ask_solver() {
    for (const OpenPair& open : open_) {
      if (result_.answer == RecipePair::Answer::kRace) {
        return;
      }
      if (options_.out_of_time && options_.out_of_time()) {
        stop(kOutOfTime);
        return;
      }
      RecipeOptions options = options_;
      options.try_out = false;
      options.solver_timeout = std::max(
          options_.solver_timeout / (std::int64_t{1} << std::min<std::uint64_t>(result_.unknown, kMostHalvings)),
          std::min(options_.solver_timeout, kShortest));
      bool by_solver = false;
      const auto begin = std::chrono::steady_clock::now();
      const Window window = windows_.window(open.second);
      ValuePrediction prediction = predict_value_race(model_, table_, open.targets, options, &window, &by_solver);
      if (by_solver) {
        result_.asking += std::chrono::steady_clock::now() - begin;
      }
      settle(open.targets, std::move(prediction), by_solver);
    }
  }

  const Windows& windows() const { return windows_; }

 private:
  static constexpr std::uint64_t kMostHalvings = 20;
  static constexpr std::chrono::milliseconds kShortest{100};

  // Whether more is to be asked.
  bool settle(const RaceTarget (&targets)[2], ValuePrediction&& prediction, bool by_solver) {
    if (Unknown* unknown = std::get_if<Unknown>(&prediction)) {
      result_.answer = RecipePair::Answer::kUnknown;
      result_.why = std::move(unknown->reason);
      ++result_.unknown;
      return true;
    }
    ++(by_solver ? result_.by_solver : result_.before_solver);
    ValueWitness* witness = std::get_if<ValueWitness>(&prediction);
    if (witness == nullptr) {
      return true;
    }
    result_.answer = RecipePair::Answer::kRace;
    result_.witness = std::move(*witness);
    result_.why.clear();
    for (const int i : {0, 1}) {
      result_.when[i] = deciding_reads(targets[i], *result_.witness);
    }
    return false;
  }

  bool stop(std::string why) {
    result_.answer = RecipePair::Answer::kUnknown;
    result_.why = std::move(why);
    return false;
  }

  std::vector<DecidingRead> deciding_reads(const RaceTarget& target, const ValueWitness& witness) const {
    std::vector<DecidingRead> reads;
    if (target.is_event()) {
      return reads;
    }
    const SymbolicProgram& program = model_.program();
    const Detour& detour = model_.thread(target.thread).detours[target.detour];
    std::vector<ExprId> conditions{detour.taken};
    for (std::uint32_t i = 0; i <= target.step; ++i) {
      conditions.insert(conditions.end(), detour.steps[i].conditions.begin(), detour.steps[i].conditions.end());
    }
    std::set<std::uint32_t> variables;
    for (const ExprId condition : conditions) {
      const std::vector<std::uint32_t> own = program.expressions.variables_in(condition);
      variables.insert(own.begin(), own.end());
    }
    for (const std::uint32_t variable : variables) {
      if (const EventIndex reader = model_.reader(variable); reader != kNoEvent) {
        const auto other = std::find_if(witness.reads.begin(), witness.reads.end(),
                                        [&](const ReadValue& read) { return read.event == EventId{reader}; });
        const Event& event = model_.index().event(reader);
        reads.push_back({EventId{reader}, std::nullopt, event.object, event.size,
                         other == witness.reads.end() ? program.recorded[variable] : other->value});
        continue;
      }
      // A step in front of the target: the thread's steps stand in the witness in the order of the detour.
      std::uint32_t number = 0;
      for (const DetourEvent& step : witness.detour) {
        if (step.thread == ThreadId{target.thread}) {
          while (detour.steps[number].is_unnamed) {
            ++number;
          }
          if (detour.steps[number].read == program.expressions.variable_at(variable) && step.value) {
            reads.push_back({std::nullopt, step.at, step.object, step.size, *step.value});
          }
          ++number;
        }
      }
    }
    return reads;
  }

  const RecipeModel& model_;
  ExprTable& table_;
  const RecipeOptions& options_;
  const Windows windows_;
  RecipePair& result_;
  std::vector<OpenPair>& open_;
};

// Runs decide(i, table) for all i below `count` in several threads, each with expressions of its own.
template <typename Decide>
void for_all(std::size_t count, const RecipeModel& model, const RecipeOptions& options, std::uint64_t done_before,
             std::uint64_t total, Decide&& decide) {
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  const auto work = [&](bool reports) {
    ExprTable table = model.program().expressions;
    for (std::size_t i = next++; i < count; i = next++) {
      decide(i, table);
      ++done;
      if (reports && options.progress) {
        options.progress(done_before + done, total);
      }
    }
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < std::min<std::size_t>(options.jobs, count); ++i) {
    helpers.emplace_back(work, false);
  }
  if (count > 0) {
    work(true);
  }
  for (std::thread& helper : helpers) {
    helper.join();
  }
}

class Finder {
 public:
  Finder(const RecipeModel& model, const RecipeOptions& options) : model_(model), options_(options) {}

  void find_executed(const std::function<bool(SiteId, SiteId)>& skip) {
    const RaceCandidates candidates(
        model_.index(), skip, [this](EventIndex e) { return model_.is_conditional(e); }, options_.out_of_time);
    result_.why_not_all = candidates.why_not_all();
    result_.skipped = candidates.skipped();
    result_.locked = candidates.locked();
    std::vector<char> left_out(candidates.size());
    result_.pairs.resize(candidates.size());
    std::vector<std::vector<OpenPair>> open(candidates.size());
    for_all(candidates.size(), model_, options_, 0, candidates.size(), [&](std::size_t i, ExprTable& table) {
      RecipePair& pair = result_.pairs[i];
      pair.answer = RecipePair::Answer::kNoRace;
      pair.places[0] = executed(candidates.sites(i).low);
      pair.places[1] = executed(candidates.sites(i).high);
      Asking asking(model_, table, options_, pair, open[i]);
      StopPoll poll(options_.out_of_time);
      RaceCandidates::Pairs pairs(
          candidates, i, [&](EventIndex second) { return asking.windows().begin(second); }, &poll);
      while (const std::optional<Candidate> next = pairs.next()) {
        if (!ask(asking, pair, *next)) {
          break;
        }
      }
      if (pair.answer == RecipePair::Answer::kNoRace && (poll.stopped() || !candidates.why_not_all().empty())) {
        pair.answer = RecipePair::Answer::kUnknown;
        pair.why = poll.stopped() ? kOutOfTime : candidates.why_not_all();
      }
      left_out[i] = pairs.left_out() ? 1 : 0;
    });
    ask_solver(0, open);
    count_far(0, left_out);
  }

  void find_detours(const std::function<bool(const Site&, const Site&)>& skip) {
    std::set<std::pair<std::string, std::string>> found;
    for (const RecipePair& pair : result_.pairs) {
      if (pair.answer == RecipePair::Answer::kRace) {
        found.insert(keys(pair.places[0].source, pair.places[1].source));
      }
    }
    const auto skip_found = [&](const Site& a, const Site& b) {
      return found.contains(keys(a, b)) || (skip && skip(a, b));
    };
    const std::size_t first = result_.pairs.size();
    const DetourCandidates candidates(model_, max_distance(), skip_found);
    result_.detours = candidates.detours();
    std::vector<char> left_out;
    result_.pairs.resize(first + candidates.all().size());
    for (const DetourCandidates::Places& places : candidates.all()) {
      left_out.push_back(places.left_out ? 1 : 0);
    }
    std::vector<std::vector<OpenPair>> open(candidates.all().size());
    for_all(candidates.all().size(), model_, options_, first, result_.pairs.size(),
            [&](std::size_t i, ExprTable& table) {
              const DetourCandidates::Places& places = candidates.all()[i];
              RecipePair& pair = result_.pairs[first + i];
              pair.answer = RecipePair::Answer::kNoRace;
              pair.places[0] = places.places[0];
              pair.places[1] = places.places[1];
              Asking asking(model_, table, options_, pair, open[i]);
              for (const DetourCandidates::Pair& next : places.pairs) {
                if (!asking.ask(next.targets,
                                std::max(candidates.place(next.targets[0]), candidates.place(next.targets[1])))) {
                  break;
                }
              }
            });
    ask_solver(first, open);
    count_far(first, left_out);
  }

  RecipeResult finish() {
    for (const RecipePair& pair : result_.pairs) {
      result_.candidates += pair.asked;
    }
    return std::move(result_);
  }

 private:
  // In the order of `places`.
  bool ask(Asking& asking, const RecipePair& pair, const Candidate& candidate) const {
    const auto a = static_cast<EventIndex>(raw(candidate.first)), b = static_cast<EventIndex>(raw(candidate.second));
    const bool swap = model_.index().event(a).site != *pair.places[0].site;
    const RaceTarget targets[2] = {RaceTarget::at(model_.index(), swap ? b : a),
                                   RaceTarget::at(model_.index(), swap ? a : b)};
    return asking.ask(targets, b);
  }

  RecipePlace executed(SiteId site) const { return {site, std::nullopt, model_.site(site), MemoryOrder::kNotAtomic}; }

  static std::pair<std::string, std::string> keys(const Site& a, const Site& b) {
    return std::minmax({site_key(a), site_key(b)});
  }

  // About what was left open of the pairs of places from `first` on.
  void ask_solver(std::size_t first, std::vector<std::vector<OpenPair>>& open) {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (!open[i].empty() && result_.pairs[first + i].answer != RecipePair::Answer::kRace) {
        left.push_back(i);
      }
    }
    for_all(left.size(), model_, options_, result_.pairs.size() - left.size(), result_.pairs.size(),
            [&](std::size_t i, ExprTable& table) {
              Asking(model_, table, options_, result_.pairs[first + left[i]], open[left[i]]).ask_solver();
            });
  }

  std::uint64_t max_distance() const { return options_.window == 0 ? model_.index().size() : options_.window / 2; }

  void count_far(std::size_t first, const std::vector<char>& left_out) {
    for (std::size_t i = 0; i < left_out.size(); ++i) {
      RecipePair& pair = result_.pairs[first + i];
      pair.far = left_out[i] != 0;
      result_.far_pairs += pair.far && pair.answer == RecipePair::Answer::kNoRace ? 1 : 0;
    }
  }

  const RecipeModel& model_;
  const RecipeOptions& options_;
  RecipeResult result_;
};

}  // namespace

ValuePrediction predict_value_race(const RecipeModel& model, ExprTable& table, const RaceTarget (&targets)[2],
                                   const RecipeOptions& options, const Window* window, bool* by_solver,
                                   RecipeEffort effort) {
  const Window whole = window == nullptr ? Window(model.index()) : *window;
  StopPoll poll(options.out_of_time);
  RecipeFormula formula(model, table, whole, targets, {options.solver_timeout, options.out_of_time}, &poll);
  if (by_solver != nullptr) {
    *by_solver = false;
  }
  if (!poll.stopped() && !formula.is_possible()) {
    return Infeasible{};
  }
  if (options.try_out && !poll.stopped() && formula.try_out()) {
    return formula.witness();
  }
  if (poll.stopped()) {
    return Unknown{kOutOfTime};
  }
  if (effort == RecipeEffort::kTries) {
    return Unknown{""};
  }
  if (by_solver != nullptr) {
    *by_solver = true;
  }
  switch (formula.solve()) {
    case ValueSolver::Answer::kYes: return formula.witness();
    case ValueSolver::Answer::kNo: return Infeasible{};
    case ValueSolver::Answer::kUnknown: break;
  }
  if (poll.stop(StopPoll::kStride)) {
    return Unknown{kOutOfTime};
  }
  return Unknown{"the solver has no answer after " + std::to_string(options.solver_timeout.count()) +
                 " ms (--solver-timeout): " + formula.why()};
}

RecipeTally tally(const RecipeResult& result) {
  RecipeTally tally;
  tally.locked = result.locked;
  tally.known = result.skipped;
  for (const RecipePair& pair : result.pairs) {
    const bool answered = pair.answer != RecipePair::Answer::kUnknown;
    ++(!answered            ? tally.unknown
       : pair.by_solver > 0 ? tally.by_solver
       : pair.witness       ? tally.tried
       : pair.asked > 0     ? tally.refuted
       : pair.far           ? tally.far
                            : tally.ordered);
    tally.questions += pair.by_solver + pair.unknown;
    tally.seconds += std::chrono::duration<double>(pair.asking).count();
  }
  return tally;
}

RecipeResult find_recipe_races(const RecipeModel& model, const RecipeOptions& options,
                               const std::function<bool(SiteId low, SiteId high)>& skip,
                               const std::function<bool(const Site&, const Site&)>& skip_places) {
  Finder finder(model, options);
  finder.find_executed(skip);
  if (options.detours) {
    finder.find_detours(skip_places);
  }
  return finder.finish();
}

}  // namespace sooth
