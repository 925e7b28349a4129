// In place of the rest of this folder when Sooth is built without LLVM (SOOTH_WITH_DEEP=OFF). DeepProgram::load() has
// told the user before anything here is reached.
#include "recipe/opaque/opaque_calls.h"

namespace sooth {

std::vector<OpaqueCall> find_opaque_calls(const DeepProgram&, const TraceView&, const FunctionNames&) { return {}; }
std::string callee_name(const llvm::CallBase&) { return {}; }
Site place_of(const OpaqueCall&, const DeepProgram&) { return {}; }
std::vector<CallMark> marks_of(const std::vector<OpaqueCall>&) { return {}; }

CallTrace::CallTrace(const DeepProgram&, const TraceView& trace, const FunctionNames&) : inserter_({}), view_(trace) {}
ValueWitness CallTrace::renumbered(ValueWitness witness) const { return witness; }

}  // namespace sooth
