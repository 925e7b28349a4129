#include "recipe/judge/library_model.h"

#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "deep/program.h"
#include "recipe/witness/value_witness.h"

namespace sooth {
namespace {

constexpr std::uint64_t kBase = 0x10000;  // where the memory of the test begins
constexpr std::uint64_t kBlock = fresh_block(1, 0);

// One call of each function; the model gets the arguments from elsewhere.
constexpr char kCalls[] = R"(
@stderr = external global ptr
declare i64 @strlen(ptr)
declare i32 @strcmp(ptr, ptr)
declare i32 @strncmp(ptr, ptr, i64)
declare i32 @memcmp(ptr, ptr, i64)
declare ptr @strchr(ptr, i32)
declare ptr @memchr(ptr, i32, i64)
declare i64 @strtol(ptr, ptr, i32)
declare i32 @atoi(ptr)
declare ptr @strncpy(ptr, ptr, i64)
declare ptr @strcpy(ptr, ptr)
declare ptr @memcpy(ptr, ptr, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
declare i32 @printf(ptr)
declare i32 @fputs(ptr, ptr)
declare i32 @getpid()
define void @all(ptr %p, i64 %n, i32 %c, ptr %file) {
  %a = call i64 @strlen(ptr %p)
  %b = call i32 @strcmp(ptr %p, ptr %p)
  %d = call i32 @strncmp(ptr %p, ptr %p, i64 %n)
  %e = call i32 @memcmp(ptr %p, ptr %p, i64 %n)
  %f = call ptr @strchr(ptr %p, i32 %c)
  %g = call ptr @memchr(ptr %p, i32 %c, i64 %n)
  %h = call i64 @strtol(ptr %p, ptr %p, i32 %c)
  %i = call i32 @atoi(ptr %p)
  %j = call ptr @strncpy(ptr %p, ptr %p, i64 %n)
  %k = call ptr @strcpy(ptr %p, ptr %p)
  %l = call ptr @memcpy(ptr %p, ptr %p, i64 %n)
  %m = call ptr @malloc(i64 %n)
  call void @free(ptr %p)
  %o = call i32 @printf(ptr %p)
  %q = load ptr, ptr @stderr
  %r = call i32 @fputs(ptr %p, ptr %q)
  %s = call i32 @getpid()
  ret void
}
define void @other(ptr %p, ptr %file) {
  %r = call i32 @fputs(ptr %p, ptr %file)
  ret void
}
)";

class LibraryModel : public ::testing::Test {
 protected:
  LibraryModel() : program_(parse()) {}

  static DeepProgram parse() {
    const DeepModuleText text{kCalls, {}};
    Result<DeepProgram> program = DeepProgram::parse(std::span(&text, 1));
    EXPECT_TRUE(program.ok()) << program.status().message();
    return std::move(*program);
  }

  const llvm::CallBase& call_of(const std::string& name, const char* function = "all") {
    for (const llvm::Instruction& at : llvm::instructions(*program_.module(0).getFunction(function))) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&at);
      if (call != nullptr && call->getCalledFunction()->getName() == name) {
        return *call;
      }
    }
    std::abort();
  }

  // The call on `memory`, which lies at kBase and which it writes to.
  LibraryCall run(const std::string& name, const std::vector<std::optional<std::uint64_t>>& arguments,
                  std::string& memory, const char* function = "all") {
    std::vector<std::uint8_t> seen;
    for (;;) {
      LibraryCall made = model_library_call(
          call_of(name, function), name, arguments, seen, [](std::uint64_t) { return false; }, kBlock);
      if (made.state != LibraryCall::State::kNeedsByte) {
        for (const LibraryCall::Write& write : made.writes) {
          for (std::size_t i = 0; i < write.bytes.size(); ++i) {
            memory.at(write.address - kBase + i) = static_cast<char>(*write.bytes[i]);
          }
        }
        return made;
      }
      seen.push_back(static_cast<std::uint8_t>(memory.at(made.missing - kBase)));
    }
  }

  DeepProgram program_;
};

