#include "cli/config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/usage.h"

namespace sooth {

namespace {

// `record` reads the file, as every command that starts a program does.
class ConfigTest : public ::testing::Test {
 protected:
  ConfigTest() {
    start_->add_option("--fail-on", fail_on_, "When")->check(one_of({"predicted", "confirmed"}));
    start_->add_option("--suppressions", suppressions_, "Files")->type_name("FILE")->allow_extra_args(false);
    start_->add_option("--with", with_, "Analyses")->type_name("ANALYSIS,...");
    start_->add_option("--budget", budget_, "Time")->type_name("T");
    start_->add_flag("--stats", stats_, "Figures");
    start_
        ->add_option_function<std::string>(
            "--exclude", [this](const std::string& pattern) { excluded_.push_back(pattern); }, "Patterns")
        ->trigger_on_parse();
    start_->add_option("-o,--output", output_, "Where")->type_name("FILE");
  }

  // What is wrong, or nothing.
  std::string apply(const std::string& text, std::vector<std::string> arguments = {},
                    const std::string& path = "sooth.toml") {
    arguments.insert(arguments.begin(), "record");
    std::reverse(arguments.begin(), arguments.end());
    root_.parse(arguments);
    const Result<ConfigFile> file = parse_config(text, path);
    if (!file.ok()) {
      return file.status().message();
    }
    const Result<std::vector<std::string>> used = apply_config(root_, *start_, "record", *file);
    used_ = used.ok() ? *used : std::vector<std::string>{};
    return used.ok() ? "" : used.status().message();
  }

