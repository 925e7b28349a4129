#include "run/merge_tests.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "confirm/test_campaign.h"

namespace sooth {
namespace {

using Json = nlohmann::ordered_json;
using Number = std::uint64_t;

Number number(const Json& json, const char* key) { return json.at(key).get<Number>(); }

// Of two rows about the same thing the one that came first, with the counts of both.
void add_row(const Json& row, const std::vector<const char*>& counts, Json& sum) {
  Json total = row.value("first_seed", UINT64_MAX) < sum.value("first_seed", UINT64_MAX) ? row : sum;
  for (const char* key : counts) {
    total[key] = number(row, key) + number(sum, key);
  }
  sum = std::move(total);
}

// Adds the rows of one list to those of another; rows with equal keys are about the same thing.
template <typename KeyOf>
void add_rows(const Json& rows, KeyOf key_of, const std::vector<const char*>& counts, Json& all) {
  for (const Json& row : rows) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Json& each) { return key_of(each) == key_of(row); });
    if (same == all.end()) {
      all.push_back(row);
    } else {
      add_row(row, counts, *same);
    }
  }
}

void sort_by_seed(Json& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Json& a, const Json& b) { return number(a, "first_seed") < number(b, "first_seed"); });
}

void add_ends(const Json& ends, Json& all) {
  for (const Json& end : ends) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Json& each) { return each.at("key") == end.at("key"); });
    if (same == all.end()) {
      all.push_back(end);
      continue;
    }
    Json outputs = same->at("outputs");
    add_rows(
        end.at("outputs"), [](const Json& each) { return each.at("hash").get<std::string>(); }, {"runs"}, outputs);
    sort_by_seed(outputs);
    while (outputs.size() > kMaxOutputs) {
      outputs.erase(outputs.size() - 1);
    }
    const bool tells_delays = end.contains("delayed") && same->contains("delayed");
    // Only some of the runs that ended so may have seen old values, and not the first of them.
    Json older;
    for (const Json* each : {static_cast<const Json*>(&*same), &end}) {
      older = older.empty() && each->contains("older_values") ? each->at("older_values") : older;
    }
    const Number weak = end.value("weak_runs", Number{0}) + same->value("weak_runs", Number{0});
    add_row(end, tells_delays ? std::vector<const char*>{"runs", "delayed"} : std::vector<const char*>{"runs"}, *same);
    (*same)["outputs"] = std::move(outputs);
    if (!older.empty()) {
      (*same)["weak_runs"] = weak;
      (*same)["older_values"] = std::move(older);
    }
  }
}

// As TestTally::finish() does it.
void judge_ends(Json& ends) {
  sort_by_seed(ends);
  const Json* usual = nullptr;
  for (const Json& end : ends) {
    if (end.at("kind") == "exit" && (usual == nullptr || number(end, "runs") > number(*usual, "runs"))) {
      usual = &end;
    }
  }
  for (Json& end : ends) {
    end["failure"] = &end != usual;
  }
  const auto place = [](const Json& end) {
    const bool by_delay = end.contains("delayed") && number(end, "delayed") == number(end, "runs");
    return !end.at("failure").get<bool>() ? 2 : by_delay ? 1 : 0;
  };
  std::stable_sort(ends.begin(), ends.end(), [&](const Json& a, const Json& b) { return place(a) < place(b); });
}

// By first seed and shard: the order in which the results are given plays no part.
using Place = std::tuple<Number, Number, Number>;  // seed, shards, shard

Json merge(const std::map<Place, Json>& results) {
  Json merged = results.begin()->second;
  std::map<std::pair<Number, Number>, std::set<Number>> present;  // by seed and number of shards
  merged.erase("coverage");                                       // orders that shards have in common cannot be told
  merged["ends"] = Json::array();
  merged["races"] = Json::array();
  for (const char* key : {"runs", "planned", "external"}) {
    merged[key] = Number{0};
  }
  for (const auto& [place, result] : results) {
    present[{std::get<0>(place), std::get<1>(place)}].insert(std::get<2>(place));
    for (const char* key : {"runs", "planned", "external"}) {
      merged[key] = number(merged, key) + number(result, key);
    }
    add_ends(result.at("ends"), merged["ends"]);
    const auto pair_of = [](const Json& race) {
      return race.at("first").get<std::string>() + "\n" + race.at("second").get<std::string>();
    };
    add_rows(result.at("races"), pair_of, {"trials", "hits"}, merged["races"]);
  }
  judge_ends(merged["ends"]);
  merged["shard"] = merged["shards"] = 1;
  for (const auto& [campaign, shards] : present) {
    for (Number i = 1; i <= campaign.second; ++i) {
      if (!shards.contains(i)) {
        merged["missing_shards"].push_back(std::to_string(i) + "/" + std::to_string(campaign.second));
      }
    }
  }
  return merged;
}

// Why the two cannot be one; empty when they can.
std::string difference(const Json& a, const Json& b) {
  for (const char* key : {"program", "strategy"}) {
    if (a.at(key) != b.at(key)) {
      return std::string("is of another ") + key + " than the others: " + b.at(key).get<std::string>();
    }
  }
  return "";
}

// No file has so many; a hostile one may say so.
constexpr Number kMostShards = 1'000'000;

Result<std::string> merge_parsed(const std::vector<TestText>& results) {
  std::map<Place, Json> all;
  for (const TestText& result : results) {
    Json json = Json::parse(result.text);
    if (json.at("schema") != kTestSchema) {
      return Status::bad_input(result.path + " is no result of `sooth test`");
    }
    const Place place{number(json, "seed"), number(json, "shards"), number(json, "shard")};
    if (std::get<1>(place) > kMostShards) {
      return Status::bad_input(result.path + " says that it is one of " + std::to_string(std::get<1>(place)) +
                               " shards");
    }
    if (!all.empty()) {
      if (const std::string why = difference(all.begin()->second, json); !why.empty()) {
        return Status::bad_input(result.path + " " + why);
      }
    }
    all.try_emplace(place, std::move(json));
  }
  return merge(all).dump(2) + "\n";
}

}  // namespace

bool is_test_result(const std::string& text) {
  // Our own files name the schema first.
  return text.substr(0, 200).find(kTestSchema) != std::string::npos;
}

Result<std::string> merge_tests(const std::vector<TestText>& results) {
  try {
    return merge_parsed(results);
  } catch (const nlohmann::json::exception& error) {
    std::string names;
    for (const TestText& result : results) {
      names += (names.empty() ? "" : ", ") + result.path;
    }
    return Status::bad_input("cannot merge " + names + ": " + error.what());
  }
}

}  // namespace sooth
