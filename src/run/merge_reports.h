// One report from many: of several runs of a program, of its processes, of the shards of a campaign.
#pragma once

#include <string>
#include <vector>

#include "race/finding.h"

namespace sooth {

// One finding per fingerprint, on the highest rung that one of the reports has it on, with the accesses, witness and
// replay of that one; dynamic pairs and controlled runs add up. Notes and suppressions are united, figures added. What
// the reports disagree about (trace, program) stays empty. Shards of one campaign are first put together
// (join_shards.h). The order of the reports plays no part, and equal reports count once.
Report merge_reports(std::vector<Report> reports);

// Lets the replays of the report name the file that it is going to be in.
void name_replays(Report& report, const std::string& file);

}  // namespace sooth
