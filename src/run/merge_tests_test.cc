#include "run/merge_tests.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sooth {
namespace {

using Json = nlohmann::ordered_json;

Json end(const std::string& kind, const std::string& key, int runs, int first_seed) {
  return {{"kind", kind},
          {"number", 0},
          {"description", kind + std::to_string(first_seed)},
          {"failure", kind != "exit"},
          {"runs", runs},
          {"first_seed", first_seed},
          {"key", key},
          {"outputs", {{{"runs", runs}, {"first_seed", first_seed}, {"hash", "0f"}}}}};
}

std::string result(int seed, int shard, int shards, Json ends) {
  const Json json = {
      {"schema", kTestSchema}, {"program", "./p"}, {"strategy", "random"}, {"seed", seed},  {"shard", shard},
      {"shards", shards},      {"runs", 4},        {"planned", 4},         {"external", 1}, {"ends", ends},
      {"races", Json::array()}};
  return json.dump();
}

TEST(MergeTests, CountsEqualEndsTogetherAndJudgesAnew) {
  // Three of four runs of the first shard exit with 3, but of all runs most exit with 0.
  const std::string first = result(1, 1, 2, {end("exit", "3", 3, 1), end("exit", "0", 1, 7)});
  const std::string second = result(1, 2, 2, {end("crash", "6", 1, 2), end("exit", "0", 3, 4)});
  const auto merged = merge_tests({{"a", first}, {"b", second}});
  ASSERT_TRUE(merged.ok()) << merged.status().message();
  const Json json = Json::parse(*merged);
  EXPECT_EQ(json["runs"], 8);
  EXPECT_EQ(json["external"], 2);
  EXPECT_EQ(json["shards"], 1);
  EXPECT_FALSE(json.contains("missing_shards"));
  ASSERT_EQ(json["ends"].size(), 3u);
  EXPECT_EQ(json["ends"][0]["key"], "3");  // a failure now, and earlier than the crash
  EXPECT_EQ(json["ends"][0]["failure"], true);
  EXPECT_EQ(json["ends"][1]["key"], "6");
  EXPECT_EQ(json["ends"][2]["runs"], 4);
  EXPECT_EQ(json["ends"][2]["failure"], false);
  EXPECT_EQ(json["ends"][2]["first_seed"], 4);
  EXPECT_EQ(json["ends"][2]["description"], "exit4");
  EXPECT_EQ(json["ends"][2]["outputs"].size(), 1u);
  EXPECT_EQ(json["ends"][2]["outputs"][0]["runs"], 4);
}

TEST(MergeTests, OldValuesAreKept) {
  Json weak = end("crash", "6", 3, 5);
  weak["weak_runs"] = 2;
  weak["older_values"] = {"thread 1 read an old value"};
  const std::string first = result(1, 1, 2, {end("crash", "6", 1, 2)});
  const std::string second = result(1, 2, 2, {weak});
  const auto merged = merge_tests({{"a", first}, {"b", second}});
  ASSERT_TRUE(merged.ok()) << merged.status().message();
  const Json crash = Json::parse(*merged)["ends"][0];
  EXPECT_EQ(crash["first_seed"], 2);
  EXPECT_EQ(crash["runs"], 4);
  EXPECT_EQ(crash["weak_runs"], 2);
  EXPECT_EQ(crash["older_values"], weak["older_values"]);
}

TEST(MergeTests, OrderPlaysNoPartAndTwiceIsOnce) {
  const std::string first = result(1, 1, 3, {end("exit", "0", 4, 1)});
  const std::string second = result(1, 2, 3, {end("hang", "h", 4, 2)});
  const auto merged = merge_tests({{"a", first}, {"b", second}});
  const auto again = merge_tests({{"b", second}, {"a", first}, {"a", first}});
  ASSERT_TRUE(merged.ok());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*merged, *again);
  EXPECT_EQ(Json::parse(*merged)["missing_shards"], Json::array({"3/3"}));
}

TEST(MergeTests, RefusesWhatDoesNotBelongTogether) {
  const std::string first = result(1, 1, 2, Json::array());
  Json other = Json::parse(first);
  other["program"] = "./q";
  const auto merged = merge_tests({{"a", first}, {"b", other.dump()}});
  ASSERT_FALSE(merged.ok());
  EXPECT_NE(merged.status().message().find("b is of another program"), std::string::npos) << merged.status().message();
  for (const char* text : {"", "{", "[]", "{}", "null", "{\"schema\": \"sooth-test/1\"}",
                           "{\"schema\": \"sooth-test/1\", \"seed\": -1}"}) {
    EXPECT_FALSE(merge_tests({{"a", text}}).ok()) << text;
  }
  Json many = Json::parse(first);
  many["shards"] = UINT64_MAX;
  EXPECT_FALSE(merge_tests({{"a", many.dump()}}).ok());
}

}  // namespace
}  // namespace sooth
