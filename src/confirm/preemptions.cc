#include "confirm/preemptions.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.h"
#include "race/user_code.h"
#include "trace/op.h"
#include "trace/thread_label.h"

namespace sooth {
namespace {

using control::Stretch;

// A step of a thread.
struct Step {
  std::uint64_t events = 0, accesses = 0;  // that it had done before
  std::uint64_t offset = 0;
  std::uint32_t module = 0;
  std::string deed = "step";
};

std::string deed_of(std::uint64_t op) {
  if (op >= static_cast<std::uint64_t>(kOpCount)) {
    return "step";
  }
  switch (static_cast<Op>(op)) {
    case Op::kRead: return "read";
    case Op::kWrite: return "write";
    case Op::kAtomicLoad: return "atomic load";
    case Op::kAtomicStore: return "atomic store";
    case Op::kAtomicRmw: return "atomic update";
    case Op::kAcquire: return "lock";
    case Op::kRelease: return "unlock";
    case Op::kFork: return "start of a thread";
    case Op::kJoin: return "join";
    case Op::kCondNotify: return "notification";
    case Op::kCondWait: return "wait";
    case Op::kBarrierArrive:
    case Op::kBarrierLeave: return "barrier";
    case Op::kSemPost: return "post";
    case Op::kSemWait: return "wait";
    case Op::kFence: return "fence";
    case Op::kAlloc: return "allocation";
    case Op::kFree: return "release of memory";
    default: return "step";
  }
}

// What a thread does around a position, in the user's code if that is known.
class Surroundings {
 public:
  Surroundings(const RunLog& log, CodeNames& names) : log_(log), names_(names) {}

  // "the read at account.cc:12:3" and the next one; empty: unknown.
  std::pair<std::string, std::string> of(const Stretch& stretch) {
    const std::vector<Step> steps = steps_of(stretch.thread);
    const auto middle = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.events > stretch.events || (step.events == stretch.events && step.accesses >= stretch.accesses);
    });
    std::pair<Named, Named> around{nearest(std::make_reverse_iterator(middle), steps.rend()),
                                   nearest(middle, steps.end())};
    if (around.first.is_user != around.second.is_user) {
      (around.first.is_user ? around.second : around.first).text.clear();  // one place that is known says more
    }
    return {std::move(around.first.text), std::move(around.second.text)};
  }

 private:
  struct Named {
    std::string text;
    bool is_user = false;
  };

  std::vector<Step> steps_of(std::uint32_t thread) const {
    std::vector<Step> steps;
    bool is_open = false;  // the deed of the last one comes next
    for (const control::LogRecord& record : log_.points) {
      if (record.thread != thread) {
        continue;
      }
      if (record.kind == control::RecordKind::kStepAt) {
        steps.push_back(
            {record.b >> 32, static_cast<std::uint32_t>(record.c), record.a, static_cast<std::uint32_t>(record.b)});
        is_open = true;
      } else if (record.kind == control::RecordKind::kStep && is_open) {
        steps.back().deed = deed_of(record.a & 0xff);
        is_open = false;
      }
    }
    return steps;
  }

  // The first one in the user's code, or else the very first.
  template <typename Iterator>
  Named nearest(Iterator begin, Iterator end) {
    Named first;
    for (Iterator step = begin; step != end; ++step) {
      const std::optional<Site> site = site_of(*step);
      if (!site.has_value()) {
        continue;
      }
      const Named named{"the " + step->deed + " at " + name_of(*site), UserCode().is_user(*site)};
      if (named.is_user) {
        return named;
      }
      first = first.text.empty() ? named : first;
    }
    return first;
  }

  std::optional<Site> site_of(const Step& step) {
    const auto& modules = log_.processes.front().modules;
    const auto module = modules.find(step.module);
    if (step.offset == 0 || module == modules.end()) {
      return std::nullopt;
    }
    std::vector<Site> stack = names_.stack({{module->second, step.offset}});
    return stack.empty() ? std::nullopt : std::optional(std::move(stack.front()));
  }

  const RunLog& log_;
  CodeNames& names_;
};

std::string describe(const Stretch& stretch, std::uint32_t next, const std::pair<std::string, std::string>& around) {
  const auto& [before, after] = around;
  const std::string where = !before.empty() && !after.empty() ? "between " + before + " and " + after
                            : !after.empty()                  ? "before " + after
                            : !before.empty()                 ? "after " + before
                                              : "after " + counted(stretch.events, "operation", "operations") +
                                                    " and " + counted(stretch.accesses, "access", "accesses");
  return "preempt " + thread_label(stretch.thread) + " " + where + ", and let " + thread_label(next) + " run";
}

}  // namespace

bool could_go_on(const Stretch& stretch) {
  return stretch.end == control::StretchEnd::kPreempted || stretch.end == control::StretchEnd::kPostponed;
}

std::vector<std::size_t> preemptions_of(const std::vector<Stretch>& stretches) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i + 1 < stretches.size(); ++i) {
    if (could_go_on(stretches[i]) && stretches[i + 1].thread != stretches[i].thread) {
      at.push_back(i);
    }
  }
  return at;
}

RunPlan with_places(RunPlan plan) {
  plan.flags |= control::kLogPoints | control::kEveryAccess;
  return plan;
}

std::vector<std::string> describe_preemptions(const RunLog& log, CodeNames& names) {
  std::vector<std::string> sentences;
  if (log.processes.empty()) {
    return sentences;
  }
  Surroundings surroundings(log, names);
  const std::vector<Stretch>& stretches = log.processes.front().stretches;
  for (const std::size_t at : preemptions_of(stretches)) {
    sentences.push_back(describe(stretches[at], stretches[at + 1].thread, surroundings.of(stretches[at])));
  }
  return sentences;
}

}  // namespace sooth
