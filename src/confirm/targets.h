// From findings to what controlled runs are steered to: the code of their places, and the way that the trace shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "confirm/campaign.h"
#include "confirm/site_code.h"
#include "race/finding.h"
#include "symbol/module_symbols.h"

namespace sooth {

// Whether it is one of sections that another may come between, so that runs can be steered there.
inline bool is_split(const Finding& finding) {
  return finding.kind == FindingKind::kAtomicity && finding.accesses.size() == 3 &&
         finding.accesses[1].op == Op::kAcquire && finding.accesses[2].op == Op::kAcquire;
}

// Which findings can be tried at all: races, deadlocks and split sections that are not in the baseline.
bool can_be_confirmed(const Finding& finding);

// A target, and why its witness is not followed, as a sentence; empty when it is, or there is none.
struct FoundTarget {
  Target target;
  std::string no_witness;
};

// For the findings of one trace. Not thread safe.
class TargetFinder {
 public:
  // `program`, `recorded` and `trace` as for CodeFinder; `max_events`: of the trace in memory. The findings that are
  // going to be asked for name no event behind `last` (last_event_of()).
  TargetFinder(std::string program, const std::string& recorded, const std::string& trace, std::uint64_t max_events,
               EventId last);
  ~TargetFinder();

  // The error says why it cannot be tried. `tell_variables`: other findings are about other variables at the same
  // places, and a run must reach this one.
  Result<FoundTarget> find(const Finding& finding, bool tell_variables = false);

  // As CodeFinder::notes().
  const std::vector<std::string>& notes() const { return code_.notes(); }

 private:
  class WitnessTrace;
  // The addresses of the variable that the finding is about, in the file of the program.
  std::optional<std::vector<AddressRange>> variable_of(const Finding& finding);
  // Where variables of that name are there, "accounts[0].balance" in all of its elements.
  std::vector<AddressRange> ranges_of(const std::string& name);

  std::string program_;
  TypeCatalog types_;
  std::unique_ptr<ModuleSymbols> symbols_;  // of the program, once asked for
  std::vector<PlacedGlobal> globals_;
  CodeFinder code_;
  std::unique_ptr<WitnessTrace> trace_;
};

// The last event up to which the trace is needed for the targets of these findings.
EventId last_event_of(const std::vector<const Finding*>& findings, std::uint64_t max_events);

}  // namespace sooth
