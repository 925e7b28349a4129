// What atomic operations of a run with weak memory saw that was not the newest, in words.
#pragma once

#include <string>
#include <vector>

#include "confirm/code_names.h"
#include "schedule/run_log.h"

namespace sooth {

// A sentence for each, the last `most` of them: "T2 read 0 from `ready` at mp.cc:14, what was there at first, although T1 had
// stored 1 before it in time at mp.cc:8: no order forbids it".
std::vector<std::string> describe_older(const ProcessLog& process, CodeNames& names, std::size_t most = 6);

}  // namespace sooth
