// Every byte of the code of compiled programs, compared with what addr2line of binutils says about it.
//
// Where we differ on purpose:
// - Debug information of GCC has no mangled names of lambdas and of functions with internal linkage. addr2line then
//   prints the bare name ("operator()"), or for an inlined call the symbol of the function around it ("main",
//   "main.cold"); ours are qualified, and have parameters where the symbol table knows the function.
// - Symbols of parts and copies of a function are marked ("f.cold", "f(int) [clone .isra.0]"), its debug information is
//   not; the two tools do not always take the name from the same one.
// - The bytes between two functions have a line, that of the last instruction, and with us no function.
// - Without debug information addr2line takes the nearest symbol in front, whatever its size; ours must cover the
//   address. It also prints the file of the symbol (STT_FILE), of which it does not know the folder.
// - addr2line prints a line 0 as `?`.
// - addr2line of binutils 2.40 takes file 1 of the tables of DWARF 5 for the source of the unit: only the line is
//   compared then. It also overlooks inlined calls of which DWARF 5 lists the places by index, as clang does
//   (DW_FORM_rnglistx): the DWARF 5 of clang is compared with llvm-addr2line, by mangled names since it demangles in
//   its own way.
#include <elf.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "symbol/demangle.h"
#include "symbol/elf_image.h"
#include "symbol/module_symbols.h"
#include "symbol/symbol_testing.h"

namespace sooth {
namespace {

// Inlined calls, templates, lambdas, constructors, local classes, internal linkage, exceptions, a cold part.
constexpr const char* kSource = R"(#include "part.h"
#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {
int stock;
static int hidden;
struct Shelf {
  explicit Shelf(int n) : items(n) { ++stock; }
  ~Shelf() { --stock; }
  static int count;
  virtual int total(int factor) const;
  template <typename T> T scaled(T by) const { return by * static_cast<T>(items.size()); }
  std::vector<int> items;
};
int Shelf::count = 3;
int Shelf::total(int factor) const {
  static int calls;
  ++calls;
  auto add = [&](int a, int b) { hidden += b; return a + b * factor; };
  int sum = 0;
  for (int item : items) sum = add(sum, item);
  return add(sum, calls);
}
}  // namespace shop

static inline int square(int x) { return x * x + shop::stock; }
namespace {
int cube(int x) { return square(x) * x; }
struct Local { int operator()(int x) const { return cube(x) - 1; } };
}  // namespace

extern "C" int plain_c(int x) {
  if (x > 1000) throw std::runtime_error("too large: " + std::to_string(x));
  return Local()(x) + part::twice(x);
}

int main(int argc, char** argv) {
  shop::Shelf shelf(argc + 3);
  std::map<std::string, int> names;
  for (int i = 0; i < argc; ++i) names[argv[i]] = plain_c(i);
  std::sort(shelf.items.begin(), shelf.items.end(), [](int a, int b) { return a > b; });
  auto generic = [](auto a) { return a + shop::Shelf::count; };
  struct Inner { static int f(int z) { return z + shop::hidden; } };
  try {
    plain_c(argc * 2000);
  } catch (const std::exception& e) {
    return Inner::f(generic(shelf.total(2))) + shelf.scaled<long>(2) > 5 && e.what() != nullptr ? 0 : 1;
  }
  return static_cast<int>(generic(2.5)) + static_cast<int>(names.size());
}
)";
constexpr const char* kHeader = R"(#pragma once
#include <mutex>
namespace part {
inline std::mutex lock;
inline int twice(int x) {
  const std::lock_guard<std::mutex> guard(lock);
  return 2 * x;
}
}  // namespace part
)";

// "ns::f<int>(int) const" -> "f<int>"; what is inside of <> and () belongs to the name in front.
std::string last_component(const std::string& function) {
  int depth = 0;
  std::size_t begin = 0, end = function.size();
  for (std::size_t i = 0; i < function.size(); ++i) {
    const bool is_operator = function.compare(i, 8, "operator") == 0;
    if (is_operator && depth == 0) {
      const std::size_t parameters = function.find('(', function.compare(i, 10, "operator()") == 0 ? i + 10 : i);
      return function.substr(i, parameters == std::string::npos ? parameters : parameters - i);
    }
    const char c = function[i];
    if (c == '<' || c == '{' || c == '(') {
      if (c == '(' && depth == 0 && i > begin) {
        end = i;
      }
      ++depth;
    } else if (c == '>' || c == '}' || c == ')') {
      --depth;
    } else if (c == ':' && depth == 0) {
      begin = i + 1;
      end = function.size();
    }
  }
  return function.substr(begin, end - begin);
}

