// The shards of a campaign, put together.
#pragma once

#include <vector>

#include "race/finding.h"

namespace sooth {

// Reports that are shards of one campaign (Report::shard) become the report that the campaign would have written
// without shards; the others stay as they are. A shard that is missing is told as a gap. Of two reports of one shard
// the first counts. The order of the answer is that of the first shard of each campaign.
std::vector<Report> join_shards(std::vector<Report> reports);

}  // namespace sooth
