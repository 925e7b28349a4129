#include "recipe/formula/replay.h"

#include <algorithm>
#include <optional>

#include "trace/check/value_bits.h"

namespace sooth {
namespace {

class Replay {
 public:
  Replay(const RecipeModel& model, const Steps& steps, const Window& window)
      : model_(model), steps_(steps), window_(window), variables_(model.program().recorded) {}

  void execute(StepId s) {
    look(s);
    if (is_write(steps_.op(s))) {
      write(s);
    }
  }

  // Without what it writes.
  void look(StepId s) {
    if (is_read(steps_.op(s))) {
      read(s);
    }
  }
  const std::vector<std::uint64_t>& variables() const { return variables_; }

  // What the step reads, or nothing when it is not listed.
  std::optional<std::uint64_t> value_read(StepId s) const {
    const ExprId found = steps_.read(s);
    return found == kNoExpr ? std::nullopt : std::optional(model_.program().expressions.evaluate(found, variables_));
  }
  std::optional<ReadValue> other_value(StepId s) const {
    const ExprId found = steps_.is_event(s) && is_read(steps_.op(s)) ? steps_.read(s) : kNoExpr;
    if (found == kNoExpr) {
      return std::nullopt;
    }
    const std::uint32_t variable = model_.program().expressions.variable_number(found);
    return variables_[variable] == model_.program().recorded[variable]
               ? std::nullopt
               : std::optional(ReadValue{EventId{s}, variables_[variable]});
  }

 private:
  struct Content {
    bool is = false;  // something was written in the window
    std::optional<std::uint64_t> bits;
  };

  std::optional<std::uint64_t> content(PieceIndex p) const {
    if (const Content* written = contents_.find(p); written != nullptr && written->is) {
      return written->bits;
    }
    const std::span<const EventIndex> writes = model_.memory().writes(p);
    const auto next = std::lower_bound(writes.begin(), writes.end(), window_.begin);
    return next == writes.begin() ? model_.memory().piece(p).initial : model_.memory().left(*std::prev(next), p);
  }

  unsigned shift(StepId s, PieceIndex p) const {
    return static_cast<unsigned>(8 * (model_.memory().piece(p).address - steps_.object(s)));
  }
  std::uint64_t mask(PieceIndex p) const {
    const std::uint32_t size = model_.memory().piece(p).size;
    return size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
  }

  void read(StepId s) {
    const ExprTable& table = model_.program().expressions;
    const ExprId found = steps_.read(s);
    if (found == kNoExpr || !table.is_variable(found)) {
      return;
    }
    std::uint64_t& value = variables_[table.variable_number(found)];
    steps_.for_each_piece(s, [&](PieceIndex p) {
      const bool same = steps_.is_event(s) && model_.must_see_the_same(s, p);
      if (const std::optional<std::uint64_t> bits = content(p);
          bits && !same) {  // else what it found in the recorded run
        value = (value & ~(mask(p) << shift(s, p))) | (*bits & mask(p)) << shift(s, p);
      }
    });
  }

  void write(StepId s) {
    const ExprId written = steps_.written(s);
    const std::uint64_t whole = written == kNoExpr ? 0 : model_.program().expressions.evaluate(written, variables_);
    steps_.for_each_piece(s, [&](PieceIndex p) {
      std::optional<std::uint64_t> bits;
      if (written != kNoExpr) {
        bits = whole >> shift(s, p) & mask(p);
      } else if (steps_.is_event(s)) {
        bits = model_.memory().left(s, p);
      }
      contents_[p] = {true, bits};
    });
  }

  const RecipeModel& model_;
  const Steps& steps_;
  const Window& window_;
  std::vector<std::uint64_t> variables_;
  FlatMap<Content> contents_;  // by piece
};

DetourEvent detour_event(const Steps& steps, StepId s, std::uint64_t after) {
  const DetourStep& step = steps.detour_step(s);
  return {ThreadId{steps.thread(s)}, step.at, step.op, step.object, step.size, after, {}};
}

}  // namespace

ValueWitness replay(const RecipeModel& model, const Steps& steps, const Window& window, const RaceTarget (&targets)[2],
                    std::span<const StepId> order) {
  ValueWitness witness;
  for (EventIndex e = 0; e < window.begin; ++e) {
    witness.order.push_back(EventId{e});
  }
  Replay memory(model, steps, window);
  for (const StepId s : order) {
    memory.execute(s);
    if (steps.is_event(s)) {
      witness.order.push_back(EventId{s});
      if (const std::optional<ReadValue> other = memory.other_value(s)) {
        witness.reads.push_back(*other);
      }
    } else if (!steps.detour_step(s).is_unnamed) {
      witness.detour.push_back(detour_event(steps, s, witness.order.size()));
      witness.detour.back().value = is_read(steps.op(s)) ? memory.value_read(s) : std::nullopt;
    }
  }
  for (const int i : {0, 1}) {
    NextAccess& next = witness.next[i];
    next.thread = ThreadId{targets[i].thread};
    if (targets[i].is_event()) {
      next.event = EventId{targets[i].event};
    } else {
      next.unexecuted = detour_event(steps, steps.target(i), witness.order.size());
      next.branch = model.thread(targets[i].thread).detours[targets[i].detour].branch;
    }
  }
  return witness;
}

std::vector<std::uint64_t> replay_values(const RecipeModel& model, const Steps& steps, const Window& window,
                                         std::span<const StepId> order) {
  Replay memory(model, steps, window);
  for (const StepId s : order) {
    memory.execute(s);
  }
  for (const int i : {0, 1}) {
    memory.look(steps.target(i));
  }
  return memory.variables();
}

}  // namespace sooth
