// Where reports go: one file per format, one row per format in sink.cc.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "base/status.h"
#include "race/finding.h"

namespace sooth {

struct SinkOptions {
  bool color = false;
  bool stats = false;  // with the figures of --stats (text only; JSON always has them)
};

struct SinkInfo {
  std::string_view name;     // as in --format
  std::string_view summary;
  Status (*write)(const Report& report, const SinkOptions& options, std::ostream& out);
};

std::span<const SinkInfo> sinks();
// nullptr when there is no such format.
const SinkInfo* find_sink(std::string_view name);

}  // namespace sooth
