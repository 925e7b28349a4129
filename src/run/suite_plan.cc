#include "run/suite_plan.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "report/json_node.h"

namespace sooth {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchedulesInTurn[] = {"random", "pct:3", "pos", "surw"};

// Of the environment that a campaign is planned in, what tests need to find their way.
constexpr std::string_view kKeptVariables[] = {"HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ"};

// What a shell does more with than to hand it on as a word.
constexpr std::string_view kForShells = "|&;<>()$`\\\"'*?[]#~=%!{}\n";

std::vector<std::string> split_at_blanks(std::string_view line) {
  std::vector<std::string> words;
  for (std::size_t at = line.find_first_not_of(" \t"); at != std::string_view::npos;
       at = line.find_first_not_of(" \t", at)) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

// Equal names get ordinals: reports tell by the name which test shows a finding.
void make_names_differ(std::vector<SuiteTest>& tests) {
  std::map<std::string, int> times;
  for (SuiteTest& test : tests) {
    const int ordinal = ++times[test.name];
    if (ordinal > 1) {
      test.name += " #" + std::to_string(ordinal);
    }
  }
}

// The JSON in `text`, or a complaint.
nlohmann::json parse_json(std::string_view text, JsonComplaint& complaint) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    complaint.add("", "is no JSON");
    json = nlohmann::json::object();
  }
  return json;
}

// ctest has the properties of a test as a list of names with values of any kind.
void read_property(const JsonNode& property, SuiteTest& test, bool& disabled) {
  std::string name;
  property.get("name", name);
  if (name == "WORKING_DIRECTORY") {
    property.get("value", test.directory);
  } else if (name == "ENVIRONMENT") {
    property.get("value", test.environment);
  } else if (name == "DISABLED") {
    property.get("value", disabled);
  }
}

}  // namespace

static void read_json(const JsonNode& node, SuiteTest& test) {
  node.required("name").get(test.name);
  node.required("words").get(test.words);
  node.required("directory").get(test.directory);
  node.get("environment", test.environment);
  if (test.words.empty()) {
    node.fail("has no words");
  }
}

static void read_json(const JsonNode& node, SuiteSchedule& schedule) {
  node.required("schedule").get(schedule.schedule);
  node.required("seed").get(schedule.seed);
}

std::string SuiteUnit::name() const {
  return test.name + " (" + schedule.schedule + ", seed " + std::to_string(schedule.seed) + ")";
}

SuiteUnit SuitePlan::unit(std::uint64_t number) const {
  const std::uint64_t index = number - 1;
  return {tests[index % tests.size()], schedules[index / tests.size()]};
}

void set_variable(const std::string& setting, std::vector<std::string>& environment) {
  const std::string name = setting.substr(0, setting.find('=') + 1);
  std::erase_if(environment, [&](const std::string& each) { return each.starts_with(name); });
  environment.push_back(setting);
}

std::vector<std::string> suite_environment(const std::vector<std::string>& current,
                                           const std::vector<std::string>& more) {
  std::set<std::string> names(std::begin(kKeptVariables), std::end(kKeptVariables));
  names.insert(more.begin(), more.end());
  std::vector<std::string> environment;
  for (const std::string& setting : current) {
    if (names.contains(setting.substr(0, setting.find('=')))) {
      environment.push_back(setting);
    }
  }
  for (const std::string& setting : more) {
    if (setting.find('=') != std::string::npos) {
      set_variable(setting, environment);
    }
  }
  std::sort(environment.begin(), environment.end());
  return environment;
}

std::vector<SuiteSchedule> suite_schedules(std::uint64_t count, std::uint64_t seed) {
  std::vector<SuiteSchedule> schedules;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string_view name = i == 0 ? "serial" : kSchedulesInTurn[(i - 1) % std::size(kSchedulesInTurn)];
    schedules.push_back({std::string(name), seed + i});
  }
  return schedules;
}

