// Symbols of small programs compared with their source, with and without debug information.
#include "symbol/symbolizer.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "symbol/demangle.h"
#include "symbol/elf_file.h"
#include "symbol/symbol_testing.h"

namespace sooth {
namespace {

constexpr const char* kSource = R"(namespace bank {
int balance;
static long hidden[4];
struct Account { static int count; };
int Account::count = 1;
template <typename T> inline void bump(T* p) {
  *p += 1;  // in bump
}
__attribute__((noinline)) void deposit() {
  bump(&balance);  // in deposit
}
}  // namespace bank
int plain[10];
thread_local int per_thread;
__attribute__((noinline)) int audit(int x) {
  static int calls = 1;
  auto add = [&](int by) {
    calls += by;  // in lambda
  };
  add(x);  // in audit
  bank::hidden[x & 3] += 1;
  return calls;
}
int main(int argc, char**) {
  bank::deposit();
  plain[argc] = audit(argc) + per_thread;  // in main
  return static_cast<int>(bank::hidden[0]) + bank::Account::count;
}
)";

// A program in a directory of its own, and the symbols of it.
class SymbolizerTest : public ::testing::Test {
 protected:
  SymbolizerTest() { fill_file(dir_ / "p.cc", kSource); }

  void run(const std::string& command) { output_of("cd " + dir_.path() + " && " + command + " 2>&1"); }
  void build(const std::string& compiler, const std::string& flags) {
    run(compiler + " p.cc -o p " + flags);
    load();
  }
  // Makes the program the only module, at a bias of 0.
  void load(const std::string& build_id = "") {
    symbolizer_.reset();
    modules_ = ModuleTable();
    ASSERT_TRUE(modules_.add({.path = dir_ / "p", .build_id = build_id, .bias = 0, .ranges = {{0, ~0ull}}}).ok());
    symbolizer_ = std::make_unique<Symbolizer>(modules_);
  }

  // Addresses of the calls of the hook in the function, as its caller sees them: return address minus one.
  std::vector<std::uint64_t> calls_of(const std::string& hook, const std::string& function) {
    std::istringstream code(output_of("objdump -d --no-show-raw-insn -C " + dir_ / "p"));
    std::vector<std::uint64_t> calls;
    bool inside = false, called = false;
    for (std::string line; std::getline(code, line);) {
      if (line.ends_with(">:")) {
        inside = line.find("<" + function + ">:") != std::string::npos;
      }
      if (called) {
        calls.push_back(std::stoull(line, nullptr, 16) - 1);
      }
      called = inside && line.find("call") != std::string::npos && line.find("<" + hook) != std::string::npos;
    }
    return calls;
  }
  // What nm says: name -> address.
  std::map<std::string, std::uint64_t> symbols() {
    std::istringstream lines(output_of("nm " + dir_ / "p"));
    std::map<std::string, std::uint64_t> found;
    for (std::string line; std::getline(lines, line);) {
      if (line[0] != ' ') {
        found[demangle(line.substr(19))] = std::stoull(line, nullptr, 16);
      }
    }
    return found;
  }
  std::vector<Frame> frames(std::uint64_t address) { return symbolizer_->symbolize({kProgram, address}); }
  std::uint32_t line(const std::string& text) { return line_of(kSource, text); }

  static constexpr ModuleId kProgram{0};
  TemporaryDirectory dir_;
  ModuleTable modules_;
  std::unique_ptr<Symbolizer> symbolizer_;
};

// --- code ---

