#include "report/library_atomics.h"

#include <gtest/gtest.h>

namespace sooth {
namespace {

Site in(const std::string& function) {
  Site site;
  site.function = function;
  return site;
}

// An access of the library in `function`, called by the user.
Access through(const std::string& function) {
  Access access;
  access.site = in("std::swap<int*>(int*&, int*&)");
  access.stack = {in(function), in("std::atomic<std::shared_ptr<int> >::store(std::shared_ptr<int>)"), in("publish()")};
  access.frame = 3;
  return access;
}

const char kAtomic[] = "std::_Sp_atomic<std::shared_ptr<int> >::swap(std::shared_ptr<int>&, std::memory_order)";

Report report_of(Access first, Access second) {
  Report report;
  report.findings.emplace_back().accesses = {std::move(first), std::move(second)};
  return report;
}

TEST(LibraryAtomics, TwoOperationsDoNotRace) {
  Report report = report_of(through(kAtomic), through(kAtomic));
  drop_races_of_library_atomics(report);
  EXPECT_TRUE(report.findings.empty());
}

TEST(LibraryAtomics, OneAloneMay) {
  Report report = report_of(through(kAtomic), through("std::shared_ptr<int>::reset()"));
  drop_races_of_library_atomics(report);
  EXPECT_EQ(report.findings.size(), 1u);
}

TEST(LibraryAtomics, WhatTheUserDoesInsideIsTheUsers) {
  Access destructor = through(kAtomic);
  destructor.site = in("Config::~Config()");
  destructor.frame = 0;
  Report report = report_of(destructor, destructor);
  drop_races_of_library_atomics(report);
  EXPECT_EQ(report.findings.size(), 1u);
}

}  // namespace
}  // namespace sooth
