// Names as people write them.
#include "symbol/readable_name.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

struct NameCase {
  const char* given;
  const char* readable;
  const char* function;  // nullptr: not asked
};

TEST(ReadableName, SaysWhatPeopleWrite) {
  const NameCase cases[] = {
      {"main", "main", "main()"},
      {"worker(int)", "worker(int)", "worker()"},
      {"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", "std::string", nullptr},
      {"std::vector<int, std::allocator<int> >", "std::vector<int>", nullptr},
      {"std::vector<std::vector<int, std::allocator<int> >, std::allocator<std::vector<int, std::allocator<int> > > >",
       "std::vector<std::vector<int>>", nullptr},
      {"std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int, "
       "std::less<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >, "
       "std::allocator<std::pair<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
       "const, "
       "int> > >",
       "std::map<std::string, int>", nullptr},
      {"std::unordered_map<int, long, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, long> > "
       ">",
       "std::unordered_map<int, long>", nullptr},
      {"std::unique_ptr<Account, std::default_delete<Account> >", "std::unique_ptr<Account>", nullptr},
      {"std::vector<int, my::Pool<int> >", "std::vector<int, my::Pool<int>>", nullptr},
      {"std::allocator<char>", "std::allocator<char>", nullptr},
      {"worker(int)::{lambda(int)#1}::operator()(int) const", "lambda in worker(int)", "lambda in worker()"},
      {"worker(int)::{lambda(int)#2}::operator()(int) const", "lambda #2 in worker(int)", "lambda #2 in worker()"},
      {"audit(int)::{lambda}::operator()", "lambda in audit(int)", nullptr},
      {"main::$_0::operator()() const", "lambda in main", nullptr},
      {"main::$_2::operator()(int) const", "lambda #3 in main", nullptr},
      {"main::{lambda()#1}::operator()() const::{lambda(int)#1}::operator()(int) const", "lambda in lambda in main",
       nullptr},
      {"void std::__invoke_impl<void, main::{lambda()#1}>(std::__invoke_other, main::{lambda()#1}&&)",
       "void std::__invoke_impl<void, lambda in main>(std::__invoke_other, main::{lambda()#1}&&)",
       "std::__invoke_impl<void, lambda in main>()"},
      {"void ns::bump<int>(int*)", "void ns::bump<int>(int*)", "ns::bump<int>()"},
      {"(anonymous namespace)::cube(int)", "(anonymous namespace)::cube(int)", "(anonymous namespace)::cube()"},
      {"Big::operator<(Big const&) const", "Big::operator<(Big const&) const", "Big::operator<()"},
      {"operator<<(std::basic_ostream<char, std::char_traits<char> >&, Big const&)",
       "operator<<(std::ostream&, Big const&)", "operator<<()"},
      {"Pool::operator()(int) const", "Pool::operator()(int) const", "Pool::operator()()"},
      {"std::array<int, 3ul>", "std::array<int, 3ul>", nullptr},
      {"", "", ""},
      {"a<b<c", "a<b<c>>", nullptr},  // damaged, but nothing breaks
      {"f(", "f(", nullptr},
  };
  for (const NameCase& each : cases) {
    EXPECT_EQ(readable_name(each.given), each.readable) << each.given;
    if (each.function != nullptr) {
      EXPECT_EQ(short_function(each.given), each.function) << each.given;
    }
  }
}

}  // namespace
}  // namespace sooth
