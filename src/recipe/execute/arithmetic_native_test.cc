// Random C functions against the machine: what Arithmetic computes with values, and what its expressions say for other
// values that take the same way, must be what the compiled function returns. SOOTH_CASES functions from SOOTH_SEED on.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <llvm/IR/Module.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/ids.h"
#include "base/test_environment.h"
#include "recipe/execute/arithmetic.h"
#include "recipe/execute/branches.h"
#include "recipe/execute/code.h"

namespace sooth {
namespace {

constexpr unsigned kArguments = 4;
using Native = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t);
using Inputs = std::array<std::uint64_t, kArguments>;

constexpr char kPrelude[] = R"(
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long u64;
typedef signed char s8; typedef short s16; typedef int s32; typedef long s64;
#define DIVISION(T) \
  static inline T div_##T(T a, T b) { return b == 0 || ((T)-1 < 0 && b == (T)-1) ? a : (T)(a / b); } \
  static inline T rem_##T(T a, T b) { return b == 0 || ((T)-1 < 0 && b == (T)-1) ? a : (T)(a % b); }
DIVISION(u8) DIVISION(u16) DIVISION(u32) DIVISION(u64) DIVISION(s8) DIVISION(s16) DIVISION(s32) DIVISION(s64)
struct bits { u32 a : 3; s32 b : 7; u32 c : 12; s64 d : 33; };
)";

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  // One function that uses everything it has computed.
  std::string function(const std::string& name) {
    std::ostringstream out;
    out << "u64 " << name << "(u64 a0, u64 a1, u64 a2, u64 a3) {\n";
    values_ = {"a0", "a1", "a2", "a3"};
    const unsigned count = 3 + below(8);
    for (unsigned i = 0; i < count; ++i) {
      const std::string variable = "v" + std::to_string(i);
      out << "  " << type() << " " << variable << " = " << statement() << ";\n";
      if (below(5) == 0) {
        out << "  if (" << condition() << ") " << variable << " = " << expression(2) << ";"
            << (below(2) == 0 ? " else " + variable + " += 3;" : "") << "\n";
      }
      if (below(8) == 0) {
        out << "  switch (" << value() << " & 7) { case 1: " << variable << " ^= 5; break; case 2: case 5: " << variable
            << " = " << expression(1) << "; break; default: break; }\n";
      }
      if (below(8) == 0) {
        out << "  struct bits b" << i << " = {" << value() << ", " << value() << ", " << value() << ", " << value()
            << "}; b" << i << "."
            << "abcd"[below(4)] << " += " << value() << "; " << variable << " ^= b" << i << ".a + b" << i << ".b * b"
            << i << ".c - b" << i << ".d;\n";
      }
      values_.push_back(variable);
    }
    out << "  return 0";
    for (const std::string& v : values_) {
      out << " * 31 + (u64)" << v;
    }
    out << ";\n}\n";
    return out.str();
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string type() {
    static const char* const kTypes[] = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};
    return kTypes[below(8)];
  }
  std::string value() { return values_[below(static_cast<unsigned>(values_.size()))]; }
  std::string constant() {
    static const char* const kConstants[] = {"0",          "1",           "-1",           "7", "255", "0x8000",
                                             "0x7fffffff", "0x80000000u", "12345678901L", "31"};
    return kConstants[below(10)];
  }
  std::string statement() { return expression(3); }
  std::string condition() {
    static const char* const kOps[] = {"<", "<=", ">", ">=", "==", "!="};
    return "(" + type() + ")(" + expression(1) + ") " + kOps[below(6)] + " (" + type() + ")(" + expression(1) + ")";
  }
  std::string expression(unsigned depth) {
    if (depth == 0) {
      return below(4) == 0 ? constant() : "(" + type() + ")" + value();
    }
    const std::string a = expression(depth - 1);
    const std::string b = expression(depth - 1);
    const std::string t = type();
    static const char* const kOps[] = {"+", "-", "*", "&", "|", "^"};
    switch (below(14)) {
      case 0: return "div_" + t + "(" + a + ", " + b + ")";
      case 1: return "rem_" + t + "(" + a + ", " + b + ")";
      case 2: return "((u64)(" + a + ") << ((" + b + ") & 63))";
      case 3: return "((u32)(" + a + ") >> ((" + b + ") & 31))";
      case 4: return "((s64)(" + a + ") >> ((" + b + ") & 63))";
      case 5: return "(" + condition() + " ? (u64)(" + a + ") : (u64)(" + b + "))";
      case 6: return "(u64)(" + t + ")(~(" + a + "))";
      case 7: return below(2) == 0 ? "__builtin_bswap32(" + a + ")" : "__builtin_bswap64(" + a + ")";
      case 8: return below(2) == 0 ? "__builtin_popcountl(" + a + ")" : "__builtin_ctz((" + a + ") | 256)";
      case 9: return below(2) == 0 ? "__builtin_clzl((" + a + ") | 1)" : "__builtin_rotateleft32(" + a + ", " + b + ")";
      case 10:
        return "({ " + t + " r_; (u64)__builtin_" +
               (below(3) == 0   ? "mul"
                : below(2) == 0 ? "add"
                                : "sub") +
               "_overflow((" + t + ")(" + a + "), (" + t + ")(" + b + "), &r_) + (u64)r_; })";
      default: return "(u64)(" + t + ")((" + a + ") " + kOps[below(6)] + " (" + b + "))";
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> values_;
};

// What must hold for other inputs to take the same way.
class Conditions final : public ConditionSink {
 public:
  void hold(ExprId condition, PathCondition::Why) override { held.push_back(condition); }
  bool is_held(ExprId) const override { return false; }
  std::vector<ExprId> held;
};

struct Outcome {
  Cell result;
  std::vector<ExprId> conditions;
  bool is_followed = false;
};

class Interpreter {
 public:
  Interpreter(CodeTable& code, ExprTable& table) : code_(code), table_(table), arithmetic_(code, table) {}

  Outcome run(const FunctionCode& function, const Inputs& inputs, const std::array<ExprId, kArguments>& variables) {
    Conditions sink;
    std::vector<Cell> cells(function.cells);
    std::vector<Cell> scratch;
    for (unsigned i = 0; i < kArguments; ++i) {
      cells[function.arguments[i]] = {inputs[i], variables[i]};
    }
    CodeFrame frame{.code = &function};
    for (unsigned steps = 0; steps < 100'000; ++steps) {
      const Step& step = function.steps[frame.pc];
      const llvm::Instruction& instruction = *step.instruction;
      const Operands operands(function, step, cells.data());
      const llvm::BasicBlock* to = nullptr;
      if (llvm::isa<llvm::ReturnInst>(instruction)) {
        return {*operands[0], sink.held, true};
      }
      if (llvm::isa<llvm::BranchInst, llvm::SwitchInst>(instruction)) {
        const bool is_conditional = instruction.getNumSuccessors() > 1;
        if (is_conditional && !is_known(*operands[0])) {
          return {};
        }
        to = instruction.getSuccessor(is_conditional ? outcome_of(instruction, operands[0]->bits) : 0);
        if (is_conditional && is_symbolic(*operands[0])) {
          arithmetic_.hold(goes_to(table_, instruction, operands[0]->expr, *to), PathCondition::Why::kBranch, sink);
        }
        enter_block(code_, frame, cells.data(), *instruction.getParent(), *to, scratch);
        continue;
      }
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      Cell* result = cells.data() + step.result;
      const bool done = call != nullptr ? arithmetic_.compute_intrinsic(*call, operands, result, sink)
                                        : arithmetic_.compute(instruction, operands, result, sink);
      if (!done) {
        ADD_FAILURE() << "not followed: " << instruction.getOpcodeName();
        return {};
      }
      ++frame.pc;
    }
    return {};
  }

 private:
  CodeTable& code_;
  ExprTable& table_;
  Arithmetic arithmetic_;
};

Inputs random_inputs(std::mt19937_64& random) {
  Inputs inputs{};
  for (std::uint64_t& input : inputs) {
    const std::uint64_t corners[] = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, 0x80, 0x7fffffff, 0x80000000};
    switch (random() % 4) {
      case 0: input = corners[random() % std::size(corners)]; break;
      case 1: input = random() % 16; break;
      default: input = random(); break;
    }
  }
  return inputs;
}

