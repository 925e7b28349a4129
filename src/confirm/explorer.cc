#include "confirm/explorer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "confirm/explorer_order.h"

namespace sooth {
namespace {

std::uint64_t bit(std::uint32_t thread) { return std::uint64_t{1} << thread; }

// A turn that changed nothing.
bool is_look(const StepPtr& step) {
  return step != nullptr && !step->writes && !step->is_everything && is_access(step->op);
}

// The plain write is to memory that no other thread has touched up to the point.
bool is_private(const Execution& execution, std::size_t at, std::uint32_t thread, const StepPtr& write) {
  return std::none_of(execution.points.begin(), execution.points.begin() + static_cast<std::ptrdiff_t>(at),
                      [&](const ExploredPoint& point) {
                        return point.chosen != thread && relation(point.done, write) != StepRelation::kIndependent;
                      });
}

// Whether the thread, at the point, has done nothing for `turns` rounds of a loop but look at things that nobody has
// changed, and write to memory of its own, such as what a failed compare-exchange hands back.
bool is_waiting(const Execution& execution, std::size_t at, std::uint32_t thread, std::uint32_t turns) {
  const StepPtr& next = execution.points[at].pending[thread];
  if (turns == 0 || next == nullptr || next->is_everything || !is_access(next->op)) {
    return false;
  }
  std::size_t begin = at;  // of the rounds
  std::vector<StepPtr> looks, writes;
  for (std::uint32_t rounds = 0; rounds < turns;) {
    if (begin == 0) {
      return false;
    }
    const ExploredPoint& point = execution.points[--begin];
    if (point.chosen != thread || point.done == nullptr) {
      continue;  // another one's, or nothing that anybody sees, such as a yield
    }
    if (is_look(point.done)) {
      rounds += point.done->is_at(*next) && point.done->parts == next->parts ? 1 : 0;
      looks.push_back(point.done);
    } else if (point.done->op == Op::kWrite && !point.done->is_everything) {
      writes.push_back(point.done);
    } else {
      return false;
    }
  }
  for (std::size_t i = begin; i < at; ++i) {
    const ExploredPoint& point = execution.points[i];
    const bool changes = point.chosen != thread && std::any_of(looks.begin(), looks.end(), [&](const StepPtr& look) {
                           return relation(point.done, look) != StepRelation::kIndependent;
                         });
    if (changes) {
      return false;
    }
  }
  return std::all_of(writes.begin(), writes.end(),
                     [&](const StepPtr& write) { return is_private(execution, at, thread, write); });
}

}  // namespace

// A state that runs have come to, and what to do from there.
struct Explorer::Node {
  struct Taken {
    std::uint32_t thread;
    StepPtr step;
  };

  std::shared_ptr<Node> parent;
  std::uint32_t by = 0;             // thread that was chosen at the parent
  std::vector<std::uint16_t> seen;  // by its operations there
  std::size_t depth = 0;
  std::uint64_t ready = 0;
  std::uint64_t awake = 0;  // of these, those that do not wait in a loop; all if none
  bool all_wait = false;    // ... there is none: one way to go on is enough
  std::uint32_t from = control::kNone;
  bool is_free = false;
  std::uint32_t preemptions = 0;  // on the way here
  std::vector<StepPtr> pending;
  std::vector<Taken> sleep;  // others have seen all that follows when these go first
  std::vector<Taken> taken;  // chosen here, in this order
  std::uint64_t asked = 0;   // with those that wait in work_