TEST_F(SymbolizerTest, HooksOfInlinedCodeHaveTheFramesOfTheSource) {
  for (const std::string& compiler : installed_compilers()) {
    // What clang links into an executable would make objdump slow.
    const std::string link = compiler == "g++" ? " -no-pie" : " -shared -fPIC";
    for (const char* flags : {"-g", "-gdwarf-4", "-gdwarf-5"}) {
      SCOPED_TRACE(compiler + " " + flags);
      build(compiler, flags + std::string(" -O2 -fsanitize=thread") + link);
      const auto deposits = calls_of("__tsan_write4", "bank::deposit()");
      ASSERT_EQ(deposits.size(), 1u);
      const auto deposit = frames(deposits[0]);
      ASSERT_EQ(deposit.size(), 2u);
      EXPECT_EQ(deposit[0].function, "void bank::bump<int>(int*)");
      EXPECT_EQ(deposit[0].file, dir_ / "p.cc");
      EXPECT_EQ(deposit[0].line, line("// in bump"));
      EXPECT_GT(deposit[0].column, 0u);
      EXPECT_EQ(deposit[1].function, "bank::deposit()");
      EXPECT_EQ(deposit[1].file, dir_ / "p.cc");
      EXPECT_EQ(deposit[1].line, line("// in deposit"));
      EXPECT_GT(deposit[1].column, 0u);

      const auto audits = calls_of("__tsan_write4", "audit(int)");
      ASSERT_GE(audits.size(), 1u);
      const auto audit = frames(audits[0]);
      ASSERT_EQ(audit.size(), 2u);
      EXPECT_NE(audit[0].function.find("operator()"), std::string::npos) << audit[0].function;
      EXPECT_TRUE(audit[0].function.starts_with("audit(int)::")) << audit[0].function;
      EXPECT_EQ(audit[0].line, line("// in lambda"));
      EXPECT_EQ(audit[1].function, "audit(int)");
      EXPECT_EQ(audit[1].line, line("// in audit"));
      EXPECT_EQ(symbolizer_->level(kProgram), SymbolLevel::kLines);
    }
  }
}

TEST_F(SymbolizerTest, BatchesAnswerInOrder) {
  build("g++", "-g -O0");
  const auto at = symbols();
  const std::vector<ModuleAddress> addresses = {
      {kProgram, at.at("main")}, {kProgram, 1}, {kProgram, at.at("audit(int)")}, {kProgram, at.at("main")}};
  const auto all = symbolizer_->symbolize(addresses);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].at(0).function, "main");
  EXPECT_EQ(all[0].at(0).line, line("int main("));
  EXPECT_TRUE(all[1].empty());
  EXPECT_EQ(all[2].at(0).function, "audit(int)");
  EXPECT_EQ(all[3], all[0]);
}

TEST_F(SymbolizerTest, SharedLibrariesAreFoundThroughTheirBias) {
  run("g++ -g -O0 -shared -fPIC p.cc -o libp.so");
  run("cp libp.so p");
  const std::uint64_t bias = 0x7f0000000000;
  ModuleTable modules;
  ASSERT_TRUE(modules.add({.path = "/no/such/program", .build_id = "", .bias = 0, .ranges = {{0x1000, 0x2000}}}).ok());
  ASSERT_TRUE(
      modules.add({.path = dir_ / "libp.so", .build_id = "", .bias = bias, .ranges = {{bias, bias + 0x10000}}}).ok());
  Symbolizer symbolizer(modules);
  const auto place = modules.find(bias + symbols().at("audit(int)"));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(symbolizer.symbolize(*place).at(0).function, "audit(int)");
  EXPECT_EQ(symbolizer.symbolize(*place).at(0).line, line("int audit("));
}

// --- variables ---

TEST_F(SymbolizerTest, VariablesHaveNamesPlacesAndSizes) {
  for (const std::string& compiler : installed_compilers()) {
    for (const char* flags : {"-g -O0", "-gdwarf-4 -O2", "-gdwarf-5 -O2 -no-pie"}) {
      SCOPED_TRACE(compiler + " " + flags);
      build(compiler, flags);
      const auto at = symbols();
      const struct {
        const char *symbol, *text;
        std::uint64_t size, offset;
      } table[] = {{"bank::balance", "int balance", 4, 0},
                   {"bank::hidden", "static long hidden", 32, 12},
                   {"plain", "int plain[10]", 40, 39},
                   {"audit(int)::calls", "static int calls", 4, 3}};
      for (const auto& [symbol, text, size, offset] : table) {
        const auto found = symbolizer_->global({kProgram, at.at(symbol) + offset});
        ASSERT_TRUE(found.has_value()) << symbol;
        EXPECT_EQ(*found, (GlobalVariable{symbol, dir_ / "p.cc", line(text), offset, size})) << found->name;
      }
      const auto count = symbolizer_->global({kProgram, at.at("bank::Account::count")});
      ASSERT_TRUE(count.has_value());
      EXPECT_EQ(count->name, "bank::Account::count");
      EXPECT_EQ(count->size, 4u);
      EXPECT_EQ(symbolizer_->global({kProgram, at.at("main")}), std::nullopt) << "code is no variable";
      // The address of a thread local is an offset; nothing must be found by it.
      EXPECT_EQ(symbolizer_->global({kProgram, at.at("per_thread")}), std::nullopt);
    }
  }
}

