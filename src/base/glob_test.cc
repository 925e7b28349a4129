#include "base/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace sooth {
namespace {

TEST(GlobTest, MatchesTheWholeText) {
  struct Case {
    const char* pattern;
    const char* text;
    bool matches;
  };
  const Case cases[] = {
      {"", "", true},
      {"", "a", false},
      {"a", "a", true},
      {"a", "ab", false},
      {"*", "", true},
      {"*", "abc", true},
      {"**", "a", true},
      {"?", "", false},
      {"?", "a", true},
      {"a*c", "ac", true},
      {"a*c", "abbc", true},
      {"a*c", "abbcd", false},
      {"*ab", "aab", true},
      {"*a*b", "xaxbxb", true},
      {"a*b*c", "acb", false},
      {"std::*", "std::sort", true},
      {"std::*", "mystd::sort", false},
      {"operator[]", "operator[]", true},
      {"*.c:1?", "dir/a.c:12", true},
      {"*.c:1?", "dir/a.c:1", false},
      {"a*", "a", true},
      {"a?*", "a", false},
      {"*?", "a", true},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(glob_match(c.pattern, c.text), c.matches) << c.pattern << " on " << c.text;
  }
}

TEST(GlobTest, ManyStarsAreNoTrap) {
  std::string pattern, text(20'000, 'a');
  for (int i = 0; i < 200; ++i) {
    pattern += "a*";
  }
  EXPECT_FALSE(glob_match(pattern + "b", text));
}

}  // namespace
}  // namespace sooth
