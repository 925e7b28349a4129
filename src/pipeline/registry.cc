#include "pipeline/registry.h"

namespace sooth {

std::span<const DetectorInfo> detectors() { return {}; }

const DetectorInfo* find_detector(std::string_view name) {
  for (const DetectorInfo& info : detectors()) {
    if (info.name == name) {
      return &info;
    }
  }
  return nullptr;
}

}  // namespace sooth