  CLI::App root_{"A tool.", "tool"};
  CLI::App* start_ = root_.add_subcommand("record", "Start a program");
  CLI::App* other_ = root_.add_subcommand("other", "Reads no file");
  std::string fail_on_ = "predicted", with_, budget_, output_;
  std::vector<std::string> suppressions_, excluded_, used_;
  bool stats_ = false;
};

using Words = std::vector<std::string>;

TEST_F(ConfigTest, GivesOptionsTheirValues) {
  EXPECT_EQ(apply("fail-on = 'confirmed'\nbudget = 90\nstats = true\nwith = ['hb', 'wcp']\n"
                  "exclude = ['a*', 'b*']\nsuppressions = ['x.supp', '/y.supp']\n",
                  {}, "../sooth.toml"),
            "");
  EXPECT_EQ(fail_on_, "confirmed");
  EXPECT_EQ(budget_, "90");
  EXPECT_TRUE(stats_);
  EXPECT_EQ(with_, "hb,wcp");
  EXPECT_EQ(excluded_, (Words{"a*", "b*"})) << "patterns are no files";
  EXPECT_EQ(suppressions_, (Words{"../x.supp", "/y.supp"})) << "files are relative to the one that names them";
  EXPECT_EQ(used_.size(), 6u);
}

TEST_F(ConfigTest, TheCommandLineWins) {
  EXPECT_EQ(apply("fail-on = 'confirmed'\nsuppressions = ['x']\n[record]\nbudget = '5m'\n",
                  {"--fail-on", "predicted", "--suppressions", "mine"}),
            "");
  EXPECT_EQ(fail_on_, "predicted");
  EXPECT_EQ(suppressions_, (Words{"mine"}));
  EXPECT_EQ(budget_, "5m");
  EXPECT_EQ(used_, (Words{"budget"}));
}

TEST_F(ConfigTest, TheTableOfTheCommandWinsOverTheTop) {
  EXPECT_EQ(apply("budget = '1m'\n[record]\nbudget = '2m'\n"), "");
  EXPECT_EQ(budget_, "2m");
  EXPECT_EQ(used_, (Words{"budget"}));
}

TEST_F(ConfigTest, FalseLeavesAFlagAlone) {
  EXPECT_EQ(apply("stats = false\n"), "");
  EXPECT_FALSE(stats_);
  EXPECT_TRUE(used_.empty());
}

TEST_F(ConfigTest, ErrorsNameFileAndLine) {
  const struct {
    const char* text;
    const char* sentence;  // its beginning
  } cases[] = {
      {"\nfial-on = 'confirmed'",
       "sooth.toml:2: no command has an option `fial-on` that this file could set. Did you mean `fail-on`?"},
      {"[record]\nbugdet = 3",
       "sooth.toml:2: `sooth record` does not have an option `bugdet` that this file could set. Did you mean "
       "`budget`?"},
      {"[reocrd]\nbudget = 3", "sooth.toml:2: there is no table `reocrd`; there are: record. Did you mean `record`?"},
      {"[other]\nbudget = 3", "sooth.toml:2: there is no table `other`; there are: record"},
      {"output = 'x'", "sooth.toml:1: no command has an option `output` that this file could set."},
      {"fail-on = 'confrimed'",
       "sooth.toml:1: --fail-on: there is no value `confrimed`; there are: predicted, confirmed. Did you mean "
       "`confirmed`?"},
      {"\n\nwith = ['hb', 'wpc']", "sooth.toml:3: with: there is no analysis `wpc`; there are: hb, "},
      {"stats = 'yes'", "sooth.toml:1: stats: is true or false"},
      {"budget = true", "sooth.toml:1: budget: takes a value, not true or false"},
      {"budget = ['1m', '2m']", "sooth.toml:1: budget: takes one value"},
      {"budget = 2026-01-01", "sooth.toml:1: a value is a text in quotes, a number, true, false, or a list"},
      {"budget = '1m'\nbudget = '2m'", "sooth.toml:2: "},
      {"a = 1\nb = 'x", "sooth.toml:2: "},
      {"\x01", "sooth.toml:1: "},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(apply(each.text).substr(0, std::string(each.sentence).size()), each.sentence);
  }
}

TEST_F(ConfigTest, WhatIsNoConfigurationIsRefused) {
  std::string dots;
  for (int i = 0; i < 200'000; ++i) {
    dots += "a.";
  }
  const std::string sentence = "sooth.toml: more than 1000 dots outside of texts: that is no configuration";
  EXPECT_EQ(apply(dots + "a = 1"), sentence);
  EXPECT_EQ(apply("[" + dots + "a]"), sentence);
  EXPECT_EQ(apply("budget = 'it''s' # '\n" + dots + "a = 1"), sentence);
  EXPECT_EQ(apply("budget = \"\\\"\"\n" + dots + "a = 1"), sentence);
  EXPECT_EQ(apply("x = { y = \"\"\"x\"\"\"\", " + dots + "a = 1 }"), sentence);
  EXPECT_EQ(apply("budget = \"\"\"\n" + dots + "\"\"\""), "");
  EXPECT_EQ(apply("budget = '" + dots + "'"), "");
  EXPECT_EQ(read_config_file("/dev/zero").status().message(),
            "/dev/zero: larger than a megabyte: that is no configuration");
}

TEST_F(ConfigTest, IsFoundUpwards) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "sooth_config_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "a" / "b");
  std::ofstream(folder / "sooth.toml") << "budget = '3m'\n";
  std::filesystem::create_directories(folder / "a" / "sooth.toml");  // a directory is none
  std::filesystem::current_path(folder / "a" / "b");
  Words notes;
  EXPECT_EQ(find_config_file(notes), "../../sooth.toml");
  EXPECT_TRUE(read_config_file("../../sooth.toml").ok());
  std::ofstream("sooth.toml").close();
  EXPECT_EQ(find_config_file(notes), "sooth.toml");
  EXPECT_TRUE(read_config_file("sooth.toml").ok()) << "an empty file says nothing";
  EXPECT_EQ(notes, Words{});
  EXPECT_EQ(read_config_file("no-such.toml").status().message(), "cannot read no-such.toml: No such file or directory");
  EXPECT_FALSE(read_config_file(".").ok());
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sooth
