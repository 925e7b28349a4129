// In place of the rest of this folder when Sooth is built without LLVM (SOOTH_WITH_DEEP=OFF). DeepProgram::load() has
// told the user before anything here is reached.
#include "recipe/witness_report.h"

namespace sooth {

Result<ValueWitness> restore(const WitnessSummary&, std::vector<EventId>) {
  return Status::usage("this sooth was built without deep recordings (SOOTH_WITH_DEEP=OFF)");
}

}  // namespace sooth
