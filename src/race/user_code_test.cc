#include "race/user_code.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

Site at(std::string file, std::string function, std::string module = "/home/u/prog") {
  Site site;
  site.file = std::move(file);
  site.function = std::move(function);
  site.module = std::move(module);
  return site;
}

TEST(UserCodeTest, TheStandardLibraryAndTheSystemAreNotTheUsers) {
  const UserCode code;
  EXPECT_TRUE(code.is_user(at("/home/u/src/a.cc", "f()")));
  EXPECT_TRUE(code.is_user(at("src/a.cc", "std_like()")));
  EXPECT_TRUE(code.is_user(at("", "f()")));
  EXPECT_TRUE(code.is_user(at("/home/u/include/own.h", "f()")));
  EXPECT_FALSE(code.is_user(at("/usr/include/c++/12/bits/stl_vector.h", "std::vector<int>::size() const")));
  EXPECT_FALSE(code.is_user(at("/usr/include/string.h", "memcpy")));
  EXPECT_FALSE(code.is_user(at("/opt/gcc-13/include/c++/13/thread", "x")));
  EXPECT_FALSE(code.is_user(at("/usr/lib/llvm-14/include/c++/v1/vector", "x")));
  EXPECT_FALSE(code.is_user(at("", "void std::__invoke_impl<void, void (*)()>(std::__invoke_other, void (*&&)())")));
  EXPECT_FALSE(code.is_user(at("", "", "/lib/x86_64-linux-gnu/libstdc++.so.6")));
  EXPECT_FALSE(code.is_user(at("./nptl/pthread_create.c", "start_thread", "/lib/x86_64-linux-gnu/libc.so.6")));
  EXPECT_FALSE(code.is_user(at("", "pthread_create", "/opt/sooth/lib/libtsan.so.2")));
}

TEST(UserCodeTest, PatternsSayItOtherwise) {
  const UserCode code({"^/home/u/src/", "third_party::"});
  EXPECT_TRUE(code.is_user(at("/home/u/src/a.cc", "f()")));
  EXPECT_TRUE(code.is_user(at("/usr/include/tp.h", "third_party::go()")));
  EXPECT_FALSE(code.is_user(at("/home/u/vendor/a.cc", "f()")));
}

TEST(UserCodeTest, TheInnermostFrame) {
  const UserCode code;
  const Site library = at("/usr/include/c++/12/bits/stl_vector.h", "std::vector<int>::size() const");
  const Site mine = at("/home/u/a.cc", "f()");
  EXPECT_EQ(code.innermost(mine, {library}), 0u);
  EXPECT_EQ(code.innermost(library, {library, mine, mine}), 2u);
  EXPECT_EQ(code.innermost(library, {library}), 0u);
}

TEST(UserCodeTest, FunctionsHaveOneNameForAllCompilers) {
  const std::pair<const char*, const char*> kCases[] = {
      {"bump", "bump"},
      {"bump(int&)", "bump"},
      {"ns::Queue<int>::push(int const&)", "push"},
      {"void bump<long>(long&)", "bump"},
      {"main::{lambda()#1}::operator()() const", "operator()"},
      {"main::$_0::operator()() const", "operator()"},
      {"operator()", "operator()"},
      {"std::ostream& operator<< <char>(std::ostream&, int)", "operator<<"},
      {"Node::operator->()", "operator->"},
      {"A::operator==(A const&) const", "operator=="},
      {"std::enable_if<true, int>::type f<int>(int)", "f"},
      {"(anonymous namespace)::count(int)", "count"},
      {"", ""},
  };
  for (const auto& [function, bare] : kCases) {
    EXPECT_EQ(bare_function(function), bare) << function;
  }
}

TEST(UserCodeTest, VariablesHaveOneNameForAllElements) {
  EXPECT_EQ(bare_variable("accounts[3].balance"), "accounts[].balance");
  EXPECT_EQ(bare_variable("grid[3][12]"), "grid[][]");
  EXPECT_EQ(bare_variable("name[0..11]"), "name[]");
  EXPECT_EQ(bare_variable("table+16"), "table");
  EXPECT_EQ(bare_variable("a+b"), "a+b");
  EXPECT_EQ(bare_variable("x2"), "x2");
}

}  // namespace
}  // namespace sooth
