// Which libraries keep nothing between calls, and which functions are theirs.
#include "symbol/stateless_libraries.h"

#include <gtest/gtest.h>

#include "base/test_environment.h"
#include "symbol/symbol_testing.h"

namespace sooth {
namespace {

TEST(StatelessLibrariesTest, NamesMeanVersionsAndNothingElse) {
  struct {
    const char* name;
    const char* file;
    bool matches;
  } const cases[] = {
      {"libfoo", "libfoo.so", true},
      {"libfoo", "libfoo.so.1.2", true},
      {"libfoo.so.1", "libfoo.so.1.2", true},
      {"libfoo.so.1", "libfoo.so.12", false},
      {"libfoo", "libfoobar.so", false},
      {"libfoo", "/opt/lib/libfoo.so", true},
      {"libfoo", "/libfoo.so/libbar.so", false},
      {"libf*.so", "libfoo.so", true},
      {"libf*.so", "libfoo.so.1", false},
      {"/opt/lib/libfoo.so", "libfoo.so.1", true},
      {"", "libfoo.so", false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(StatelessLibraries({c.name}).contains(c.file), c.matches) << c.name << " for " << c.file;
  }
}

TEST(StatelessLibrariesTest, ThoseOfTheSystemAreKnown) {
  const StatelessLibraries libraries;
  EXPECT_TRUE(libraries.contains("/usr/lib/x86_64-linux-gnu/libz.so.1.2.13"));
  EXPECT_TRUE(libraries.contains("libpng16.so.16"));
  EXPECT_FALSE(libraries.contains("libcrypto.so.3"));
  EXPECT_FALSE(libraries.contains("libz3.so.4"));
  EXPECT_EQ(libraries.name_for("libz.so.1"), nullptr) << "nobody has named it";
}

// The first file that defines a name has it, as for the dynamic linker.
TEST(StatelessLibrariesTest, FunctionsAreThoseThatTheLinkerFindsThere) {
  const TemporaryDirectory dir;
  const auto library = [&](const std::string& name, const std::string& code) {
    fill_file(dir / (name + ".c"), code);
    output_of("cd " + dir.path() + " && gcc -shared -fPIC -Wl,-soname,lib" + name + ".so " + name + ".c -o lib" + name +
              ".so 2>&1");
  };
  library("pure",
          "static __attribute__((noinline)) int inner(int x) { return x; }\nint pure(int x) { return inner(x); }\n"
          "int both(int x) { return x; }\nint mine(int x) { return x; }\n");
  library("other",
          "static int n;\nint other(void) { return ++n; }\nint both(int x) { return n += x; }\n"
          "int inner(int x) { return n += x; }\n");
  fill_file(dir / "main.c",
            "int pure(int);\nint other(void);\nint both(int);\nint mine(int x) { return x + 1; }\n"
            "int main(void) { return pure(0) + other() + both(0) + mine(0); }\n");
  const std::string link = " 2>&1 -Wl,-rpath," + dir.path() + " -L. ";
  output_of("cd " + dir.path() + " && gcc main.c -o first" + link + "-lpure -lother && gcc main.c -o second" + link +
            "-lother -lpure");
  const auto functions = [&](const std::string& program, const std::string& named) {
    RecordedProcess process;
    process.modules.emplace_back().path = dir / program;
    return functions_of(StatelessLibraries({named}), process);
  };
  const FunctionNames first = functions("first", "libpure");
  EXPECT_TRUE(first.contains("pure"));
  EXPECT_TRUE(first.contains("both"));
  EXPECT_FALSE(first.contains("other"));
  EXPECT_FALSE(first.contains("mine")) << "the program has one of its own";
  EXPECT_FALSE(first.contains("inner")) << "that of the first library is nobody else's";
  const FunctionNames second = functions("second", "libpure");
  EXPECT_TRUE(second.contains("pure"));
  EXPECT_FALSE(second.contains("both")) << "the other library comes first";
  EXPECT_FALSE(functions("first", "libnone").contains("pure"));
  EXPECT_TRUE(functions_of(StatelessLibraries({"libpure"}), dir / "nothing").empty());
}

}  // namespace
}  // namespace sooth
