#include "launch/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "launch/emulator.h"
#include "launch/engine.h"

namespace sooth {
namespace {

using Words = std::vector<std::string>;

bool has(const Words& words, const std::string& word) { return std::count(words.begin(), words.end(), word) == 1; }

TEST(RecordingEnvironment, LoadsOursBeforeWhatTheUserLoads) {
  RecordingTarget target;
  target.directory = "/d";
  const auto environment = recording_environment({"A=1", "LD_PRELOAD=/x.so", "LD_PRELOAD_X=2"}, "/rt.so", target, {});
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(*environment, (Words{"A=1", "LD_PRELOAD_X=2", "LD_PRELOAD=/rt.so:/x.so", "SOOTH_RECORD=/d",
                                 "SOOTH_SCHEDULE=os", "SOOTH_SEED=1", "SOOTH_FILTER=repeat"}));
}

TEST(RecordingEnvironment, ReplacesWhatAnOuterRecordingSet) {
  const Words outer = {"SOOTH_RECORD=/outer", "SOOTH_EXCLUDE=*",   "SOOTH_MAX_TRACE=1",
                       "SOOTH_THIN_FROM=1",   "SOOTH_SCHEDULE=os", "SOOTH_OPTIONS=help=1"};
  RecordingTarget target;
  target.streams = 7;
  target.sites = 8;
  target.process = 9;
  target.chunk_limit = 16;
  RecordingOptions options;
  options.schedule = "pct:3";
  options.seed = 42;
  options.filter = "off";
  const auto live = recording_environment(outer, "/rt.so", target, options);
  ASSERT_TRUE(live.ok());
  EXPECT_EQ(*live, (Words{"SOOTH_OPTIONS=help=1", "LD_PRELOAD=/rt.so", "SOOTH_RECORD_FDS=7,8,9", "SOOTH_CHUNK_LIMIT=16",
                          "SOOTH_SCHEDULE=pct:3", "SOOTH_SEED=42", "SOOTH_FILTER=off", "GOMP_SPINCOUNT=0"}));
}

// Where threads run as they like, they wait as they like.
TEST(RecordingEnvironment, KeepsThreadsFromSpinningWhereOneRunsAtATime) {
  RecordingOptions options;
  const auto free_running = recording_environment({}, "/rt.so", {}, options);
  options.schedule = "serial";
  const auto serial = recording_environment({}, "/rt.so", {}, options);
  const auto asked = recording_environment({"GOMP_SPINCOUNT=7"}, "/rt.so", {}, options);
  const auto controlled = controlled_environment({}, "/rt.so", "/c", "/l");
  ASSERT_TRUE(free_running.ok() && serial.ok() && asked.ok() && controlled.ok());
  EXPECT_FALSE(has(*free_running, "GOMP_SPINCOUNT=0"));
  EXPECT_TRUE(has(*serial, "GOMP_SPINCOUNT=0"));
  EXPECT_TRUE(has(*asked, "GOMP_SPINCOUNT=7"));
  EXPECT_FALSE(has(*asked, "GOMP_SPINCOUNT=0"));
  EXPECT_TRUE(has(*controlled, "GOMP_SPINCOUNT=0"));
}

TEST(RecordingEnvironment, CarriesLimitsAndPatterns) {
  RecordingTarget target;
  target.directory = "/d";
  RecordingOptions options;
  options.thin_from = 16'777'216;
  options.max_bytes = 5'000'000'000;
  options.exclude = {"*/liba.so", "b*"};
  const auto environment = recording_environment({}, "/rt.so", target, options);
  ASSERT_TRUE(environment.ok());
  EXPECT_TRUE(has(*environment, "SOOTH_MAX_TRACE=5000000000"));
  EXPECT_TRUE(has(*environment, "SOOTH_THIN_FROM=16777216"));
  EXPECT_TRUE(has(*environment, "SOOTH_EXCLUDE=*/liba.so,b*"));
}

TEST(RecordingEnvironment, FiltersFreeRunsOnly) {
  RecordingOptions options;
  options.filter = "tree:hb";
  const auto environment = recording_environment({}, "/rt.so", {}, options);
  ASSERT_TRUE(environment.ok());
  EXPECT_TRUE(has(*environment, "SOOTH_FILTER=tree:hb"));
  options.schedule = "serial";
  EXPECT_EQ(recording_environment({}, "/rt.so", {}, options).status().message(),
            "a serial recording is exact, which it is with all its events only: tree:hb goes with --schedule os; "
            "`sooth analyze --filter tree:hb` filters it afterwards");
}

TEST(RecordingEnvironment, RefusesAPathThatLdPreloadWouldSplit) {
  EXPECT_FALSE(recording_environment({}, "/my dir/rt.so", {}, {}).ok());
  EXPECT_FALSE(recording_environment({}, "/a:b/rt.so", {}, {}).ok());
}

// The emulator is a program of this machine: our library for the other one must not be loaded into it.
TEST(RecordingEnvironment, LoadsTheLibraryBehindAnEmulator) {
  choose_emulator(Emulator{"/usr/bin/qemu-aarch64", "/usr/aarch64-linux-gnu"});
  RecordingOptions options;
  options.thin_from = 1;
  const auto environment = recording_environment({"LD_PRELOAD=/x.so"}, "/rt.so", {}, options);
  const bool refuses_comma = !recording_environment({}, "/a,b/rt.so", {}, {}).ok();
  const Words started = started_words({"/bin/cat", "a"});
  choose_emulator(std::nullopt);
  ASSERT_TRUE(environment.ok());
  EXPECT_TRUE(has(*environment, "QEMU_SET_ENV=LD_PRELOAD=/rt.so"));
  EXPECT_TRUE(has(*environment, "QEMU_LD_PREFIX=/usr/aarch64-linux-gnu"));
  for (const std::string& entry : *environment) {
    EXPECT_FALSE(entry.starts_with("LD_PRELOAD=") || entry.starts_with("SOOTH_THIN_FROM=")) << entry;
  }
  EXPECT_TRUE(refuses_comma);
  EXPECT_EQ(started, (Words{"/usr/bin/qemu-aarch64", "-0", "/bin/cat", "/bin/cat", "a"}));
}

}  // namespace
}  // namespace sooth