  bool is_choice() const { return (ready & (ready - 1)) != 0; }
  std::uint64_t sleeping() const {
    std::uint64_t threads = 0;
    for (const Taken& each : sleep) {
      threads |= bit(each.thread);
    }
    return threads;
  }
  std::uint32_t preemptions_with(std::uint32_t thread) const {
    const bool preempts = !is_free && from != control::kNone && (awake & bit(from)) != 0 && thread != from;
    return preemptions + (preempts ? 1 : 0);
  }
  void take(std::uint32_t thread) {
    asked |= bit(thread);
    taken.push_back({thread, thread < pending.size() ? pending[thread] : nullptr});
  }
  // What the thread did here, as turned out. One that may see something else there may do something else.
  void learn(std::uint32_t thread, const ExploredPoint& point) {
    if (!point.seen.empty()) {
      return;
    }
    const StepPtr& step = point.done;
    for (Taken& each : taken) {
      each.step = each.thread == thread ? step : each.step;
    }
  }
  void append_choices(Request& request) const {
    for (const Node* node = this; node->parent != nullptr; node = node->parent.get()) {
      if (node->parent->is_choice()) {
        request.choices.push_back(static_cast<std::uint16_t>(node->by));
      }
      request.seen.insert(request.seen.end(), node->seen.rbegin(), node->seen.rend());
    }
    std::reverse(request.choices.begin(), request.choices.end());
    std::reverse(request.seen.begin(), request.seen.end());
  }
};

class Explorer::Order : public ExploredOrder {
 public:
  using ExploredOrder::ExploredOrder;

  // Turns between the two that need not come behind the first.
  std::vector<std::size_t> movable(std::size_t early, std::size_t late) const {
    std::vector<std::size_t> turns;
    for (std::size_t i = early + 1; i < late; ++i) {
      if (!is_before(early, i)) {
        turns.push_back(i);
      }
    }
    return turns;
  }
  // Threads that can begin a run of these turns and then `late`.
  std::uint64_t initials(std::vector<std::size_t> turns, std::size_t late) const {
    turns.push_back(late);
    std::uint64_t threads = 0, seen = 0;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const std::uint64_t own = bit(thread(turns[i]));
      const bool first =
          (seen & own) == 0 && std::none_of(turns.begin(), turns.begin() + static_cast<std::ptrdiff_t>(i),
                                            [&](std::size_t k) { return is_before(k, turns[i]); });
      threads |= first ? own : 0;
      seen |= own;
    }
    return threads;
  }
};

Explorer::Explorer(ExplorerOptions options) : options_(std::move(options)) {
  // Equivalent schedules have different numbers of preemptions: leaving one out could leave out all that are allowed.
  options_.reduce = options_.reduce && !options_.preemptions.has_value();
}

void Explorer::ask(const std::shared_ptr<Node>& node, std::uint32_t thread) {
  node->asked |= bit(thread);
  const std::uint32_t preemptions = options_.preemptions.has_value() ? node->preemptions_with(thread) : 0;
  work_.emplace(std::tuple(preemptions, ~node->depth, asked_++), Work{node, thread, {}});
}

// Whatever else the turn could have seen, from its operation `known` on.
void Explorer::ask_for_older(const std::shared_ptr<Node>& node, const ExploredPoint& point, std::size_t known) {
  const std::uint32_t preemptions = options_.preemptions.has_value() ? node->preemptions_with(point.chosen) : 0;
  std::vector<std::uint16_t> before;
  for (std::size_t i = 0; i < point.seen.size(); ++i) {
    for (std::uint16_t other = 0; i >= known && other < point.seen[i].choices; ++other) {
      if (other != point.seen[i].chosen) {
        Work work{node, point.chosen, before};
        work.seen.push_back(other);
        work_.emplace(std::tuple(preemptions, ~node->depth, asked_++), std::move(work));
      }
    }
    before.push_back(point.seen[i].chosen);
  }
}

std::vector<Explorer::Request> Explorer::next(std::size_t at_most) {
  std::vector<Request> requests;
  if (!started_ && at_most > 0) {
    started_ = true;
    requests.emplace_back();
  }
  while (!meetings_.empty() && requests.size() < at_most) {
    requests.push_back(std::move(meetings_.back()));
    meetings_.pop_back();
  }
  while (!work_.empty() && requests.size() < at_most) {
    auto [node, thread, seen] = std::move(work_.begin()->second);
    work_.erase(work_.begin());
    Request request;
    request.seen_in_turn = seen.size();
    if (seen.empty()) {
      node->take(thread);
    }
    request.purpose = Purpose::kBranch;
    node->append_choices(request);
    if (node->is_choice()) {
      request.choices.push_back(static_cast<std::uint16_t>(thread));
    }
    request.seen.insert(request.seen.end(), seen.begin(), seen.end());
    request.node = std::move(node);
    request.thread = thread;
    requests.push_back(std::move(request));
  }
  outstanding_ += requests.size();
  return requests;
}

