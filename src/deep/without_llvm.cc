// In place of the rest of this folder when Sooth is built without LLVM (SOOTH_WITH_DEEP=OFF): there is no code of
// programs to look at, and whoever asks for it is told so.
#include "deep/program.h"
#include "deep/walk.h"

namespace sooth {

struct DeepProgram::State {};

Result<DeepProgram> DeepProgram::load(const std::string& recording) {
  return Status::usage(recording + ": this sooth was built without deep recordings (SOOTH_WITH_DEEP=OFF)");
}

DeepProgram::DeepProgram(DeepProgram&&) noexcept = default;
DeepProgram& DeepProgram::operator=(DeepProgram&&) noexcept = default;
DeepProgram::~DeepProgram() = default;

// Nobody has a program to ask.
std::size_t DeepProgram::modules() const { return 0; }
std::uint32_t DeepProgram::functions(std::uint32_t) const { return 0; }

std::vector<ThreadWalk> walk_threads(const DeepProgram&, std::span<const Event>, std::span<const Value>,
                                     std::span<const DeepRecord>) {
  return {};
}

}  // namespace sooth
