#include "recipe/detour_candidates.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace sooth {

DetourCandidates::DetourCandidates(const RecipeModel& model, std::uint64_t max_distance,
                                   const std::function<bool(const Site&, const Site&)>& skip)
    : model_(model), max_distance_(max_distance), skip_(skip), past_(model.index()) {
  std::map<PieceIndex, std::vector<Access>> steps, events;
  collect_steps(steps);
  collect_events(steps, events);
  for (const auto& [piece, own] : steps) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (const Access& other : events[piece]) {
        add(own[i], other);
      }
      for (std::size_t j = 0; j < i; ++j) {
        add(own[i], own[j]);
      }
    }
  }
  for (auto& [key, places] : found_) {
    std::vector<Pair>& pairs = places.pairs;
    const auto order = [](const Pair& p) {
      const auto numbers = [](const RaceTarget& t) {
        return std::tuple(t.thread, t.position, t.event, t.detour, t.step);
      };
      return std::tuple(p.promise, numbers(p.targets[0]), numbers(p.targets[1]));
    };
    std::sort(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) { return order(a) < order(b); });
    // Accesses of several pieces come up several times.
    pairs.erase(
        std::unique(pairs.begin(), pairs.end(), [&](const Pair& a, const Pair& b) { return order(a) == order(b); }),
        pairs.end());
    all_.push_back(std::move(places));
  }
  found_.clear();
}

void DetourCandidates::collect_steps(std::map<PieceIndex, std::vector<Access>>& steps) {
  const ExprTable& table = model_.program().expressions;
  for (const SymbolicThread& thread : model_.program().threads) {
    for (std::uint32_t d = 0; d < thread.detours.size(); ++d) {
      const Detour& detour = thread.detours[d];
      bool open = detour.taken != table.no();
      detours_ += open ? 1 : 0;
      std::vector<Lock> locks = held_at(thread.thread, detour.position);
      for (std::uint32_t s = 0; open && s < detour.steps.size(); ++s) {
        const DetourStep& step = detour.steps[s];
        const MemoryModel::StepPieces& pieces = model_.memory().step_pieces(thread.thread, d, s);
        open = pieces.has_value() &&
               std::find(step.conditions.begin(), step.conditions.end(), table.no()) == step.conditions.end();
        if (step.op == Op::kAcquire) {
          locks.push_back({step.object, false});
        } else if (step.op == Op::kRelease) {
          const auto held =
              std::find_if(locks.rbegin(), locks.rend(), [&](const Lock& lock) { return lock.object == step.object; });
          if (held != locks.rend()) {
            locks.erase(std::next(held).base());
          }
        } else if (open && !step.is_unnamed) {
          for (const PieceIndex p : *pieces) {
            steps[p].push_back({RaceTarget::at(thread, d, s), is_write(step.op), is_atomic(step.op), locks});
          }
        }
      }
    }
  }
}

void DetourCandidates::collect_events(const std::map<PieceIndex, std::vector<Access>>& steps,
                                      std::map<PieceIndex, std::vector<Access>>& events) const {
  const TraceIndex& index = model_.index();
  for (EventIndex e = 0; e < index.size() && !steps.empty(); ++e) {
    model_.memory().for_each_piece(e, [&](PieceIndex p, std::size_t) {
      if (steps.contains(p)) {
        const Op op = index.event(e).op;
        events[p].push_back(
            {RaceTarget::at(index, e), is_write(op), is_atomic(op), held_at(index.thread(e), index.position(e))});
      }
    });
  }
}

std::vector<DetourCandidates::Lock> DetourCandidates::held_at(std::uint32_t thread, std::uint32_t position) const {
  std::vector<Lock> locks;
  for (const SectionIndex s : model_.index().held_after(thread, position)) {
    const LockSection& section = model_.index().section(s);
    locks.push_back({model_.index().event(section.acquire).object, section.shared});
  }
  return locks;
}

EventIndex DetourCandidates::place(const RaceTarget& target) const {
  if (target.is_event()) {
    return target.event;
  }
  const std::span<const EventIndex> events = model_.index().events_of(target.thread);
  return target.position < events.size() ? events[target.position] : events.empty() ? 0 : events.back();
}

bool DetourCandidates::can_meet(const Access& a, const Access& b) const {
  if (a.target.thread == b.target.thread || !(a.writes || b.writes) || (a.atomic && b.atomic)) {
    return false;
  }
  for (const Lock& mine : a.locks) {
    for (const Lock& other : b.locks) {
      if (mine.object == other.object && !(mine.shared && other.shared)) {
        return false;
      }
    }
  }
  // The last event of a thread before what is next has happened; what is next has not, nor what comes after it.
  for (const auto& [one, other] : {std::pair(&a.target, &b.target), std::pair(&b.target, &a.target)}) {
    const TraceIndex& index = model_.index();
    const std::span<const EventIndex> mine = index.events_of(one->thread);
    const std::span<const EventIndex> theirs = index.events_of(other->thread);
    const bool any = one->is_event() || one->position > 0;
    if (any && other->position < theirs.size()) {
      const EventIndex not_yet = theirs[other->position];
      const EventIndex last = one->is_event() ? one->event : mine[one->position - 1];
      if (not_yet < last && past_.needs(last, not_yet)) {
        return false;
      }
    }
  }
  return true;
}

void DetourCandidates::add(const Access& step, const Access& other) {
  if (!can_meet(step, other)) {
    return;
  }
  const auto place_of = [this](const RaceTarget& target) {
    RecipePlace place;
    if (target.is_event()) {
      place.site = model_.index().event(target.event).site;
      place.source = model_.site(*place.site);
    } else {
      const DetourStep& own = model_.thread(target.thread).detours[target.detour].steps[target.step];
      place.at = own.at;
      place.source = own.site;
      place.order = own.order;
    }
    return place;
  };
  RecipePlace places[2] = {place_of(step.target), place_of(other.target)};
  RaceTarget targets[2] = {step.target, other.target};
  if (places[1].at && *places[1].at < *places[0].at) {
    std::swap(places[0], places[1]);
    std::swap(targets[0], targets[1]);
  }
  const Key key{
      *places[0].at,
      {places[1].is_executed(), {places[1].at.value_or(InstructionRef{}), places[1].site ? raw(*places[1].site) : 0}}};
  const auto [skipped, first] = skipped_.try_emplace(key, false);
  if (first && skip_) {
    skipped->second = skip_(places[0].source, places[1].source);
  }
  if (skipped->second) {
    return;
  }
  Places& found = found_[key];
  found.places[0] = places[0];
  found.places[1] = places[1];
  const EventIndex a = place(targets[0]), b = place(targets[1]);
  if ((a > b ? a - b : b - a) > max_distance_) {
    found.left_out = true;
    return;
  }
  const std::uint64_t steps =
      (targets[0].is_event() ? 0 : targets[0].step) + (targets[1].is_event() ? 0 : targets[1].step);
  found.pairs.push_back({{targets[0], targets[1]}, steps << 32 | (a > b ? a - b : b - a)});
}

}  // namespace sooth