TEST_F(SymbolizerTest, VariablesFromTheSymbolTable) {
  build("g++", "-O0");
  const auto found = symbolizer_->global({kProgram, symbols().at("bank::hidden") + 9});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, (GlobalVariable{"bank::hidden", "", 0, 9, 32}));
}

// --- less than all debug information ---

TEST_F(SymbolizerTest, WithoutDebugInformationFunctionsStayKnown) {
  build("g++", "-O0");
  EXPECT_EQ(symbolizer_->level(kProgram), SymbolLevel::kSymbols);
  EXPECT_TRUE(symbolizer_->status(kProgram).ok());
  const auto found = frames(symbols().at("bank::deposit()") + 1);
  EXPECT_EQ(found, (std::vector<Frame>{{.file = "", .function = "bank::deposit()"}}));
}

TEST_F(SymbolizerTest, StrippedPrograms) {
  build("g++", "-g -O0");
  const std::uint64_t deposit = symbols().at("bank::deposit()");
  run("strip p");
  load();
  EXPECT_TRUE(frames(deposit).empty());
  EXPECT_EQ(symbolizer_->global({kProgram, deposit}), std::nullopt);
  EXPECT_TRUE(symbolizer_->status(kProgram).ok());
}

TEST_F(SymbolizerTest, DebugFilesAreFoundByDebugLink) {
  for (const char* folder : {".", ".debug"}) {
    build("g++", "-g -O2");
    const std::uint64_t deposit = symbols().at("bank::deposit()");
    const auto expected = frames(deposit);
    ASSERT_EQ(expected.at(0).file, dir_ / "p.cc");
    const std::string debug = std::string(folder) + "/p.debug";
    run("mkdir -p .debug && objcopy --only-keep-debug p " + debug +
        " && strip p && objcopy --add-gnu-debuglink=" + debug + " p");
    load();
    EXPECT_EQ(frames(deposit), expected) << folder;
    EXPECT_EQ(symbolizer_->level(kProgram), SymbolLevel::kLines);
    run("rm " + debug);
    load();
    EXPECT_TRUE(frames(deposit).empty()) << folder;
  }
}

// What recordings ask for: see SeparateDebug.
TEST_F(SymbolizerTest, SeparateDebugInformationOfInstrumentedFilesOnly) {
  for (const bool instrumented : {true, false}) {
    build("g++", instrumented ? "-g -O1 -fsanitize=thread" : "-g -O1");
    const std::uint64_t deposit = symbols().at("bank::deposit()");
    const auto expected = frames(deposit);
    ASSERT_EQ(expected.at(0).file, dir_ / "p.cc");
    symbolizer_ = std::make_unique<Symbolizer>(modules_, SeparateDebug::kOfInstrumented);
    EXPECT_EQ(frames(deposit), expected) << "debug information in the file itself";
    run("objcopy --only-keep-debug p p.debug && strip p && objcopy --add-gnu-debuglink=p.debug p");
    load();
    symbolizer_ = std::make_unique<Symbolizer>(modules_, SeparateDebug::kOfInstrumented);
    if (instrumented) {
      EXPECT_EQ(frames(deposit), expected);
      EXPECT_EQ(symbolizer_->level(kProgram), SymbolLevel::kLines);
    } else {
      EXPECT_EQ(frames(deposit), (std::vector<Frame>{{.file = "", .function = "bank::deposit()"}}));
      EXPECT_EQ(symbolizer_->level(kProgram), SymbolLevel::kSymbols);
    }
  }
}

