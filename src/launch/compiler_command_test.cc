#include "launch/compiler_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "launch/compiler_arguments.h"
#include "symbol/elf_file.h"

namespace sooth {
namespace {

using Words = std::vector<std::string>;

const RuntimeLibrary kLibrary{"/opt/a,b/sooth"};

CompilerJob job_of(const std::string& line) { return understand_compiler_arguments(split_response_file(line)); }

TEST(CompilerArguments, TellsWhatEndsBeforeTheLinker) {
  for (const char* line : {"-c a.c", "a.c -S", "-E -", "-M a.c", "-MM a.c", "-fsyntax-only a.c", "a.h",
                           "-x c++-header a", "-xc-header a.c -o a.gch", "-o a.gch a.hpp", "--precompile a.cppm"}) {
    EXPECT_TRUE(job_of(line).has_input) << line;
    EXPECT_TRUE(job_of(line).stops_before_link) << line;
  }
  for (const char* line :
       {"a.c", "a.o b.o -o c", "a.c -MD -MF a.d", "-MMD a.c", "a.h b.c", "-x c a.h", "-x c-header a -x none b.o",
        "-lfoo", "-Wl,--version", "-Xlinker -c", "-include a.h a.c", "@no-such-file", "-o -c a.c"}) {
    EXPECT_TRUE(job_of(line).links()) << line;
  }
}

TEST(CompilerArguments, TellsWhatHasNothingToCompile) {
  for (const char* line : {"", "--version", "-v", "-dumpmachine", "-print-search-dirs", "-print-prog-name=ld",
                           "-E -o a", "-I include -D x -include a.h", "--help=warnings -Q", "-cc1 -emit-obj a.c"}) {
    EXPECT_FALSE(job_of(line).has_input) << line;
  }
}

TEST(CompilerArguments, FollowsSanitizersInOrder) {
  EXPECT_EQ(job_of("a.c -fsanitize=undefined,address").other_sanitizer, "address");
  EXPECT_EQ(job_of("a.c -fsanitize=address -fno-sanitize=address").other_sanitizer, "");
  EXPECT_EQ(job_of("a.c -fsanitize=address -fno-sanitize=all -fsanitize=leak").other_sanitizer, "leak");
  EXPECT_EQ(job_of("a.c -fsanitize=thread,undefined").other_sanitizer, "");
}

TEST(CompilerArguments, LooksIntoResponseFiles) {
  const std::string outer = testing::TempDir() + "outer file.rsp";
  const std::string inner = testing::TempDir() + "inner.rsp";
  std::ofstream(outer) << "a.c '@" << inner << "'\n";
  std::ofstream(inner) << "-c -fopenmp '@" << inner << "'";  // and itself: must end
  const CompilerJob job = understand_compiler_arguments(Words{"@" + outer});
  EXPECT_TRUE(job.stops_before_link);
  EXPECT_TRUE(job.openmp);
}

TEST(CompilerArguments, SplitsAsCompilersDo) {
  EXPECT_EQ(split_response_file("a  'b c'\n\"d'e\" f\\ g '' h\"i\"j"), (Words{"a", "b c", "d'e", "f g", "", "hij"}));
  EXPECT_EQ(split_response_file(" \n"), Words{});
}

Words wrap(CompilerKind kind, const std::string& line) {
  const Result<CompilerCommand> command = wrap_compiler(Words{"compiler"}, kind, split_response_file(line), kLibrary);
  return command.ok() ? command->words : Words{command.status().message()};
}

// Without what keeps GCC from writing functions out.
Words without_kept_calls(Words words) {
  std::erase_if(words, [](const std::string& word) { return word.starts_with("-fno-builtin-"); });
  return words;
}

TEST(WrapCompiler, PutsItsOptionsInFront) {
  const Words compiles = wrap(CompilerKind::kGcc, "-c a.c -g0");
  EXPECT_EQ(without_kept_calls(compiles),
            (Words{"compiler", "-g", "-fsanitize=thread", "-Wno-tsan", "-c", "a.c", "-g0"}));
  for (const char* function : {"memset", "memcpy", "strcpy", "sprintf"}) {
    EXPECT_EQ(std::count(compiles.begin(), compiles.end(), std::string("-fno-builtin-") + function), 1) << function;
  }
  EXPECT_EQ(without_kept_calls(wrap(CompilerKind::kGcc, "a.o")),
            (Words{"compiler", "-g", "-fsanitize=thread", "-Wno-tsan", "-L/opt/a,b/sooth", "-Xlinker", "-rpath",
                   "-Xlinker", "/opt/a,b/sooth", "a.o"}));
  EXPECT_EQ(wrap(CompilerKind::kClang, "-r a.o b.o"),
            (Words{"compiler", "-g", "-fsanitize=thread", "--start-no-unused-arguments", "-mllvm",
                   "-tsan-instrument-read-before-write", "--end-no-unused-arguments", "-fno-sanitize-link-runtime",
                   "-r", "a.o", "b.o"}));
  const Words clang = wrap(CompilerKind::kClang, "a.o -lz");
  EXPECT_EQ(std::count(clang.begin(), clang.end(), "/opt/a,b/sooth/libtsan.so.2"), 1);
}

TEST(WrapCompiler, LinksWithTheLibraryOfTheMachine) {
  const RuntimeLibrary library{testing::TempDir() + "machines"};
  std::filesystem::create_directories(library.for_machine("aarch64"));
  std::ofstream(library.for_machine("aarch64") + "/" + kGccLinkName) << "x";
  const auto option = [&](const Words& compiler, const Words& arguments) {
    const auto command = wrap_compiler(compiler, CompilerKind::kGcc, arguments, library);
    return command.ok() ? *std::ranges::find_if(command->words, [](const auto& word) { return word.starts_with("-L"); })
                        : command.status().message();
  };
  const std::string host = std::string(machine_name(kThisMachine));
  EXPECT_EQ(option({"g++"}, {"a.c"}), "-L" + library.directory);
  EXPECT_EQ(option({"/usr/bin/" + host + "-linux-gnu-g++-12"}, {"a.c"}), "-L" + library.directory);
  EXPECT_EQ(option({"ccache", "aarch64-linux-gnu-g++"}, {"a.c"}), "-L" + library.directory + "/aarch64");
  EXPECT_EQ(option({"clang"}, {"a.c", "--target=aarch64-linux-gnu"}), "-L" + library.directory + "/aarch64");
  EXPECT_EQ(option({"clang", "-target", "aarch64-linux-gnu"}, {"a.c"}), "-L" + library.directory + "/aarch64");
  EXPECT_NE(option({"riscv64-linux-gnu-gcc"}, {"a.c"}).find("no run time library for riscv64"), std::string::npos);
  EXPECT_EQ(option({"riscv64-linux-gnu-gcc"}, {"-print-search-dirs", "-L."}), "-L.");
}

TEST(WrapCompiler, LeavesQuestionsAlone) {
  for (const CompilerKind kind : {CompilerKind::kGcc, CompilerKind::kClang}) {
    EXPECT_EQ(wrap(kind, "--version"), (Words{"compiler", "--version"}));
    EXPECT_EQ(wrap(kind, ""), (Words{"compiler"}));
  }
}

TEST(WrapCompiler, RefusesWhatCannotBeRecorded) {
  for (const char* line : {"a.c -static", "a.o -static-pie", "a.o -static-libtsan", "-c a.c -fsanitize=address"}) {
    const Result<CompilerCommand> command =
        wrap_compiler(Words{"g++"}, CompilerKind::kGcc, split_response_file(line), kLibrary);
    ASSERT_FALSE(command.ok()) << line;
    EXPECT_EQ(command.status().code(), ExitCode::kUsage);
  }
  EXPECT_EQ(wrap(CompilerKind::kGcc, "-c a.c -static").back(), "-static");  // nothing is linked yet
}

TEST(CompilerKind, IsInTheName) {
  EXPECT_EQ(*compiler_kind(Words{"/usr/bin/x86_64-linux-gnu-gcc-12"}), CompilerKind::kGcc);
  EXPECT_EQ(*compiler_kind(Words{"ccache", "clang++-19"}), CompilerKind::kClang);
  EXPECT_EQ(*compiler_kind(Words{"g++", "-m64", "-DX"}), CompilerKind::kGcc);
  EXPECT_FALSE(compiler_kind(Words{"/bin/true"}).ok());
  EXPECT_FALSE(compiler_kind(Words{"no-such-compiler-here"}).ok());
}

TEST(ShellLine, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_line(Words{"a", "b c", "", "it's", "$x", "-DA=1"}), "a 'b c' '' 'it'\\''s' '$x' -DA=1");
}

}  // namespace
}  // namespace sooth
