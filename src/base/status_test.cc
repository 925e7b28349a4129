#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

namespace sooth {
namespace {

TEST(StatusTest, DefaultIsOk) {
  Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), ExitCode::kOk);
}

TEST(StatusTest, PrefixAddsTheFileToErrorsOnly) {
  EXPECT_EQ(Status::bad_input("line 3: what").prefixed("a.std").message(), "a.std: line 3: what");
  EXPECT_EQ(Status().prefixed("a.std").message(), "");
}

TEST(ResultTest, HoldsMoveOnlyValuesOrAnError) {
  Result<std::unique_ptr<int>> good = std::make_unique<int>(7);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(**good, 7);
  Result<std::unique_ptr<int>> bad = Status::usage("no");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), ExitCode::kUsage);
}

Status fails_through(bool fail) {
  SOOTH_RETURN_IF_ERROR(fail ? Status::internal("broken") : Status());
  return Status::usage("reached the end");
}

TEST(StatusTest, ReturnIfErrorStopsAtTheFirstError) {
  EXPECT_EQ(fails_through(true).message(), "broken");
  EXPECT_EQ(fails_through(false).message(), "reached the end");
}

}  // namespace
}  // namespace sooth
