#include "confirm/reads_from_fuzzer.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "schedule/strategy.h"

namespace sooth {
namespace {

constexpr std::uint64_t kMostEnergy = 16;
constexpr int kMostDraws = 512, kPossible = 12;  // of pairs; the least tried of so many possible ones is taken
constexpr std::size_t kGoalsOfARun = 2;          // that are made of what a run without goals showed

std::vector<ReadsFromGoal> goals_of(const std::string& strategy) {
  StrategySpec spec;
  if (!parse_strategy(strategy.c_str(), spec)) {
    return {};
  }
  return {spec.goals, spec.goals + spec.goal_count};
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

}  // namespace

std::string rff_of(const std::vector<ReadsFromGoal>& goals) {
  std::string text = "rff";
  for (const ReadsFromGoal& goal : goals) {
    char one[48];
    std::snprintf(one, sizeof one, "%c%llx%c%llx", text.size() == 3 ? ':' : ',',
                  static_cast<unsigned long long>(goal.first), goal.is_wanted ? '>' : '!',
                  static_cast<unsigned long long>(goal.second));
    text += one;
  }
  return text;
}

void ReadsFromFuzzer::add_place(std::uint64_t place, std::uint32_t thread, bool writes) {
  const auto [at, is_new] = places_.try_emplace(place, Place{place, thread, false, writes});
  at->second.writes = at->second.writes || writes;
  at->second.is_of_many = at->second.is_of_many || at->second.thread != thread;
  if (is_new) {
    groups_[place].places = {place};
    in_order_.push_back(place);
  }
}

// Both places have met the same object.
void ReadsFromFuzzer::meet(const OrderOfThreads& order) {
  const bool is_shared = order.first_thread != order.second_thread;
  add_place(order.first, order.first_thread, (order.writes & 1) != 0);
  add_place(order.second, order.second_thread, (order.writes & 2) != 0);
  std::uint64_t kept = places_[order.first].group, gone = places_[order.second].group;
  groups_[kept].is_shared = groups_[kept].is_shared || groups_[gone].is_shared || is_shared;
  if (kept == gone) {
    return;
  }
  groups_[gone].is_shared = groups_[kept].is_shared;
  if (groups_[kept].places.size() < groups_[gone].places.size()) {
    std::swap(kept, gone);
  }
  for (const std::uint64_t moved : groups_[gone].places) {
    places_[moved].group = kept;
    groups_[kept].places.push_back(moved);
  }
  groups_.erase(gone);
}

// Of some pairs that could be, the one that was asked for, and seen, least often. There is a place.
ReadsFromGoal ReadsFromFuzzer::draw_goal() {
  ReadsFromGoal best;
  std::uint64_t least = UINT64_MAX;
  for (int i = 0, possible = 0; i < kMostDraws && possible < kPossible; ++i) {
    const std::uint64_t first = in_order_[random_.below(in_order_.size())];
    const Group& group = groups_[places_[first].group];
    const std::uint64_t second = group.places[random_.below(group.places.size())];
    const Place &a = places_[first], &b = places_[second];
    const bool has_threads = a.is_of_many || b.is_of_many || a.thread != b.thread;
    if (!group.is_shared || !has_threads || (!a.writes && !b.writes)) {
      continue;
    }
    ++possible;
    const Pair pair{first, second};
    const auto count = [&](const auto& counts) {
      const auto found = counts.find(pair);
      return found == counts.end() ? std::uint64_t{0} : found->second;
    };
    // What was seen is easy to have again, and what was asked for in vain may be impossible.
    const std::uint64_t tried = 4 * count(seen_) + count(asked_);
    if (tried < least) {
      least = tried;
      best = {pair.first, pair.second, true};
    }
  }
  return best;
}

void ReadsFromFuzzer::mutate(std::vector<ReadsFromGoal>& goals) {
  const auto any = [&] { return static_cast<std::ptrdiff_t>(random_.below(goals.size())); };
  // What is at one place mostly happens once, and then the first goal about it that can be met would be.
  const auto add = [&](const ReadsFromGoal& added) {
    std::erase_if(goals, [&](const ReadsFromGoal& goal) { return goal.is_wanted && goal.second == added.second; });
    goals.push_back(added);
  };
  const std::uint64_t drawn = random_.below(100);
  if (goals.empty() || (drawn < 50 && goals.size() < kMostGoals)) {
    add(draw_goal());
  } else if (drawn < 75) {
    goals.erase(goals.begin() + any());
    add(draw_goal());
  } else if (drawn < 90) {
    goals.erase(goals.begin() + any());
  } else {
    ReadsFromGoal& goal = goals[static_cast<std::size_t>(any())];
    goal.is_wanted = !goal.is_wanted;
  }
  std::erase_if(goals, [](const ReadsFromGoal& goal) { return goal.first == 0 && goal.second == 0; });
}

void ReadsFromFuzzer::choose_kept() {
  const std::uint64_t usual = runs_ / std::max<std::uint64_t>(signatures_.size(), 1);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    at_ = (at_ + 1) % kept_.size();
    if (signatures_[kept_[at_].signature] <= usual) {
      break;
    }
  }
  Kept& kept = kept_[at_];
  energy_ = std::min(kMostEnergy, std::uint64_t{1} << std::min<std::uint32_t>(kept.chosen, 5));
  ++kept.chosen;
}

std::string ReadsFromFuzzer::next() {
  if (kept_.empty() || places_.empty()) {
    return rff_of({});
  }
  if (energy_ == 0) {
    choose_kept();
  }
  --energy_;
  std::vector<ReadsFromGoal> goals = kept_[at_].goals;
  mutate(goals);
  for (const ReadsFromGoal& goal : goals) {
    asked_[{goal.first, goal.second}] += goal.is_wanted ? 1 : 0;
  }
  return rff_of(goals);
}

bool ReadsFromFuzzer::take(const std::string& strategy, const ProcessLog& process) {
  ++runs_;
  std::set<Pair> pairs;
  for (const OrderOfThreads& order : process.orders) {
    pairs.emplace(order.first, order.second);
    meet(order);
  }
  for (const OrderOfThreads& order : process.own_orders) {
    meet(order);
  }
  std::uint64_t signature = 0;
  std::vector<Pair> news, rest;
  for (const Pair& pair : pairs) {
    signature = mixed(mixed(signature, pair.first), pair.second);
    (++seen_[pair] == 1 ? news : rest).push_back(pair);
  }
  const bool is_new = ++signatures_[signature] == 1;
  if ((!is_new && news.empty()) || pairs.empty() || kept_.size() >= kMostKept) {
    return is_new || !news.empty();
  }
  Kept kept{goals_of(strategy), signature, 0};
  if (kept.goals.empty()) {
    // What was rare about it.
    std::stable_sort(rest.begin(), rest.end(), [&](const Pair& a, const Pair& b) { return seen_[a] < seen_[b]; });
    news.insert(news.end(), rest.begin(), rest.end());
    for (std::size_t i = 0; i < news.size() && i < kGoalsOfARun; ++i) {
      kept.goals.push_back({news[i].first, news[i].second, true});
    }
  }
  kept_.push_back(std::move(kept));
  return true;
}

}  // namespace sooth
