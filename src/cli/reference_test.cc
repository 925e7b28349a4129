#include <gtest/gtest.h>

#include <string>

#include "cli/command.h"
#include "cli/reference_model.h"
#include "cli/reference_print.h"

namespace sooth {

namespace {

class ReferenceTest : public ::testing::Test {
 protected:
  ReferenceTest() {
    root_.footer("Exit status: 0.");
    CLI::App* start = root_.add_subcommand("record", "Start a program");
    start->add_option("--mode", mode_, "How:\n  fast: at once\n  pct:D: by chance")->type_name("fast|pct:D|ANY");
    start->add_option("--shape", shape_, "Of *all*_things")
        ->check(CLI::IsMember({"round", "flat"}))
        ->capture_default_str();
    start->add_option("-n,--count", count_, "How many")->check(CLI::PositiveNumber)->type_name("N");
    start->add_option("--with", with_, "Analyses")->type_name(kAnalysesType);
    start->add_option("--secret", mode_, "Not for you")->group("");
    start->add_flag("--quiet", quiet_, "Say nothing. Really");
    start->footer("Usage: tool record [OPTIONS] -- PROGRAM. Starts it\nhere.\n\n  tool record -- a\\b\n  .x\n\nDone.");
    CLI::App* group = root_.add_subcommand("group", "Has commands");
    group->require_subcommand(1);
    CLI::App* leaf = group->add_subcommand("leaf", "Is below");
    leaf->add_option("in", mode_, "To read")->required();
    leaf->add_option("-o,--output", mode_, "To write")->type_name("DIR");
    CLI::App* many = group->add_subcommand("many", "Takes some");
    many->footer("Usage: tool group many IN... -o OUT | --to DIR ... [OPTIONS]. Puts them together.");
    root_.add_subcommand("hidden", "Is not there")->group("");
  }

  const ReferenceCommand& command(const std::string& path) {
    reference_ = read_reference(root_);
    for (const ReferenceCommand* each : all_commands(reference_)) {
      if (each->path == path) {
        return *each;
      }
    }
    ADD_FAILURE() << "no command " << path;
    return reference_;
  }

  CLI::App root_{"A tool.", "tool"};
  ReferenceCommand reference_;
  std::string mode_, shape_ = "flat", with_;
  int count_ = 0;
  bool quiet_ = false;
};

TEST_F(ReferenceTest, ReadsCommands) {
  command("tool");
  std::string paths;
  for (const ReferenceCommand* each : all_commands(reference_)) {
    paths += each->path + ",";
  }
  EXPECT_EQ(paths, "tool,tool record,tool group,tool group leaf,tool group many,");
  EXPECT_TRUE(command("tool record").starts_program);
  EXPECT_FALSE(command("tool group").starts_program);
  EXPECT_EQ(command("tool record").synopsis, "tool record [OPTIONS] -- PROGRAM");
  EXPECT_EQ(command("tool group").synopsis, "tool group [OPTIONS] COMMAND");
  EXPECT_EQ(command("tool group leaf").synopsis, "tool group leaf [OPTIONS] IN");
  EXPECT_EQ(command("tool group leaf").text, "") << "the footer of the root is not about it";
  EXPECT_EQ(command("tool group many").synopsis, "tool group many IN... -o OUT | --to DIR ... [OPTIONS]");
  EXPECT_EQ(command("tool group many").text, "Puts them together.");
}

TEST_F(ReferenceTest, ReadsValues) {
  const std::vector<ReferenceOption>& options = command("tool record").options;
  ASSERT_EQ(options.size(), 6u);  // with --help, without --secret
  EXPECT_EQ(options[0].kind, ValueKind::kNone);
  EXPECT_EQ(options[1].kind, ValueKind::kWords);
  EXPECT_EQ(options[1].words, (std::vector<std::string>{"fast", "pct:"}));
  EXPECT_EQ(options[2].value, "round|flat");
  EXPECT_EQ(options[2].words, (std::vector<std::string>{"round", "flat"}));
  EXPECT_EQ(options[2].preset, "flat");
  EXPECT_EQ(options[3].value, "N");
  EXPECT_EQ(options[3].kind, ValueKind::kText);
  EXPECT_EQ(options[3].names, (std::vector<std::string>{"-n", "--count"}));
  EXPECT_EQ(options[4].kind, ValueKind::kWordList);
  EXPECT_NE(std::find(options[4].words.begin(), options[4].words.end(), "wcp"), options[4].words.end());
  EXPECT_EQ(command("tool group leaf").options[1].kind, ValueKind::kDirectory);
  EXPECT_EQ(command("tool group leaf").positionals[0].names[0], "IN");
}

TEST_F(ReferenceTest, TextHasParagraphsAndBlocks) {
  const std::vector<TextBlock> blocks = text_blocks(command("tool record").text);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].lines, (std::vector<std::string>{"Starts it here."}));
  EXPECT_TRUE(blocks[1].verbatim);
  EXPECT_EQ(blocks[1].lines, (std::vector<std::string>{"tool record -- a\\b", ".x"}));
  EXPECT_EQ(brief("Say nothing. Really"), "Say nothing");
  EXPECT_EQ(brief("How:\n  fast: at once"), "How");
}

TEST_F(ReferenceTest, EscapesWhatFormatsWouldTakeForMarkup) {
  const std::string markdown = markdown_page(reference_ = read_reference(root_));
  EXPECT_NE(markdown.find("- `--shape round|flat` (default flat): Of \\*all\\*\\_things\n"), std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("- `--mode fast|pct:D|ANY`: How:\n  - fast: at once\n"), std::string::npos) << markdown;
  EXPECT_EQ(markdown.find("hidden"), std::string::npos);
  const std::string man = man_page(reference_, command("tool record"));
  EXPECT_NE(man.find("\ntool record \\-\\- a\\eb\n\\&.x\n"), std::string::npos) << man;
  EXPECT_NE(man.find("\\fB\\-n\\fR, \\fB\\-\\-count\\fR \\fIN\\fR\n"), std::string::npos) << man;
  EXPECT_NE(man.find(".BR tool (1)\n"), std::string::npos) << man;
}

}  // namespace
}  // namespace sooth