// The known states that the run came through.
Explorer::Path Explorer::path_to(const Request& request, const Execution& execution) {
  Path path;
  if (request.purpose == Purpose::kFirst) {
    auto root = std::make_shared<Node>();
    root->ready = root->awake = execution.points[0].ready;
    root->from = execution.points[0].from;
    root->is_free = execution.points[0].is_free;
    root->pending = execution.points[0].pending;
    path.push_back(std::move(root));
    return path;
  }
  for (std::shared_ptr<Node> node = request.node; node != nullptr; node = node->parent) {
    path.push_back(node);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

bool Explorer::agrees(const Path& path, const Request& request, const Execution& execution) const {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool is_last = i + 1 == path.size();
    const std::uint32_t chosen = is_last ? request.thread : path[i + 1]->by;
    if (i >= execution.points.size() || execution.points[i].ready != path[i]->ready ||
        execution.points[i].chosen != chosen) {
      return false;
    }
  }
  return true;
}

void Explorer::add(const Request& request, const Execution& given) {
  --outstanding_;
  ++runs_;
  if (request.purpose == Purpose::kMeeting || given.points.empty()) {
    return;
  }
  Execution execution = given;
  if (execution.ends_process) {
    ExploredPoint& last = execution.points.back();
    auto step = last.done == nullptr ? std::make_shared<ExploredStep>() : std::make_shared<ExploredStep>(*last.done);
    step->is_everything = true;
    last.done = std::move(step);
  }
  Path path = path_to(request, execution);
  if (request.purpose == Purpose::kBranch && !agrees(path, request, execution)) {
    ++diverged_;
    return;
  }
  const std::size_t known = path.size() - 1;
  if (request.purpose == Purpose::kFirst) {
    follow(path.back(), execution.points[0]);  // nobody sleeps or waits there
  }
  path.back()->learn(execution.points[known].chosen, execution.points[known]);
  ask_for_older(path.back(), execution.points[known], request.seen_in_turn);
  extend(path, execution);
  if (options_.reduce) {
    reverse_races(path, execution, known);
  }
}

std::shared_ptr<Explorer::Node> Explorer::child_of(const std::shared_ptr<Node>& parent, const Execution& execution,
                                                   std::size_t at) {
  const ExploredPoint& point = execution.points[at];
  auto node = std::make_shared<Node>();
  node->parent = parent;
  node->by = execution.points[at - 1].chosen;
  node->depth = at;
  for (const ExploredPoint::Seen& seen : execution.points[at - 1].seen) {
    node->seen.push_back(seen.chosen);
  }
  node->ready = point.ready;
  node->from = point.from;
  node->is_free = point.is_free;
  node->pending = point.pending;
  node->preemptions = parent->preemptions_with(node->by);
  for (std::uint32_t thread = 0; thread < 64 && point.is_choice(); ++thread) {
    const bool waits = (point.ready & bit(thread)) != 0 && thread < point.pending.size() &&
                       is_waiting(execution, at, thread, options_.loop_turns);
    node->awake |= (point.ready & bit(thread)) != 0 && !waits ? bit(thread) : 0;
    has_waiting_loops_ = has_waiting_loops_ || waits;
  }
  node->all_wait = point.is_choice() && node->awake == 0;
  node->awake = node->awake == 0 ? node->ready : node->awake;
  const StepPtr& done = execution.points[at - 1].done;
  const auto keep_asleep = [&](const Node::Taken& each) {
    if ((node->ready & bit(each.thread)) != 0 && relation(each.step, done) == StepRelation::kIndependent) {
      node->sleep.push_back(each);
    }
  };
  std::for_each(parent->sleep.begin(), parent->sleep.end(), keep_asleep);
  for (const Node::Taken& each : parent->taken) {
    if (each.thread == node->by) {
      break;  // what was taken later sees this one asleep, not the other way round
    }
    keep_asleep(each);
  }
  return node;
}

void Explorer::add_all_others(const std::shared_ptr<Node>& node, std::uint32_t chosen) {
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    const bool allowed = !options_.preemptions.has_value() || node->preemptions_with(thread) <= *options_.preemptions;
    if ((node->awake & bit(thread)) != 0 && thread != chosen && allowed) {
      ask(node, thread);
    }
  }
}

