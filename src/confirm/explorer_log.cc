#include "confirm/explorer_log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "schedule/strategy.h"

namespace sooth {
namespace {

using control::LogRecord;
using control::RecordKind;

constexpr std::uint32_t kMaxThreads = 64;  // bits of a kPoint record
constexpr std::uint64_t kMaxParts = 64;    // of a step; a program writes no more

class Reader {
 public:
  Result<Execution> read(const RunLog& log) {
    for (std::size_t i = 0; i < log.points.size() && !execution_.is_cut; ++i) {
      if (!take(log.points[i])) {
        return Status::bad_input("the log of the controlled run is damaged: record " + std::to_string(i) +
                                 " of its points is not one that a program writes");
      }
    }
    execution_.is_cut = execution_.is_cut || log.truncated;
    execution_.ends_process =
        !execution_.is_cut && log.state != control::RunState::kDeadlocked && log.state != control::RunState::kHung;
    execution_.is_repeatable = log.processes.empty() || log.processes.front().external == 0;
    return std::move(execution_);
  }

 private:
  struct Thread {
    StepPtr pending;
    std::shared_ptr<ExploredStep> announced;  // since its last point
    LogRecord at{};                           // the last kStepAt
    std::size_t last_turn = ~std::size_t{0};  // index of the point
  };

  bool take(const LogRecord& record) {
    if (record.kind == RecordKind::kModule) {
      add_module_name(record);
      return true;
    }
    if (record.thread >= kMaxThreads && !(record.kind == RecordKind::kPoint && record.thread == control::kNone)) {
      execution_.is_cut = true;  // more threads than can be told apart
      return true;
    }
    switch (record.kind) {
      case RecordKind::kStepAt: threads_[record.thread].at = record; return true;
      case RecordKind::kStep: return add_step(record, threads_[record.thread]);
      case RecordKind::kPoint: return add_point(record);
      case RecordKind::kMemory: return add_seen(record, threads_[record.thread]);
      case RecordKind::kEarly: delay_ = std::max(delay_, record.a); return true;
      default: return false;
    }
  }

  void add_module_name(const LogRecord& record) {
    Module& module = modules_[record.thread];
    if (module.is_whole) {
      module = {};
    }
    char part[3 * sizeof(std::uint64_t)];
    std::memcpy(part, &record.a, sizeof part);
    const std::size_t length = strnlen(part, sizeof part);
    module.path.append(part, length);
    module.is_whole = length < sizeof part;
  }

  static void add_parts(const LogRecord& record, ExploredStep& step) {
    const std::uint64_t skipped = record.a >> 16 & (control::kGranule - 1);
    for (std::uint64_t granule = record.b; granule <= record.c; ++granule) {
      const std::uint64_t begin = step.parts.size() * control::kGranule;  // bytes from that of the first granule on
      std::uint8_t bytes = 0;
      for (std::uint64_t i = 0; i < control::kGranule; ++i) {
        const bool touched =
            (record.a & control::kWholeGranules) != 0 || (begin + i >= skipped && begin + i < skipped + step.size);
        bytes = static_cast<std::uint8_t>(bytes | (touched ? 1u << i : 0u));
      }
      step.parts.push_back({granule, bytes});
    }
  }

  bool add_step(const LogRecord& record, Thread& thread) {
    const std::uint64_t number = record.a & 0xff;
    const bool is_everything = (record.a >> 9 & 1) != 0;
    if (number >= static_cast<std::uint64_t>(kOpCount) || (record.b <= record.c && record.c - record.b >= kMaxParts)) {
      return false;
    }
    if (static_cast<Op>(number) == Op::kBegin) {
      return true;  // up to its first own point a thread does nothing that others could see
    }
    ExploredStep fresh;
    fresh.op = static_cast<Op>(number);
    fresh.writes = (record.a >> 8 & 1) != 0;
    fresh.is_everything = is_everything;
    fresh.in_s = (record.a & control::kInSequentialOrder) != 0;
    fresh.size = static_cast<std::uint32_t>(record.a >> 32);
    if (fresh.op == Op::kCallEnd) {
      change_last(thread, [](ExploredStep& last) { last.writes = false; });
      return true;
    }
    if (fresh.op == Op::kEnd) {
      add_parts(record, fresh);
      change_last(thread, [&](ExploredStep& last) {
        last.ends_thread = true;
        last.end = fresh.parts.empty() ? ExploredStep::Part{} : fresh.parts.front();
      });
      return !is_everything;
    }
    if (thread.announced == nullptr) {
      const auto module = modules_.find(static_cast<std::uint32_t>(thread.at.b));
      fresh.module = module == modules_.end() ? "" : module->second.path;
      // In none of the modules: nobody can say where that is in the next run.
      fresh.offset = module == modules_.end() ? 0 : thread.at.a;
      fresh.events = thread.at.b >> 32;
      fresh.accesses = static_cast<std::uint32_t>(thread.at.c);
      fresh.variable = static_cast<std::uint32_t>(thread.at.c >> 32);
      thread.announced = std::make_shared<ExploredStep>(std::move(fresh));
    }
    if (!is_everything) {
      add_parts(record, *thread.announced);
    }
    return thread.announced->parts.size() <= kMaxParts;
  }

