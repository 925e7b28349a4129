#include "confirm/targets.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "race/site_key.h"
#include "race/trace_store.h"
#include "race/user_code.h"
#include "race/witness_summary.h"
#include "trace/reader.h"

namespace sooth {
namespace {

// Bounds of what is tried along the recorded run when there is no witness: it may be in vain.
constexpr std::uint64_t kMaxGuessEvents = 5'000'000;
constexpr std::size_t kMaxGuessStretches = 100'000;
constexpr std::size_t kMaxPartsOfVariable = 100'000;  // of a variable, that are looked at

bool has_witness(const Finding& finding) { return finding.witness.has_value() && finding.witness->checked; }

}  // namespace

// The part of the trace that the witnesses speak of, read when the first of them is to be followed.
class TargetFinder::WitnessTrace {
 public:
  WitnessTrace(std::string path, std::uint64_t max_events, EventId up_to)
      : path_(std::move(path)), max_events_(max_events), up_to_(up_to) {}

  // Of a race without a witness: guesses, or none.
  Result<std::vector<WitnessSchedule>> schedules(const Finding& finding) {
    if (raw(events_named(finding)) > (has_witness(finding) ? max_events_ : kMaxGuessEvents)) {
      return Status::bad_input("the witness goes beyond the first " + std::to_string(max_events_) +
                               " events of the trace");
    }
    if (!store_) {
      store_ = load();
    }
    if (!store_->ok()) {
      return store_->status();
    }
    const TraceStore& store = **store_;
    return has_witness(finding) ? schedules_of_witness(finding, store.view(), store.info())
                                : schedules_of_recorded_run(finding, store.view(), store.info(), kMaxGuessStretches);
  }

 private:
  Result<TraceStore> load() const {
    if (path_.empty() || path_ == "-") {
      return Status::bad_input("the report names no trace");
    }
    auto reader = open_trace(path_);
    if (!reader.ok()) {
      return std::move(reader).status();
    }
    Result<TraceStore> store = load_trace(**reader, max_events_, up_to_);
    return store.ok() ? std::move(store) : Result<TraceStore>(std::move(store).status().prefixed(path_));
  }

  std::string path_;
  std::uint64_t max_events_;
  EventId up_to_;
  std::optional<Result<TraceStore>> store_;
};

TargetFinder::TargetFinder(std::string program, const std::string& recorded, const std::string& trace,
                           std::uint64_t max_events, EventId last)
    : program_(program),
      code_(std::move(program), recorded, trace),
      trace_(std::make_unique<WitnessTrace>(trace, max_events, last)) {}

TargetFinder::~TargetFinder() = default;

std::optional<std::vector<AddressRange>> TargetFinder::variable_of(const Finding& finding) {
  const std::optional<MemoryContext>& memory = finding.context.memory;
  if (!memory.has_value() || program_.empty()) {
    return std::nullopt;
  }
  std::vector<AddressRange> ranges;
  if (memory->kind != MemoryKind::kGlobal) {
    return ranges;
  }
  ranges = ranges_of(memory->name);
  return ranges.empty() ? std::nullopt : std::optional(std::move(ranges));
}

std::vector<AddressRange> TargetFinder::ranges_of(const std::string& name) {
  if (symbols_ == nullptr) {
    Result<std::unique_ptr<ModuleSymbols>> opened = ModuleSymbols::open(program_, "");
    if (!opened.ok()) {
      return {};
    }
    symbols_ = std::move(*opened);
    symbols_->use_types(types_);
    globals_ = symbols_->globals();
  }
  const std::string wanted = bare_variable(name);
  std::vector<AddressRange> ranges;
  for (const auto& [address, variable] : globals_) {
    const std::string whole = bare_variable(variable.name);
    if (whole == wanted) {
      ranges.push_back({address, address + std::max<std::uint64_t>(variable.size, 1)});
    } else if (wanted.starts_with(whole + ".") || wanted.starts_with(whole + "[")) {
      // Its parts, of all elements.
      std::uint64_t offset = 0;
      for (std::size_t i = 0; i < kMaxPartsOfVariable && offset < variable.size; ++i) {
        const TypePart part = find_part(types_.types(), variable.type, offset, 1);
        const std::uint64_t end = std::max(offset + 1, part.offset + part.size);
        if (bare_variable(variable.name + part.path).starts_with(wanted)) {
          ranges.push_back({address + offset, address + end});
        }
        offset = end;
      }
    }
  }
  return ranges;
}

Result<FoundTarget> TargetFinder::find(const Finding& finding, bool tell_variables) {
  FoundTarget found;
  Target& target = found.target;
  target.kind = finding.kind;
  if (finding.kind == FindingKind::kRace) {
    Result<PairCode> pair = code_.find_pair(finding);
    if (!pair.ok()) {
      return std::move(pair).status();
    }
    target.pair = std::move(*pair);
    target.variable = tell_variables ? variable_of(finding) : std::nullopt;
  } else if (finding.kind == FindingKind::kAtomicity) {
    Result<PlaceCode> second = code_.find(finding.accesses[2].site);
    Result<PlaceCode> between = second.ok() ? code_.find(finding.accesses[1].site) : second.status();
    if (!between.ok()) {
      return std::move(between).status();
    }
    const bool is_first_there = site_key(finding.accesses[0].site) == site_key(finding.accesses[2].site);
    target.pair.sites = split_code(*second, *between, is_first_there);
  } else {
    for (const Access& acquire : finding.accesses) {
      Result<PlaceCode> place = code_.find(acquire.site);
      if (!place.ok()) {
        return std::move(place).status();
      }
      target.acquires.push_back(std::move(*place));
      target.locks.push_back(acquire.variable.empty() || program_.empty() ? std::vector<AddressRange>()
                                                                          : ranges_of(acquire.variable));
    }
  }
  target.proven = has_witness(finding);
  if (target.proven || finding.kind == FindingKind::kRace) {
    Result<std::vector<WitnessSchedule>> schedules = trace_->schedules(finding);
    if (schedules.ok()) {
      target.witnesses = std::move(*schedules);
    } else if (target.proven) {
      found.no_witness = "not tried: " + schedules.status().message();
    }
  }
  return found;
}

bool can_be_confirmed(const Finding& finding) {
  return (finding.kind == FindingKind::kRace || finding.kind == FindingKind::kDeadlock || is_split(finding)) &&
         !finding.failure.has_value() && !finding.known;
}

EventId last_event_of(const std::vector<const Finding*>& findings, std::uint64_t max_events) {
  std::uint64_t last = 0;
  for (const Finding* finding : findings) {
    const std::uint64_t named = raw(events_named(*finding));
    const std::uint64_t most = has_witness(*finding) ? max_events : std::min(kMaxGuessEvents, max_events);
    last = std::max(last, named <= most ? named : 0);
  }
  return EventId{last};
}

}  // namespace sooth
