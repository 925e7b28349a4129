#include "report/consequence.h"

#include <gtest/gtest.h>

#include <string>

namespace sooth {
namespace {

Site user_site(std::uint32_t line, const std::string& function) {
  Site site;
  site.file = "/home/me/a.cc";
  site.line = line;
  site.function = function;
  return site;
}

Site library_site(const std::string& function) {
  Site site;
  site.file = "/usr/include/c++/12/bits/shared_ptr_base.h";
  site.line = 1075;
  site.function = function;
  return site;
}

Access own(Op op, std::uint32_t line, const std::string& function) {
  Access access;
  access.op = op;
  access.site = user_site(line, function);
  return access;
}

Access through(Op op, std::uint32_t line, const std::string& function, const std::string& library) {
  Access access;
  access.op = op;
  access.site = library_site(library);
  access.stack = {user_site(line, function)};
  access.frame = 1;
  return access;
}

Finding race(const std::string& id, Access first, Access second) {
  Finding finding;
  finding.id = id;
  finding.rung = Rung::kPredicted;
  finding.accesses = {std::move(first), std::move(second)};
  return finding;
}

Finding on_block(Finding finding, std::uint32_t allocated_at, bool by_library = true) {
  MemoryContext& memory = finding.context.memory.emplace();
  memory.kind = MemoryKind::kHeap;
  memory.allocated.emplace().site =
      by_library ? library_site("std::allocator::allocate") : user_site(allocated_at, "f");
  if (by_library) {
    memory.allocated->stack = {user_site(allocated_at, "main")};
    memory.allocated->frame = 1;
  }
  return finding;
}

const char* const kPointer = "std::__shared_ptr<Config>::__shared_ptr";

Finding on_variable(const std::string& name, Finding finding) {
  for (Access& access : finding.accesses) {
    access.variable = name;
  }
  return finding;
}

Finding pointer_race(const std::string& id = "pointer") {
  return on_variable("config",
                     race(id, through(Op::kRead, 9, "reader", kPointer), through(Op::kWrite, 13, "main", kPointer)));
}

std::string follows(Finding finding, std::vector<Finding> others = {pointer_race()}) {
  Report report;
  report.findings = std::move(others);
  report.findings.insert(report.findings.begin(), std::move(finding));
  find_consequences(report, {});
  return report.findings.front().follows;
}

TEST(ConsequenceTest, WhatASharedPointerOwnsIsChangedWithIt) {
  const std::string count = "std::_Sp_counted_base::_M_release";
  const Finding counted =
      on_block(race("x", through(Op::kAtomicRmw, 9, "reader", count), through(Op::kWrite, 13, "main", count)), 5);
  EXPECT_EQ(follows(counted), "pointer");
  // The user's own accesses to the object: it is allocated or freed where the pointer is set.
  const Finding read = race("x", own(Op::kRead, 10, "reader"), own(Op::kWrite, 4, "Config"));
  Finding made = on_block(read, 13);
  EXPECT_EQ(follows(made), "");  // the constructor has nothing to do with main() here
  made.accesses[1].stack = {library_site("std::make_shared"), user_site(13, "main")};
  EXPECT_EQ(follows(made), "pointer");
  EXPECT_EQ(follows(on_block(race("x", own(Op::kRead, 10, "reader"), through(Op::kFree, 13, "main", count)), 5)),
            "pointer");
}

TEST(ConsequenceTest, WhatARacedPointerOwnsIsDroppedAnywhere) {
  const std::string drop = "std::__shared_ptr<Config>::~__shared_ptr";
  // The end of a scope drops a copy, in a function that is none of the race's.
  Finding dropped =
      on_block(race("x", through(Op::kFree, 35, "lambda", drop), through(Op::kAtomicRmw, 9, "reader", kPointer)), 5);
  dropped.context.memory->name = "*other";
  EXPECT_EQ(follows(dropped), "");
  dropped.context.memory->name = "*config";
  EXPECT_EQ(follows(dropped), "pointer");
  // The library's own words in the arguments of a function are none of a smart pointer's.
  Finding used = on_block(race("x", own(Op::kRead, 36, "lambda"), own(Op::kWrite, 37, "other")), 5);
  used.context.memory->name = "config->size";
  used.accesses[0].stack = {library_site("std::function<std::unique_ptr<int> ()>::operator()")};
  EXPECT_EQ(follows(used), "") << "somebody changes the object";
  used.accesses[1].stack = {library_site("std::_Sp_counted_base<2>::_M_release")};
  EXPECT_EQ(follows(used), "pointer") << "its destructor";
  // What the object has allocated.
  Finding within = on_block(race("x", own(Op::kRead, 8, "reader"), through(Op::kFree, 3, "~Config", drop)), 5);
  within.context.memory->name = "element 0 of an array of int";
  EXPECT_EQ(follows(within), "pointer");
  within.accesses[0] = own(Op::kRead, 8, "elsewhere");
  EXPECT_EQ(follows(within), "");
}

TEST(ConsequenceTest, LettersInAString) {
  const Finding cause = on_variable(
      "log.line", race("line", through(Op::kRead, 16, "add", "std::string::append"), own(Op::kWrite, 18, "flush")));
  EXPECT_EQ(follows(on_variable("element of log.line", race("x", own(Op::kWrite, 18, "flush"),
                                                            through(Op::kWrite, 16, "add", "std::string::append"))),
                    {cause}),
            "line");
  EXPECT_EQ(follows(on_variable("element of log.line", race("x", own(Op::kWrite, 19, "flush"),
                                                            through(Op::kWrite, 16, "add", "std::string::append"))),
                    {cause}),
            "");
}

TEST(ConsequenceTest, ACauseStandsWhereTheWorstOfItWould) {
  Report report;
  Finding worst =
      on_block(race("worst", own(Op::kRead, 10, "reader"), through(Op::kFree, 13, "main", "std::_M_release")), 5);
  worst.rung = Rung::kHarmful;
  Finding middle = race("middle", own(Op::kRead, 70, "f"), own(Op::kWrite, 71, "g"));
  middle.rung = Rung::kConfirmed;
  report.findings = {worst, middle, pointer_race()};
  find_consequences(report, {});
  EXPECT_EQ(report.findings[0].id + report.findings[1].id + report.findings[2].id, "worstpointermiddle");
}

TEST(ConsequenceTest, WhatHasNothingToDoWithItDoesNotFollow) {
  const Finding read = race("x", own(Op::kRead, 10, "reader"), own(Op::kWrite, 14, "main"));
  EXPECT_EQ(follows(read), "");
  EXPECT_EQ(follows(on_block(read, 5)), "");          // made and freed elsewhere
  EXPECT_EQ(follows(on_block(read, 13, false)), "");  // the user's own new
  EXPECT_EQ(follows(on_block(race("x", own(Op::kRead, 20, "other"), own(Op::kWrite, 14, "main")), 13)), "");
}

TEST(ConsequenceTest, OfTwoCausesNeitherIsOne) {
  const std::string count = "std::_Sp_counted_base::_M_release";
  const Finding counted =
      on_block(race("x", through(Op::kAtomicRmw, 9, "reader", count), through(Op::kWrite, 13, "main", count)), 5);
  EXPECT_EQ(follows(counted, {pointer_race("a"), on_variable("other", pointer_race("b"))}), "");
  EXPECT_EQ(follows(counted, {pointer_race("a"), pointer_race("b")}), "a");  // at two places of one variable
  Finding unproven = pointer_race();
  unproven.rung = Rung::kSuspected;
  EXPECT_EQ(follows(counted, {unproven}), "");
}

TEST(ConsequenceTest, TheValueOfAMapInTheLineThatPutsItThere) {
  const Finding map =
      on_variable("values", race("map", through(Op::kRead, 17, "get", "std::map<std::string, int>::find"),
                                 through(Op::kWrite, 16, "set", "std::map<std::string, int>::operator[]")));
  const Finding value = race("x", own(Op::kRead, 17, "get"), own(Op::kWrite, 16, "set"));
  EXPECT_EQ(follows(on_block(value, 16), {map}), "map");
  EXPECT_EQ(follows(on_block(value, 40), {map}), "");  // in a block that was there before
}

TEST(ConsequenceTest, ElementsOfAVector) {
  const Finding vector =
      on_variable("orders", race("vector", through(Op::kWrite, 7, "add", "std::vector<int>::push_back"),
                                 through(Op::kWrite, 7, "add", "std::vector<int>::push_back")));
  const Finding element = on_block(race("x", through(Op::kWrite, 7, "add", "std::construct_at"),
                                        through(Op::kFree, 7, "add", "std::allocator<int>::deallocate")),
                                   7);
  EXPECT_EQ(follows(element, {vector}), "vector");
  // A use of an element by the user's own code may be another bug.
  EXPECT_EQ(follows(on_block(race("x", own(Op::kRead, 8, "add"), own(Op::kWrite, 7, "add")), 7), {vector}), "");
}

// Runs under control name globals only.
TEST(ConsequenceTest, UnnamedMemoryOfTheSameCalls) {
  const Finding explored = race("x", through(Op::kWrite, 9, "reader", "std::construct_at"),
                                through(Op::kWrite, 13, "main", "std::construct_at"));
  EXPECT_EQ(follows(explored), "pointer");
  EXPECT_EQ(follows(on_variable("other", explored)), "");
  EXPECT_EQ(follows(race("x", own(Op::kWrite, 9, "reader"), own(Op::kWrite, 13, "main"))), "");
  EXPECT_EQ(follows(explored, {pointer_race("a"), on_variable("other", pointer_race("b"))}), "");
  EXPECT_EQ(follows(explored, {race("own", own(Op::kWrite, 9, "reader"), own(Op::kWrite, 13, "main"))}), "");
}

TEST(ConsequenceTest, PlacesInTheLibraryWithoutCallers) {
  Access inside;
  inside.op = Op::kWrite;
  inside.site = library_site("");
  const Finding explored = on_variable("config", race("x", inside, through(Op::kWrite, 13, "main", "std::swap")));
  EXPECT_EQ(follows(explored), "pointer");
  EXPECT_EQ(follows(on_variable("other", explored)), "");
  Finding recorded = explored;  // a trace knows the callers of all
  recorded.accesses[0].event = EventId{7};
  EXPECT_EQ(follows(recorded), "");
}

TEST(ConsequenceTest, UnnamedMemoryThatASmartPointerFrees) {
  const Access freed = through(Op::kFree, 13, "main", "std::_Sp_counted_base::_M_release");
  EXPECT_EQ(follows(race("x", own(Op::kRead, 10, "reader"), freed)), "pointer");
  EXPECT_EQ(follows(race("x", own(Op::kRead, 10, "other"), freed)), "");
  EXPECT_EQ(follows(race("x", own(Op::kRead, 10, "reader"), through(Op::kFree, 14, "main", "std::x"))), "");
}

TEST(ConsequenceTest, UnnamedMemoryWhereOneCallerIsNotKnown) {
  Access nobodys;
  nobodys.op = Op::kRead;
  nobodys.site = library_site("std::_Hashtable::size");
  const Finding explored = race("x", nobodys, through(Op::kWrite, 13, "main", "std::_Hashtable::insert"));
  EXPECT_EQ(follows(explored), "pointer");
  EXPECT_EQ(follows(race("x", nobodys, through(Op::kWrite, 14, "main", "std::_Hashtable::insert"))), "");
  EXPECT_EQ(follows(race("x", nobodys, nobodys)), "");
}

// on_click(1) against on_click = [...]: what is called reads what the assignment changes.
TEST(ConsequenceTest, WhatAFunctionObjectCalls) {
  const Finding function =
      on_variable("on_click", race("call", through(Op::kRead, 9, "ui", "std::function<void (int)>::operator()"),
                                   through(Op::kWrite, 10, "setup", "std::function<void (int)>::operator=")));
  Access inside = own(Op::kRead, 8, "operator()");
  inside.stack = {library_site("std::function<void (int)>::operator()"), user_site(9, "ui")};
  const Access assignment = through(Op::kWrite, 10, "setup", "std::swap");
  EXPECT_EQ(follows(on_variable("on_click", race("x", inside, assignment)), {function}), "call");
  EXPECT_EQ(follows(on_variable("on_click", race("x", assignment, inside)), {function}), "call");
  EXPECT_EQ(follows(on_variable("clicks", race("x", inside, assignment)), {function}), "");
  const Access elsewhere = through(Op::kWrite, 20, "reset", "std::swap");
  EXPECT_EQ(follows(on_variable("on_click", race("x", inside, elsewhere)), {function}), "");
  inside.stack.pop_back();
  EXPECT_EQ(follows(on_variable("on_click", race("x", inside, assignment)), {function}), "");
}

// if (!config) { lock; if (!config) config = new Config; }
TEST(ConsequenceTest, WhatAPointerHandsOutIsMadeWhereItIsSet) {
  Finding pointer = race("pointer", own(Op::kRead, 5, "get"), own(Op::kWrite, 6, "get"));
  pointer.accesses[0].variable = pointer.accesses[1].variable = "config";
  Finding read = on_block(race("x", own(Op::kRead, 9, "use"), own(Op::kWrite, 2, "Config")), 6, false);
  read.context.memory->name = "config->size";
  EXPECT_EQ(follows(read, {pointer}), "");  // written by somebody else, for all one knows
  read.accesses[1].stack = {user_site(6, "get")};
  EXPECT_EQ(follows(read, {pointer}), "pointer");
  read.context.memory->name = "other->size";
  EXPECT_EQ(follows(read, {pointer}), "");
}

}  // namespace
}  // namespace sooth