  // What came to light about what the thread did at its last turn.
  template <typename F>
  void change_last(const Thread& thread, F change) {
    if (thread.last_turn < execution_.points.size()) {
      StepPtr& done = execution_.points[thread.last_turn].done;
      auto last = done == nullptr ? std::make_shared<ExploredStep>() : std::make_shared<ExploredStep>(*done);
      change(*last);
      done = std::move(last);
    }
  }

  // The thread's last turn had a choice of what to see.
  bool add_seen(const LogRecord& record, const Thread& thread) {
    const auto chosen = static_cast<std::uint16_t>(record.a >> 16 & 0xff);
    const auto choices = static_cast<std::uint16_t>(record.a >> 8 & 0xff);
    if (thread.last_turn < execution_.points.size()) {
      execution_.points[thread.last_turn].seen.push_back({chosen, choices});
    } else {
      execution_.is_cut = true;  // before the first point: nobody else can be there yet
    }
    return chosen < choices;
  }

  // A look at the clock is none: it is nowhere in the code, and may be that of a sleep.
  static bool is_instruction(const ExploredStep& step) { return is_access(step.op) && step.offset != 0; }

  void announce(Thread& thread, ExploredPoint& point, control::StretchEnd how) {
    if (thread.announced != nullptr) {
      std::sort(thread.announced->parts.begin(), thread.announced->parts.end(),
                [](const auto& a, const auto& b) { return a.granule < b.granule; });
      thread.pending = std::move(thread.announced);
      thread.announced = nullptr;
      point.is_fresh = true;
    } else if (how == control::StretchEnd::kYielded || how == control::StretchEnd::kOutside ||
               how == control::StretchEnd::kTaken ||
               (how == control::StretchEnd::kBlocked && thread.pending != nullptr && is_instruction(*thread.pending))) {
      // Is done: nothing but the yield comes next, or what nobody sees. No access waits; an acquire or a sleep does.
      thread.pending = nullptr;
    }
  }

  bool add_point(const LogRecord& record) {
    const auto kind = static_cast<SchedulingPoint>(record.c & 0xff);
    const auto how = static_cast<control::StretchEnd>(record.c >> 8 & 0xff);
    ExploredPoint point;
    point.stretches = stretches_;
    point.delay = delay_;
    if (record.thread != control::kNone) {
      announce(threads_[record.thread], point, how);
      stretches_ += kind == SchedulingPoint::kBlocked || record.b != record.thread ? 1 : 0;
    }
    if (record.b == control::kNone) {
      return true;  // nobody can run; or somebody comes back from outside
    }
    if (record.b >= kMaxThreads || execution_.points.size() == kMaxExploredPoints) {
      execution_.is_cut = true;
      return true;
    }
    point.from = record.thread;
    point.chosen = static_cast<std::uint32_t>(record.b);
    point.ready = record.a == 0 ? std::uint64_t{1} << point.chosen : record.a;
    point.is_free = kind != SchedulingPoint::kOperation || record.thread == control::kNone;
    if ((point.ready >> point.chosen & 1) == 0) {
      return false;
    }
    Thread& chosen = threads_[point.chosen];
    chosen.last_turn = execution_.points.size();
    point.done = chosen.pending;
    point.pending.resize(threads_.rbegin()->first + std::size_t{1});
    for (const auto& [id, thread] : threads_) {
      point.pending[id] = thread.pending;
    }
    execution_.points.push_back(std::move(point));
    return true;
  }

  struct Module {
    std::string path;
    bool is_whole = false;
  };
  std::map<std::uint32_t, Module> modules_;
  std::map<std::uint32_t, Thread> threads_;
  std::uint64_t stretches_ = 0;
  std::uint64_t delay_ = 0;
  Execution execution_;
};

}  // namespace

Result<Execution> execution_of(const RunLog& log) { return Reader().read(log); }

}  // namespace sooth