// Without the marks of parts and copies of a function: "f(int) [clone .isra.0]", "f.cold".
std::string comparable(std::string function) {
  function = function.substr(0, function.find(" [clone ."));
  return function.substr(0, function.rfind(".cold"));
}

bool same_function(std::string ours, std::string theirs) {
  ours = comparable(ours);
  theirs = comparable(theirs);
  if (ours == theirs) {
    return true;
  }
  // A bare name, in which template arguments can be spelled in another way.
  const std::string last = last_component(ours);
  const bool is_operator = theirs.starts_with("operator");
  return last == theirs || (!is_operator && theirs.find('<') != std::string::npos &&
                            last.substr(0, last.find('<')) == theirs.substr(0, theirs.find('<')));
}

TEST(SameFunction, ComparesBareNamesWithTheLastComponent) {
  EXPECT_TRUE(same_function("(anonymous namespace)::cube(int)", "cube"));
  EXPECT_TRUE(same_function("main::{lambda(int, int)#1}::operator()(int, int) const", "operator()"));
  EXPECT_TRUE(same_function("main()::<lambda(auto:1)>::operator()<int>", "operator()<int>"));
  EXPECT_TRUE(same_function("std::sort<int*, main(int)::<lambda(int)> >", "sort<int*, main(int)::<lambda(int)> >"));
  EXPECT_FALSE(same_function("ns::f(int)", "f(long)"));
  EXPECT_FALSE(same_function("ns::f(int)", "g"));
}

struct Theirs {
  std::string function, file, line;
};

// The answers of `tool`, one list of frames for each address. `list` is a file to write.
std::vector<std::vector<Theirs>> ask_addr2line(const std::string& tool, const std::string& file,
                                               const std::vector<std::uint64_t>& addresses, const std::string& list) {
  std::ostringstream text;
  for (const std::uint64_t address : addresses) {
    text << "0x" << std::hex << address << "\n";
  }
  fill_file(list, text.str());
  const std::string names = tool == "addr2line" ? " -C" : "";
  std::istringstream answers(output_of(tool + names + " -a -f -i -e " + file + " < " + list));
  std::vector<std::vector<Theirs>> all;
  for (std::string line; std::getline(answers, line);) {
    if (line.starts_with("0x")) {
      all.emplace_back();
      continue;
    }
    Theirs frame{.function = tool == "addr2line" ? line : demangle(line), .file = "", .line = ""};
    std::getline(answers, line);
    line = line.substr(0, line.find(" (discriminator"));
    frame.file = line.substr(0, line.rfind(':'));
    frame.line = line.substr(line.rfind(':') + 1);
    all.back().push_back(std::move(frame));
  }
  EXPECT_EQ(all.size(), addresses.size());
  return all;
}

std::vector<std::uint64_t> code_bytes(const std::string& path) {
  const auto file = MappedFile::open(path);
  const auto image = ElfImage::parse(file->bytes(), path);
  std::vector<std::uint64_t> addresses;
  for (const Elf64_Shdr& section : image->sections()) {
    if ((section.sh_flags & SHF_EXECINSTR) != 0 && section.sh_size > 0x100) {  // .text, not .init or .plt.got
      for (std::uint64_t i = 0; i < section.sh_size; ++i) {
        addresses.push_back(section.sh_addr + i);
      }
    }
  }
  return addresses;
}

std::string print(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) {
    text += "  " + frame.function + " at " + frame.file + ":" + std::to_string(frame.line) + "\n";
  }
  return text;
}
std::string print(const std::vector<Theirs>& frames) {
  std::string text;
  for (const Theirs& frame : frames) {
    text += "  " + frame.function + " at " + frame.file + ":" + frame.line + "\n";
  }
  return text;
}

