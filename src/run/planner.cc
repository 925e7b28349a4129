#include "run/planner.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sooth {

std::size_t Planner::add(Promise promise, const std::string& family) {
  candidates_.push_back({promise, family.empty() ? 0 : families_[family]++});
  return candidates_.size() - 1;
}

void Planner::renew(std::size_t candidate, Promise promise) {
  Candidate& known = candidates_[candidate];
  known.promise = std::min(known.promise, promise);
  known.turn = 0;
  known.over = false;
}

void Planner::tried(std::size_t candidate, std::uint64_t trials, bool over) {
  Candidate& tried = candidates_[candidate];
  suspects_ += tried.turn == 0 && tried.promise != Promise::kPredicted ? 1 : 0;
  deeper_runs_ += tried.turn > 0 ? trials - std::min(trials, tried.trials) : 0;
  tried.trials = trials;
  tried.over = over || trials >= options_.trials;
  ++tried.turn;
  while (!tried.over && trials >= trials_of(tried.turn)) {
    ++tried.turn;  // one that was renewed has had some of them
  }
}

void Planner::recorded(std::uint64_t new_pairs, std::chrono::milliseconds took) {
  ++recordings_;
  longest_ = std::max(longest_, took);
  if (new_pairs > 0 || recordings_ == 1) {
    dry_ = 0;
    at_last_news_ = recordings_;
  } else {
    ++dry_;
  }
}

std::uint64_t Planner::dry_limit() const { return std::max(kDryRecordings, at_last_news_); }

std::uint64_t Planner::trials_of(std::size_t turn) const {
  return std::min(kTurns[std::min(turn, std::size(kTurns) - 1)], options_.trials);
}

std::vector<std::size_t> Planner::in_turn(std::size_t turn) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (!candidates_[i].over && candidates_[i].turn == turn) {
      found.push_back(i);
    }
  }
  const auto urgency = [](const Candidate& each) { return std::pair(each.promise, each.older); };
  std::stable_sort(found.begin(), found.end(),
                   [&](std::size_t a, std::size_t b) { return urgency(candidates_[a]) < urgency(candidates_[b]); });
  return found;
}

// About so many runs.
Planner::Step Planner::turn_of(std::size_t turn, std::uint64_t runs) const {
  std::vector<std::size_t> waiting = in_turn(turn);
  std::uint64_t planned = 0;
  std::size_t count = 0;
  while (count < std::min(waiting.size(), kMostAtOnce) && planned < runs) {
    planned += trials_of(turn) - std::min(trials_of(turn), candidates_[waiting[count++]].trials);
  }
  waiting.resize(count);
  return {Kind::kTryFindings, std::move(waiting), trials_of(turn), Stop::kNot};
}

bool Planner::may_record(std::chrono::milliseconds elapsed) const {
  const bool fits = options_.budget.count() == 0 || elapsed + longest_ <= options_.budget;
  const bool enough = options_.max_recordings != 0 && recordings_ >= options_.max_recordings;
  return options_.records && !enough && dry_ < dry_limit() && fits;
}

Planner::Step Planner::next(std::chrono::milliseconds elapsed) const {
  const bool has_end = options_.budget.count() != 0;
  if (has_end && elapsed >= options_.budget) {
    return {.why = Stop::kBudget};
  }
  std::size_t turn = SIZE_MAX;
  for (const Candidate& candidate : candidates_) {
    turn = candidate.over ? turn : std::min(turn, candidate.turn);
  }
  // The rest is for schedules that are explored and tested, which find what no recording shows.
  const bool late = has_end && options_.records && elapsed >= options_.budget * 4 / 5;
  if (turn == 0) {
    Step step = turn_of(0, UINT64_MAX);
    const bool predicted = candidates_[step.candidates.front()].promise == Promise::kPredicted;
    if (!predicted && late && suspects_ >= kSuspectsPerRecording) {
      return {.why = Stop::kTooShort};
    }
    const bool due = !predicted && suspects_ >= kSuspectsPerRecording * recordings_;
    return due && may_record(elapsed) ? Step{.kind = Kind::kRecord} : step;
  }
  if (late) {
    return {.why = Stop::kTooShort};
  }
  const bool waits = turn != SIZE_MAX;
  if (may_record(elapsed) && (!waits || deeper_runs_ + kRunsPerRecording >= kRunsPerRecording * recordings_)) {
    return {.kind = Kind::kRecord};
  }
  if (waits) {
    return turn_of(turn, kRunsPerRecording);
  }
  const bool enough = options_.max_recordings != 0 && recordings_ >= options_.max_recordings;
  return {.why = !options_.records     ? Stop::kNoRecords
                 : dry_ >= dry_limit() ? Stop::kNothingNew
                 : enough              ? Stop::kEnough
                                       : Stop::kTooShort};
}

}  // namespace sooth
