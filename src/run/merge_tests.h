// One result of `sooth test` from many: the shards of a campaign, or several campaigns.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace sooth {

inline constexpr char kTestSchema[] = "sooth-test/1";

struct TestText {
  std::string path;  // for sentences
  std::string text;  // what `sooth test --format json` wrote
};

// Whether the text looks like a result of `sooth test`, rather than a report.
bool is_test_result(const std::string& text);

// Runs that ended in the same way, and outputs that are the same, are counted together, whichever result they are in;
// what is usual is then decided anew. All shards of a campaign of the strategies random and pct give, byte for byte,
// what the campaign gives without shards; directed shards record for themselves, so theirs adds up, but is not the
// same. Shards that are missing are named. The order of the results plays no part, and one that is given twice counts
// once. Fails when one is no such result, or is of another program or strategy than the others; any bytes may be thrown
// at it.
Result<std::string> merge_tests(const std::vector<TestText>& results);

}  // namespace sooth
