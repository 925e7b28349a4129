#include "detect/detector.h"

namespace sooth {

std::string_view guarantee_name(Guarantee guarantee) {
  switch (guarantee) {
    case Guarantee::kSound: return "sound";
    case Guarantee::kSoundFirstOnly: return "sound for the first race";
    case Guarantee::kHeuristic: return "heuristic";
  }
  return "unknown";
}

}  // namespace sooth
