#include "confirm/explorer_steps.h"

#include <algorithm>

namespace sooth {
namespace {

bool have_common_byte(const std::vector<ExploredStep::Part>& first, const std::vector<ExploredStep::Part>& second) {
  for (auto a = first.begin(), b = second.begin(); a != first.end() && b != second.end();) {
    if (a->granule == b->granule && (a->bytes & b->bytes) != 0) {
      return true;
    }
    const bool forward = a->granule <= b->granule;
    const bool other = b->granule <= a->granule;
    a += forward ? 1 : 0;
    b += other ? 1 : 0;
  }
  return false;
}

bool awaits_end(const ExploredStep& join, const ExploredStep& last) {
  return join.op == Op::kJoin && last.ends_thread &&
         std::find(join.parts.begin(), join.parts.end(), last.end) != join.parts.end();
}

}  // namespace

StepRelation relation(const StepPtr& first, const StepPtr& second) {
  if (first == nullptr || second == nullptr) {
    // One that ends the process ends whatever the other is about.
    const bool ends = (first != nullptr && first->is_everything) || (second != nullptr && second->is_everything);
    return ends ? StepRelation::kDependent : StepRelation::kIndependent;
  }
  // Fences are in one order with all that is sequentially consistent.
  const bool is_in_order = first->in_s && second->in_s && (first->op == Op::kFence || second->op == Op::kFence);
  // Threads are numbered in the order in which they are created.
  if (is_in_order || first->is_everything || second->is_everything ||
      (first->op == Op::kFork && second->op == Op::kFork) ||
      ((first->writes || second->writes) && have_common_byte(first->parts, second->parts))) {
    return StepRelation::kDependent;
  }
  return awaits_end(*second, *first) ? StepRelation::kOrdered : StepRelation::kIndependent;
}

bool are_conflicting(const ExploredStep& first, const ExploredStep& second) {
  const auto touches = [](const ExploredStep& step) { return step.is_plain() || is_access(step.op); };
  return touches(first) && touches(second) && (first.is_plain() || second.is_plain()) &&
         (is_write(first.op) || is_write(second.op)) && !first.is_everything && !second.is_everything &&
         have_common_byte(first.parts, second.parts);
}

}  // namespace sooth
