// What an older report already told, and what of the rest makes a run fail.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "race/finding.h"
#include "report/identity.h"

namespace sooth {

// Marks the findings of `report` whose id `older` has, too, as known. Ids must be filled.
void mark_known(Report& report, const Report& older);

// The same with the report in the file `path`, which may be one of before ids had their version.
Status apply_baseline(Report& report, const std::string& path, const IdentityOptions& identity = {});

// Gives the findings of a report that was written before ids had their version the ids that they have now, from what the
// report says of them and from the source files as they are. True when some of those files have changed since: lines
// that have moved then give other ids.
bool upgrade_ids(Report& report, const IdentityOptions& identity = {});

// What counts for --fail-on: the rung, except that a witness from a trace that is not exact counts as a suspicion
// until a controlled run confirms it.
Rung rung_for_failing(const Finding& finding);

// kFindings when a finding that is not known stands at or above `fail_on`; nullopt never fails.
ExitCode exit_code_for(const Report& report, std::optional<Rung> fail_on);

}  // namespace sooth
