// One finding per id: what different sites of the trace found at the same place of the user's code is the same race.
#pragma once

#include "race/finding.h"
#include "race/user_code.h"

namespace sooth {

// Whether `a` is proven better than `b`: by its rung, then by an exact trace, then by a checked witness.
bool better_proven(const Finding& a, const Finding& b);

// Adds what `other`, which has the same id, knows to `finding`, but for the order of found_by. The better proven one
// gives the accesses and the witness.
void merge_finding(Finding& finding, Finding other);

// Gives it another id, also in what repeats it.
void rename(Finding& finding, const std::string& id);

// Collapses findings with equal ids, and races at the same places of whose variable some know nothing or less into those
// that know it, which give the id; ids must be filled. The best proven one stays, with its accesses and its witness
// (a witness of other events would prove nothing about these): the highest rung, then from an exact trace, then with a
// checked witness, then the first. It gets everybody who found one of them, in the order of report.stats.analyses,
// the sum of dynamic pairs and the smallest distance. Findings are then sorted as a report wants them: highest rung
// first, those of traces before those of runs that were only watched, then by first event, then by the events after it: by
// nothing that depends on how sites are numbered.
void merge_equal_findings(Report& report);

// The same by pair_key(): for controlled runs, which try each pair of sites by itself although several of them may be
// one bug.
void merge_equal_pairs(Report& report, const UserCode& user_code);

}  // namespace sooth