// Other inputs near those that were executed: many take the same way.
Inputs neighbour(Inputs inputs, std::mt19937_64& random) {
  inputs[random() % kArguments] ^= std::uint64_t{1} << (random() % 64);
  return inputs;
}

class NativeFunctions {
 public:
  NativeFunctions(std::uint64_t first, std::uint64_t count) {
    folder_ = std::filesystem::temp_directory_path() / ("sooth-arithmetic-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream source(folder_ / "f.c");
    source << kPrelude;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      source << Generator(seed).function("f" + std::to_string(seed));
    }
  }
  ~NativeFunctions() {
    if (library_ != nullptr) {
      dlclose(library_);
    }
    std::filesystem::remove_all(folder_);
  }

  bool build(const std::string& level) {
    const std::string base = "cd '" + folder_.string() + "' && clang-19 -w -fwrapv -fno-jump-tables " + level + " f.c ";
    if (std::system((base + "-O0 -shared -fPIC -o f.so").c_str()) != 0 ||
        std::system((base + "-S -emit-llvm -o f.ll").c_str()) != 0) {
      return false;
    }
    library_ = dlopen((folder_ / "f.so").c_str(), RTLD_NOW);
    std::ostringstream text;
    text << std::ifstream(folder_ / "f.ll").rdbuf();
    ir_ = text.str();
    return library_ != nullptr;
  }
  Native native(const std::string& name) const { return reinterpret_cast<Native>(dlsym(library_, name.c_str())); }
  const std::string& ir() const { return ir_; }