// `source` is the file that addr2line may name in place of another one; empty when it may not.
bool same(const std::vector<Frame>& ours, const std::vector<Theirs>& theirs, const std::string& source) {
  if (ours.empty() || ours[0].file.empty()) {
    // No debug information there: the nearest symbol is all that addr2line says.
    const bool no_line = theirs.size() == 1 && (theirs[0].line == "?" || theirs[0].line == "0");
    return no_line && (ours.empty() || same_function(ours[0].function, theirs[0].function));
  }
  if (ours.size() != theirs.size()) {
    return false;
  }
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::string line = theirs[i].line == "?" ? "0" : theirs[i].line;
    const bool same_name = same_function(ours[i].function, theirs[i].function);
    const bool between = ours.size() == 1 && ours[0].function.empty();
    const bool around = i == 0 && ours.size() > 1 && same_function(ours.back().function, theirs[0].function);
    const bool same_file = theirs[i].file == ours[i].file || (!source.empty() && theirs[i].file == source);
    if (!(same_name || between || around) || !same_file || line != std::to_string(ours[i].line)) {
      return false;
    }
  }
  return true;
}

struct Build {
  std::string compiler, flags, tool;
};
void PrintTo(const Build& build, std::ostream* out) { *out << build.compiler << " " << build.flags; }

class Addr2lineTest : public ::testing::TestWithParam<Build> {};

TEST_P(Addr2lineTest, AgreesOnEveryByteOfTheCode) {
  const TemporaryDirectory dir;
  std::filesystem::create_directory(dir / "sub");
  fill_file(dir / "sub/prog.cc", kSource);
  fill_file(dir / "sub/part.h", kHeader);
  const auto& [compiler, flags, tool] = GetParam();
  output_of("cd " + dir.path() + " && " + compiler + " " + flags + " sub/prog.cc -o prog 2>&1");
  auto symbols = ModuleSymbols::open(dir / "prog", "");
  ASSERT_TRUE(symbols.ok()) << symbols.status().message();
  const auto addresses = code_bytes(dir / "prog");
  const auto theirs = ask_addr2line(tool, dir / "prog", addresses, dir / "list");
  ASSERT_EQ(theirs.size(), addresses.size());
  const bool mixes_files = compiler == "g++" && flags.find("-gdwarf-4") == std::string::npos;
  const std::string source = mixes_files ? dir / "sub/prog.cc" : "";
  std::size_t with_lines = 0, inlined = 0, differences = 0;
  std::set<std::string> shown;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto ours = (*symbols)->frames(addresses[i]);
    with_lines += !ours.empty() && ours[0].line > 0 ? 1 : 0;
    inlined += ours.size() > 1 ? 1 : 0;
    if (same(ours, theirs[i], source)) {
      continue;
    }
    ++differences;
    const std::string difference = "ours:\n" + print(ours) + "addr2line:\n" + print(theirs[i]);
    if (shown.size() < 5 && shown.insert(difference).second) {
      ADD_FAILURE() << std::hex << addresses[i] << "\n" << difference;
    }
  }
  EXPECT_EQ(differences, 0u) << "of " << addresses.size();
  EXPECT_GT(with_lines, addresses.size() / 2);
  EXPECT_TRUE(inlined > 0 || flags.find("-O2") == std::string::npos);
}

std::vector<Build> builds() {
  std::vector<Build> all;
  for (const std::string& compiler : installed_compilers()) {
    const std::string llvm = compiler == "clang++-19" ? "llvm-addr2line-19" : "llvm-addr2line";
    for (const char* flags : {"-gdwarf-5 -O0", "-gdwarf-5 -O2", "-gdwarf-4 -O2 -no-pie", "-gdwarf-4 -O0 -shared -fPIC",
                              "-gdwarf-5 -O2 -shared -fPIC", "-gdwarf-4 -O2 -fsanitize=thread -shared -fPIC"}) {
      const bool needs_llvm = compiler != "g++" && std::string(flags).starts_with("-gdwarf-5");
      if (!needs_llvm || has_command(llvm)) {
        all.push_back({compiler, flags, needs_llvm ? llvm : "addr2line"});
      }
    }
  }
  return all;
}

std::string name_of_build(const ::testing::TestParamInfo<Build>& build) {
  std::string name;
  for (const char c : build.param.compiler + build.param.flags) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += c;
    }
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Compilers, Addr2lineTest, ::testing::ValuesIn(builds()), name_of_build);

}  // namespace
}  // namespace sooth
