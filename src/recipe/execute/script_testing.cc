#include "recipe/execute/script_testing.h"

#include <llvm/IR/Module.h>

#include "base/ids.h"

namespace sooth {

DeepProgram Script::parse(std::string text, std::vector<std::pair<std::string, std::uint64_t>> addresses) {
  const DeepModuleText module{
      "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n" +
          std::move(text),
      std::move(addresses)};
  Result<DeepProgram> program = DeepProgram::parse(std::span(&module, 1));
  EXPECT_TRUE(program.ok()) << program.status().message();
  return std::move(*program);
}

std::string Script::name_of(const DeepProgram& program, std::uint32_t function) {
  return program.function(0, function)->getName().str();
}

void check_recorded(const SymbolicProgram& made, const TraceView& trace) {
  const std::vector<std::uint64_t> values = made.expressions.evaluate_all(made.recorded);
  ASSERT_EQ(made.recorded.size(), made.expressions.variable_count());
  for (const SymbolicThread& thread : made.threads) {
    for (const PathCondition& condition : thread.conditions) {
      EXPECT_EQ(values[raw(condition.holds)], 1u) << made.expressions.to_string(condition.holds);
    }
    for (const SymbolicAccess& access : thread.accesses) {
      const Event& event = trace.events[access.event];
      if (access.written != kNoExpr && event.op != Op::kAtomicRmw) {
        EXPECT_EQ(values[raw(access.written)], trace.values[access.event].low)
            << made.expressions.to_string(access.written);
      }
    }
  }
}

}  // namespace sooth
