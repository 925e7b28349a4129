// One finding per fingerprint: what different sites of the trace (inlined or duplicated code) found at the same place
// of the source is the same race.
#pragma once

#include "race/finding.h"

namespace sooth {

// Collapses findings with equal ids; ids must be filled. The best proven one stays, with its accesses and its witness
// (a witness of other events would prove nothing about these): the highest rung, then from an exact trace, then with a
// checked witness, then the first. It gets everybody who found one of them, in the order of report.stats.analyses,
// the sum of dynamic pairs and the smallest distance. Findings are then sorted as a report wants them: highest rung
// first, then by first event, then by the events after it: by nothing that depends on how sites are numbered.
void merge_equal_findings(Report& report);

}  // namespace sooth
