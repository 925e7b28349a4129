// What inspect_binary() says about files made by the compilers of this machine, and about damaged ones.
#include "symbol/elf_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>

#include "base/test_environment.h"
#include "symbol/elf_image.h"
#include "symbol/symbol_testing.h"

namespace sooth {
namespace {

constexpr const char* kProgram = "int shared; int main() { shared = 1; return shared - 1; }\n";

class ElfFileTest : public ::testing::Test {
 protected:
  ElfFileTest() { fill_file(dir_ / "p.cc", kProgram); }

  // Compiles p.cc (or `source`) to `output` with these flags and says what came out.
  BinaryInfo build(const std::string& compiler, const std::string& flags, const std::string& output = "p",
                   const std::string& source = "p.cc") {
    output_of("cd " + dir_.path() + " && " + compiler + " " + source + " -o " + output + " " + flags + " 2>&1");
    const auto info = inspect_binary(dir_ / output);
    EXPECT_TRUE(info.ok()) << info.status().message();
    return info.ok() ? *info : BinaryInfo();
  }
  std::string write(const std::string& name, const std::string& content) {
    fill_file(dir_ / name, content);
    return dir_ / name;
  }

  TemporaryDirectory dir_;
};

// --- formats ---

TEST_F(ElfFileTest, FilesThatAreNoPrograms) {
  EXPECT_EQ(inspect_binary(write("text", "hello\n"))->format, FileFormat::kOther);
  EXPECT_EQ(inspect_binary(write("empty", ""))->format, FileFormat::kOther);
  const auto script = inspect_binary(write("script", "#! /bin/sh -e\necho\n"));
  EXPECT_EQ(script->format, FileFormat::kScript);
  EXPECT_EQ(script->interpreter, "/bin/sh -e");
  EXPECT_EQ(inspect_binary(write("short", "#!"))->format, FileFormat::kScript);

  const auto missing = inspect_binary(dir_ / "missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().message(), dir_ / "missing" + ": No such file or directory");
  const auto folder = inspect_binary(dir_.path());
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.status().message(), dir_.path() + ": not a regular file");
}

TEST_F(ElfFileTest, ProgramsOfOtherMachines) {
  build("g++", "");
  std::string bytes = file_content(dir_ / "p");
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(inspect_binary(write("p32", bytes))->format, FileFormat::kForeignElf);
  bytes[EI_CLASS] = ELFCLASS64;
  EXPECT_EQ(inspect_binary(write("same", bytes))->machine, Machine::kX86_64);
  bytes[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
  EXPECT_EQ(inspect_binary(write("arm", bytes))->format, FileFormat::kElf);
  EXPECT_EQ(inspect_binary(dir_ / "arm")->machine, Machine::kAarch64);
  bytes[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_PPC64);
  EXPECT_EQ(inspect_binary(write("power", bytes))->format, FileFormat::kForeignElf);
}

// --- linking and instrumentation ---

TEST_F(ElfFileTest, APlainProgramIsNotInstrumented) {
  for (const std::string& compiler : installed_compilers()) {
    for (const char* flags : {"", "-no-pie", "-O2 -s"}) {
      const BinaryInfo info = build(compiler, std::string(flags) + " -Wl,--build-id");
      EXPECT_EQ(info.format, FileFormat::kElf);
      EXPECT_EQ(info.linking, Linking::kDynamic);
      EXPECT_EQ(info.tsan, Tsan::kNone);
      EXPECT_EQ(info.tsan_library, TsanLibrary::kNone);
      EXPECT_EQ(info.interpreter, "/lib64/ld-linux-x86-64.so.2");
      EXPECT_FALSE(info.contains_sooth);
      EXPECT_FALSE(info.needs_openmp);
      EXPECT_FALSE(info.runs_as_other_user);
      const std::string notes = output_of("readelf -n " + dir_ / "p");
      EXPECT_NE(notes.find("Build ID: " + info.build_id + "\n"), std::string::npos) << notes;
    }
  }
}

TEST_F(ElfFileTest, StaticProgramsAndObjects) {
  EXPECT_EQ(build("g++", "-static").linking, Linking::kStatic);
  EXPECT_EQ(build("g++", "-static-pie").linking, Linking::kStatic);
  EXPECT_EQ(build("g++", "-c", "p.o").linking, Linking::kNotLinked);
  const BinaryInfo library = build("g++", "-shared -fPIC -Wl,-soname,libp.so.1", "libp.so");
  EXPECT_EQ(library.linking, Linking::kSharedLibrary);
  EXPECT_EQ(library.soname, "libp.so.1");
  EXPECT_EQ(build("g++", "-Wl,--build-id=none").build_id, "");
}

TEST_F(ElfFileTest, InstrumentedByGcc) {
  for (const char* flags : {"", "-s", "-no-pie -O2"}) {
    const BinaryInfo info = build("g++", std::string("-fsanitize=thread ") + flags);
    EXPECT_EQ(info.tsan, Tsan::kUndefined);
    EXPECT_EQ(info.tsan_library, TsanLibrary::kGcc);
    EXPECT_EQ(info.tsan_soname.substr(0, 11), "libtsan.so.");
  }
  EXPECT_EQ(build("g++", "-fsanitize=thread -static-libtsan").tsan, Tsan::kContained);
}

TEST_F(ElfFileTest, InstrumentedByClang) {
  for (const std::string& compiler : installed_compilers()) {
    if (compiler == "g++") {
      continue;
    }
    const BinaryInfo by_default = build(compiler, "-fsanitize=thread");
    EXPECT_EQ(by_default.tsan, Tsan::kContained);
    EXPECT_EQ(by_default.tsan_library, TsanLibrary::kNone);
    EXPECT_EQ(build(compiler, "-fsanitize=thread -s").tsan, Tsan::kContained) << "known by .dynsym";
    const BinaryInfo shared = build(compiler, "-fsanitize=thread -shared-libsan");
    EXPECT_EQ(shared.tsan, Tsan::kUndefined);
    EXPECT_EQ(shared.tsan_library, TsanLibrary::kClang);
    EXPECT_EQ(shared.tsan_soname.substr(0, 16), "libclang_rt.tsan");
    const BinaryInfo without = build(compiler, "-fsanitize=thread -fno-sanitize-link-runtime -shared -fPIC");
    EXPECT_EQ(without.tsan, Tsan::kUndefined);
    EXPECT_EQ(without.tsan_library, TsanLibrary::kNone);
  }
}

TEST_F(ElfFileTest, SetuidAndOpenMp) {
  build("g++", "");
  ASSERT_EQ(::chmod((dir_ / "p").c_str(), 04755), 0);
  EXPECT_TRUE(inspect_binary(dir_ / "p")->runs_as_other_user);
  EXPECT_TRUE(build("g++", "-fopenmp -Wl,--no-as-needed -lgomp", "omp").needs_openmp);
}

// --- libraries ---

TEST_F(ElfFileTest, NeededLibrariesAreFoundByRunpathRpathAndLibraryPath) {
  write("inner.cc", "int inner;\nvoid touch_inner() { ++inner; }\n");
  write("outer.cc", "void touch_inner();\nvoid touch() { touch_inner(); }\n");
  write("user.cc", "void touch();\nint main() { touch(); }\n");
  ::mkdir((dir_ / "lib").c_str(), 0755);
  build("g++", "-fsanitize=thread -shared -fPIC", "lib/libinner.so", "inner.cc");
  const struct {
    const char* flags;
    bool found;  // whether the inner library is, too: DT_RUNPATH is for direct needs, DT_RPATH for all
  } table[] = {{"'-Wl,-rpath,$ORIGIN/lib' -Wl,--disable-new-dtags", true},
               {"'-Wl,-rpath,${ORIGIN}/lib' -Wl,--enable-new-dtags", false}};
  build("g++", "-shared -fPIC -Llib -linner", "lib/libouter.so", "outer.cc");
  for (const auto& [flags, found] : table) {
    build("g++", std::string("-Llib -louter -Wl,-rpath-link,lib ") + flags, "user", "user.cc");
    const auto program = inspect_program(dir_ / "user");
    ASSERT_TRUE(program.ok()) << program.status().message();
    EXPECT_EQ(program->main.tsan, Tsan::kNone);
    EXPECT_EQ(program->instrumented(), found) << flags;
    EXPECT_FALSE(program->has_sooth());
    ASSERT_GE(program->libraries.size(), 3u);
    EXPECT_EQ(program->libraries[0].soname, "libouter.so");
    EXPECT_EQ(program->libraries[0].info.path, dir_ / "lib/libouter.so");
    const auto inner = std::find_if(program->libraries.begin(), program->libraries.end(),
                                    [](const NeededLibrary& library) { return library.soname == "libinner.so"; });
    ASSERT_NE(inner, program->libraries.end());
    EXPECT_EQ(inner->needed_by, dir_ / "lib/libouter.so");
    EXPECT_EQ(inner->info.path, found ? dir_ / "lib/libinner.so" : "");
    EXPECT_EQ(inner->info.tsan, found ? Tsan::kUndefined : Tsan::kNone);
    EXPECT_TRUE(inspect_program(dir_ / "user", "/nowhere:" + dir_ / "lib")->instrumented());
  }
  const auto complete = inspect_program(dir_ / "user", dir_ / "lib");
  ASSERT_TRUE(complete.ok()) << complete.status().message();
  for (const NeededLibrary& library : complete->libraries) {
    EXPECT_NE(library.info.path, "") << library.soname << " is in none of the default directories";
  }
}

TEST_F(ElfFileTest, OurLibraryIsKnownByWhatItExports) {
  write("rt.cc", "extern \"C\" void __sooth_version() {}\nextern \"C\" void __tsan_read4(void*) {}\n");
  const BinaryInfo library = build("g++", "-shared -fPIC -Wl,-soname,libtsan.so.2", "libtsan.so.2", "rt.cc");
  EXPECT_TRUE(library.contains_sooth);
  EXPECT_EQ(library.tsan, Tsan::kContained);
  write("user.cc", "extern \"C\" void __sooth_version();\nint main() { __sooth_version(); }\n");
  const BinaryInfo user = build("g++", "./libtsan.so.2 '-Wl,-rpath,$ORIGIN'", "user", "user.cc");
  EXPECT_FALSE(user.contains_sooth);
  EXPECT_TRUE(inspect_program(dir_ / "user")->has_sooth());
}

TEST_F(ElfFileTest, ADamagedLibraryIsNamedWithTheFileThatNeedsIt) {
  write("lib.cc", "void touch() {}\n");
  write("user.cc", "void touch();\nint main() { touch(); }\n");
  build("g++", "-shared -fPIC", "libt.so", "lib.cc");
  build("g++", "-L. -lt '-Wl,-rpath,$ORIGIN'", "user", "user.cc");
  write("libt.so", file_content(dir_ / "libt.so").substr(0, 100));
  const auto program = inspect_program(dir_ / "user");
  ASSERT_FALSE(program.ok());
  EXPECT_TRUE(program.status().message().starts_with("needed by " + dir_ / "user" + ": " + dir_ / "libt.so" +
                                                     ": damaged ELF file: the table of segments would be "))
      << program.status().message();
}

}  // namespace
}  // namespace sooth