 private:
  std::filesystem::path folder_;
  void* library_ = nullptr;
  std::string ir_;
};

TEST(ArithmeticNative, RandomFunctionsReturnWhatTheMachineSays) {
  const std::uint64_t first = from_environment("SOOTH_SEED", 1);
  const std::uint64_t count = from_environment("SOOTH_CASES", 200);
  NativeFunctions functions(first, count);
  ASSERT_TRUE(functions.build("-O1"));
  const DeepModuleText module{functions.ir(), {}};
  Result<DeepProgram> program = DeepProgram::parse(std::span(&module, 1));
  ASSERT_TRUE(program.ok()) << program.status().message();
  CodeTable code(*program);
  std::uint64_t same_way = 0;
  std::uint64_t followed = 0;
  for (std::uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string name = "f" + std::to_string(seed);
    const Native native = functions.native(name);
    const FunctionCode& function = code.function(*program->module(0).getFunction(name));
    std::mt19937_64 random(seed);
    ExprTable table;
    std::array<ExprId, kArguments> variables{};
    std::generate(variables.begin(), variables.end(), [&] { return table.variable(64); });
    Interpreter interpreter(code, table);
    for (int i = 0; i < 20; ++i) {
      const Inputs inputs = random_inputs(random);
      const Outcome run = interpreter.run(function, inputs, variables);
      ASSERT_TRUE(run.is_followed && is_known(run.result)) << "SOOTH_SEED=" << seed;
      ++followed;
      ASSERT_EQ(run.result.bits, native(inputs[0], inputs[1], inputs[2], inputs[3])) << "SOOTH_SEED=" << seed;
      const ExprId result = is_symbolic(run.result) ? run.result.expr : table.constant(64, run.result.bits);
      for (int j = 0; j < 10; ++j) {
        const Inputs other = j == 0 ? inputs : j % 2 == 0 ? neighbour(inputs, random) : random_inputs(random);
        const std::vector<std::uint64_t> values = table.evaluate_all(other);
        const bool same =
            std::all_of(run.conditions.begin(), run.conditions.end(), [&](ExprId c) { return values[raw(c)] == 1; });
        ASSERT_TRUE(same || j != 0) << "SOOTH_SEED=" << seed << ": a condition does not hold of its own inputs";
        if (same) {
          same_way += j != 0 ? 1 : 0;
          ASSERT_EQ(values[raw(result)], native(other[0], other[1], other[2], other[3]))
              << "SOOTH_SEED=" << seed << " inputs " << other[0] << " " << other[1] << " " << other[2] << " "
              << other[3];
        }
      }
    }
  }
  // Conditions must leave room for other inputs, or the check says nothing.
  EXPECT_GT(same_way, followed) << same_way << " other inputs for " << followed << " runs";
}

}  // namespace
}  // namespace sooth