TEST_F(SymbolizerTest, SplitDebugInformation) {
  for (const std::string& compiler : installed_compilers()) {
    SCOPED_TRACE(compiler);
    run(compiler + " -g -O2 -gsplit-dwarf -c p.cc -o p.o && " + compiler + " p.o -o p");
    load();
    const auto at = symbols();
    const auto whole = frames(at.at("bank::deposit()"));
    ASSERT_FALSE(whole.empty());
    EXPECT_EQ(whole.back().function, "bank::deposit()");
    EXPECT_EQ(whole.back().file, dir_ / "p.cc");
    EXPECT_EQ(symbolizer_->global({kProgram, at.at("bank::balance")})->line, line("int balance"));
    // Without the .dwo file lines stay known, and functions by their symbols.
    run("rm p.dwo");
    load();
    const auto lines = frames(at.at("bank::deposit()"));
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].function, "bank::deposit()");
    EXPECT_EQ(lines[0].file, dir_ / "p.cc");
    EXPECT_EQ(lines[0].line, whole[0].line);
    EXPECT_EQ(symbolizer_->global({kProgram, at.at("bank::balance")}), (GlobalVariable{"bank::balance", "", 0, 0, 4}));
  }
}

// --- the wrong file ---

TEST_F(SymbolizerTest, AFileThatHasChangedIsNotUsed) {
  build("g++", "-g -O0 -Wl,--build-id");
  const std::uint64_t deposit = symbols().at("bank::deposit()");
  const std::string recorded = inspect_binary(dir_ / "p")->build_id;
  load(recorded);
  EXPECT_EQ(frames(deposit).at(0).function, "bank::deposit()");
  EXPECT_TRUE(symbolizer_->status(kProgram).ok());

  run("sed -i 's/balance/credits/' p.cc && g++ -g -O0 -Wl,--build-id p.cc -o p");
  load(recorded);
  EXPECT_TRUE(frames(deposit).empty());
  EXPECT_EQ(symbolizer_->global({kProgram, deposit}), std::nullopt);
  EXPECT_EQ(symbolizer_->level(kProgram), SymbolLevel::kNothing);
  const std::string now = inspect_binary(dir_ / "p")->build_id;
  EXPECT_EQ(symbolizer_->status(kProgram).message(),
            dir_ / "p" + ": the file has changed since the recording (its build id was " + recorded + " and is " + now +
                "); its addresses stay without names. Record again, or put the old file back");

  run("g++ -g -O0 -Wl,--build-id=none p.cc -o p");
  load(recorded);
  EXPECT_TRUE(frames(deposit).empty());
  EXPECT_NE(symbolizer_->status(kProgram).message().find("and is missing"), std::string::npos);
}

TEST_F(SymbolizerTest, MissingFilesAndFilesThatAreNoPrograms) {
  load();
  EXPECT_TRUE(frames(0x1000).empty());
  EXPECT_EQ(symbolizer_->status(kProgram).message(), dir_ / "p" + ": No such file or directory");
  EXPECT_EQ(symbolizer_->level(kProgram), SymbolLevel::kNothing);
  fill_file(dir_ / "p", "#!/bin/sh\n");
  load();
  EXPECT_EQ(symbolizer_->status(kProgram).message(), dir_ / "p" + ": not an ELF file of a machine that Sooth knows");
}

TEST(Demangle, PlainNamesStay) {
  EXPECT_EQ(demangle("_ZN2ns1fEi"), "ns::f(int)");
  EXPECT_EQ(demangle("main"), "main");
  EXPECT_EQ(demangle("_Z"), "_Z");
  EXPECT_EQ(demangle("stdout@GLIBC_2.2.5"), "stdout");
  EXPECT_EQ(demangle("i"), "i");
  EXPECT_EQ(demangle("_ZN2ns5pointE.0"), "ns::point.0");
  EXPECT_EQ(demangle("main._omp_fn.0"), "main, OpenMP region");
  EXPECT_EQ(demangle("_ZN2ns4workEi._omp_fn.12"), "ns::work(int), OpenMP region");
  EXPECT_EQ(demangle(".omp_outlined._debug__.3"), "OpenMP region");
  EXPECT_EQ(demangle(".omp_task_entry."), "OpenMP task");
  EXPECT_EQ(demangle("main._omp_fn.x"), "main._omp_fn.x");
  EXPECT_EQ(demangle("_ZN2ns5pointE."), "_ZN2ns5pointE.");
}

}  // namespace
}  // namespace sooth
