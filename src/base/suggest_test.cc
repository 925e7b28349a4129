#include "base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sooth {
namespace {

TEST(SuggestTest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> known = {"run", "record", "replay", "report", "--format", "--fail-on", "-o", "json"};
  const struct {
    const char* typed;
    const char* meant;
  } cases[] = {
      {"rnu", "run"},             // swapped
      {"recrod", "record"},       // swapped
      {"repor", "report"},        // the beginning
      {"rec", "record"},          // likewise
      {"--fromat", "--format"},   // dashes are not counted
      {"-format", "--format"},    // one is missing
      {"--failon", "--fail-on"},  // one within
      {"jsn", "json"},            // a letter too few
      {"jsoon", "json"},          // a letter too many
      {"replai", "replay"},       // a wrong one
      {"analyze", ""},            // nothing is near
      {"x", ""},                  // too short to say
      {"", ""},
      {"--", ""},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(nearest_word(each.typed, known), each.meant) << each.typed;
  }
  EXPECT_EQ(nearest_word(std::string(100, 'x'), known), "") << "no work for what nobody types";
}

TEST(SuggestTest, IsASentenceOrNothing) {
  const std::vector<std::string> known = {"text", "json"};
  EXPECT_EQ(did_you_mean("txet", known), " Did you mean `text`?");
  EXPECT_EQ(did_you_mean("sarif", known), "");
  EXPECT_EQ(no_such("format", "jsn", known), "there is no format `jsn`; there are: text, json. Did you mean `json`?");
  EXPECT_EQ(no_such("format", "sarif", known), "there is no format `sarif`; there are: text, json");
}

}  // namespace
}  // namespace sooth