// The first text is at kBase, the second at kBase + 32, room for what is written behind it.
TEST_F(LibraryModel, DoesWhatTheLibraryDoes) {
  std::mt19937 random(20261118);
  const auto text = [&] {
    std::string made;
    static constexpr char kLetters[] = "ab 0123-+\x80";
    for (std::size_t i = random() % 12; i > 0; --i) {
      made.push_back(kLetters[random() % (sizeof kLetters - 1)]);
    }
    return made;
  };
  for (int i = 0; i < 5000; ++i) {
    std::string memory(160, '\0');
    const std::string one = text(), two = random() % 3 == 0 ? one : text();
    std::copy(one.begin(), one.end(), memory.begin());
    std::copy(two.begin(), two.end(), memory.begin() + 32);
    const std::uint64_t a = kBase, b = kBase + 32, to = kBase + 96, n = random() % 16;
    const char* const first = one.c_str();
    const char* const second = two.c_str();
    const int wanted = "ab01"[random() % 4];
    const auto result = [&](const char* name, const std::vector<std::optional<std::uint64_t>>& arguments) {
      const LibraryCall made = run(name, arguments, memory);
      EXPECT_EQ(made.state, LibraryCall::State::kDone) << name << " of " << one << " and " << two;
      return made.result.value_or(~std::uint64_t{0});
    };
    const auto sign = [](int number) { return number < 0 ? -1 : number > 0 ? 1 : 0; };
    const auto place = [&](const char* found) {
      return found == nullptr ? 0 : a + static_cast<std::uint64_t>(found - first);
    };
    EXPECT_EQ(result("strlen", {a}), std::strlen(first));
    EXPECT_EQ(sign(static_cast<int>(result("strcmp", {a, b}))), sign(std::strcmp(first, second)));
    EXPECT_EQ(sign(static_cast<int>(result("strncmp", {a, b, n}))), sign(std::strncmp(first, second, n)));
    const std::size_t both = std::min(one.size(), two.size());
    EXPECT_EQ(sign(static_cast<int>(result("memcmp", {a, b, both}))), sign(std::memcmp(first, second, both)));
    EXPECT_EQ(result("strchr", {a, wanted}), place(std::strchr(first, wanted)));
    EXPECT_EQ(result("memchr", {a, wanted, one.size()}),
              place(static_cast<const char*>(std::memchr(first, wanted, one.size()))));
    EXPECT_EQ(static_cast<int>(result("atoi", {a})), std::atoi(first));
    char* end = nullptr;
    EXPECT_EQ(static_cast<long>(result("strtol", {a, kBase + 80, 10})), std::strtol(first, &end, 10));
    std::uint64_t told = 0;
    std::memcpy(&told, memory.data() + 80, sizeof told);
    EXPECT_EQ(told, a + static_cast<std::uint64_t>(end - first));
    char copy[33] = {};
    std::memset(copy, 'x', 32);
    std::memset(memory.data() + 96, 'x', 32);
    std::strncpy(copy, first, n);
    EXPECT_EQ(result("strncpy", {to, a, n}), to);
    EXPECT_EQ(memory.substr(96, 32), std::string(copy, 32));
  }
}

TEST_F(LibraryModel, KnowsNothingElse) {
  std::string memory(64, 'a');
  using State = LibraryCall::State;
  EXPECT_EQ(run("getpid", {}, memory).state, State::kNotKnown);
  EXPECT_EQ(run("strtol", {kBase, 0, 16}, memory).state, State::kNotKnown);
  EXPECT_EQ(run("strlen", {std::nullopt}, memory).state, State::kNotKnown);
  // Memory that was there before may be in use.
  EXPECT_EQ(run("free", {kBase}, memory).state, State::kNotKnown);
  EXPECT_EQ(run("free", {kBlock}, memory).state, State::kDone);
  const LibraryCall block = run("malloc", {64}, memory);
  EXPECT_TRUE(block.allocates);
  EXPECT_EQ(block.result, kBlock);
  EXPECT_EQ(run("malloc", {kLongestFreshBlock}, memory).state, State::kNotKnown);
  // What goes to stderr does not come back; what goes to another file might.
  EXPECT_EQ(run("printf", {kBase}, memory).state, State::kDone);
  EXPECT_EQ(run("fputs", {kBase, std::nullopt}, memory).state, State::kDone);
  EXPECT_EQ(run("fputs", {kBase, 1}, memory, "other").state, State::kNotKnown);
}

}  // namespace
}  // namespace sooth