Result<std::vector<SuiteTest>> tests_of_lines(std::string_view text, const std::string& directory) {
  std::vector<SuiteTest> tests;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::vector<std::string> words = split_at_blanks(line);
    if (words.empty() || words.front().front() == '#') {
      continue;
    }
    if (line.find_first_of(kForShells) != std::string_view::npos) {
      words = {"sh", "-c", std::string(line)};
    }
    tests.push_back({.name = std::string(line), .words = std::move(words), .directory = directory, .environment = {}});
  }
  if (tests.empty()) {
    return Status::bad_input("there is no command in the list");
  }
  make_names_differ(tests);
  return tests;
}

Result<std::vector<SuiteTest>> tests_of_ctest(std::string_view text, const std::string& directory) {
  JsonComplaint complaint;
  const nlohmann::json json = parse_json(text, complaint);
  std::vector<SuiteTest> tests;
  for (const JsonNode& node : JsonNode(&json, "", complaint).required("tests").elements()) {
    SuiteTest test;
    bool disabled = false;
    node.get("name", test.name);
    node.get("command", test.words);  // absent where the program was not built
    for (const JsonNode& property : node["properties"].elements()) {
      read_property(property, test, disabled);
    }
    test.directory = test.directory.empty() ? directory : test.directory;
    if (!disabled && !test.words.empty()) {
      tests.push_back(std::move(test));
    }
  }
  if (!complaint.text().empty()) {
    return Status::bad_input("what ctest lists is not understood: " + complaint.text());
  }
  if (tests.empty()) {
    return Status::bad_input("ctest lists no test whose program is built");
  }
  make_names_differ(tests);
  return tests;
}

std::string print_plan(const SuitePlan& plan) {
  Json json = {{"schema", kSuiteSchema}, {"options", plan.options}, {"environment", plan.environment}};
  json["tests"] = Json::array();
  for (const SuiteTest& test : plan.tests) {
    json["tests"].push_back(
        {{"name", test.name}, {"words", test.words}, {"directory", test.directory}, {"environment", test.environment}});
  }
  json["schedules"] = Json::array();
  for (const SuiteSchedule& each : plan.schedules) {
    json["schedules"].push_back({{"schedule", each.schedule}, {"seed", each.seed}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<SuitePlan> parse_plan(std::string_view text, const std::string& path) {
  JsonComplaint complaint;
  const nlohmann::json json = parse_json(text, complaint);
  const JsonNode root(&json, "", complaint);
  SuitePlan plan;
  std::string schema;
  root.required("schema").get(schema);
  if (complaint.text().empty() && schema != kSuiteSchema) {
    root["schema"].refuse(schema, "; this version of sooth reads \"" + std::string(kSuiteSchema) + "\"");
  }
  root.get("options", plan.options);
  root.get("environment", plan.environment);
  root.required("tests").get(plan.tests);
  root.required("schedules").get(plan.schedules);
  if (complaint.text().empty() && plan.units() == 0) {
    root.fail("has no units");
  }
  if (!complaint.text().empty()) {
    return Status::bad_input(path + ": " + complaint.text());
  }
  return plan;
}

std::string number_ranges(const std::vector<std::uint64_t>& ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t last = i;
    while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) {
      ++last;
    }
    text += (text.empty() ? "" : ",") + std::to_string(ascending[i]);
    text += last == i ? "" : "-" + std::to_string(ascending[last]);
    i = last + 1;
  }
  return text;
}

Result<std::vector<std::uint64_t>> parse_ranges(std::string_view text, std::uint64_t most) {
  std::set<std::uint64_t> numbers;
  const Status wrong = Status::usage("'" + std::string(text) + "' are no units: write numbers from 1 to " +
                                     std::to_string(most) + " and ranges of them, like 1-4,7");
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::uint64_t first = 0;
    auto read = std::from_chars(at, end, first);
    std::uint64_t last = first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
    }
    if (read.ec != std::errc() || first == 0 || last < first || last > most) {
      return wrong;
    }
    for (std::uint64_t number = first; number <= last; ++number) {
      numbers.insert(number);
    }
    if (read.ptr == end) {
      return std::vector<std::uint64_t>(numbers.begin(), numbers.end());
    }
    if (*read.ptr != ',') {
      return wrong;
    }
    at = read.ptr + 1;
  }
}

}  // namespace sooth
