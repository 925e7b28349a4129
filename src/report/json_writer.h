// Parts of the JSON report for formats that contain them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "race/finding.h"
#include "report/sink.h"

namespace sooth {

// As docs/report.schema.json has them; a witness has all its stretches beside it.
nlohmann::ordered_json finding_json(const Finding& finding);
nlohmann::ordered_json site_json(const Site& site);
// The report without its findings.
nlohmann::ordered_json frame_json(const Report& report, const SinkOptions& options);

}  // namespace sooth
