// In place of the rest of this folder when Sooth is built without LLVM (SOOTH_WITH_DEEP=OFF). DeepProgram::load() has
// told the user before anything here is reached.
#include "recipe/judge/check.h"

namespace sooth {
namespace {

Status not_built() { return Status::usage("this sooth was built without deep recordings (SOOTH_WITH_DEEP=OFF)"); }

}  // namespace

class RecordedRun {};

ValueJudge::ValueJudge(ValueJudge&&) noexcept = default;
ValueJudge& ValueJudge::operator=(ValueJudge&&) noexcept = default;
ValueJudge::~ValueJudge() = default;
Result<ValueJudge> ValueJudge::make(const DeepProgram&, const TraceView&, std::span<const EventId>) {
  return not_built();
}
Status ValueJudge::check(const ValueWitness&) const { return not_built(); }

}  // namespace sooth