// Whether the choice that the run made at a new state is one that is worth to be followed.
bool Explorer::follow(const std::shared_ptr<Node>& node, const ExploredPoint& point) {
  const bool is_awake = (node->awake & bit(point.chosen)) != 0;
  if (!options_.reduce) {
    if (!node->all_wait) {
      add_all_others(node, point.chosen);
    }
    return is_awake;
  }
  const std::uint64_t worth = node->awake & ~node->sleeping();
  if ((worth & bit(point.chosen)) != 0) {
    node->take(point.chosen);
    node->learn(point.chosen, point);
    return true;
  }
  if (worth != 0) {
    ask(node, static_cast<std::uint32_t>(std::countr_zero(worth)));
  }
  return false;
}

void Explorer::extend(Path& path, const Execution& execution) {
  for (std::size_t at = path.size(); at < execution.points.size(); ++at) {
    const std::shared_ptr<Node> node = child_of(path.back(), execution, at);
    if (!follow(node, execution.points[at])) {
      ++redundant_;
      return;
    }
    ask_for_older(node, execution.points[at], 0);
    path.push_back(node);
  }
  cut_ += execution.is_cut ? 1 : 0;  // else what is missing comes behind what others have seen
}

void Explorer::reverse_races(const Path& path, const Execution& execution, std::size_t first) {
  const Order order(execution, path.size());
  for (std::size_t late = first; late < path.size(); ++late) {
    for (const std::size_t early : order.races(late)) {
      reverse(path, order, early, late);
      arrange_meeting(path, execution, order, early, late);
    }
  }
  // What others would have done if the process had not ended.
  if (path.size() == execution.points.size() && execution.ends_process) {
    const Node& last = *path.back();
    for (std::uint32_t thread = 0; thread < 64; ++thread) {
      if ((last.awake & ~last.sleeping() & ~last.asked & bit(thread)) != 0) {
        ask(path.back(), thread);
      }
    }
  }
}

// Algorithm 1, lines 5 to 9: some run has to do `late` before `early`.
void Explorer::reverse(const Path& path, const Order& order, std::size_t early, std::size_t late) {
  const std::shared_ptr<Node>& node = path[early];
  const std::uint64_t initials = order.initials(order.movable(early, late), late) & node->ready;
  if ((initials & (node->asked | node->sleeping())) != 0 || (initials & node->awake) == 0) {
    return;
  }
  const std::uint32_t own = order.thread(late);
  const std::uint64_t usable = initials & node->awake;
  ask(node, (usable & bit(own)) != 0 ? own : static_cast<std::uint32_t>(std::countr_zero(usable)));
}

void Explorer::arrange_meeting(const Path& path, const Execution& execution, const Order& order, std::size_t early,
                               std::size_t late) {
  const StepPtr& first = execution.points[early].done;
  const StepPtr& second = execution.points[late].done;
  if (first == nullptr || second == nullptr || !are_conflicting(*first, *second) ||
      !options_.wants_meeting(*first, *second, execution.points[late].delay)) {
    return;
  }
  // The thread of `early` stays ready in front of its access, so there is a choice at every point.
  Request request;
  request.purpose = Purpose::kMeeting;
  path[early]->append_choices(request);
  for (const std::size_t turn : order.movable(early, late)) {
    request.choices.push_back(static_cast<std::uint16_t>(order.thread(turn)));
    for (const ExploredPoint::Seen& seen : execution.points[turn].seen) {
      request.seen.push_back(seen.chosen);
    }
  }
  meetings_.push_back(std::move(request));
}

}  // namespace sooth
