// What a program has started and left behind, also in process groups and sessions of its own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace sooth {

// From now on processes whose parents end become children of this one, which then must end them. Linux only; where the
// kernel refuses, end_descendants() finds fewer.
void adopt_orphans();

// Calls `start`, which makes a child of this process and returns its number, or one that is not positive. Whoever is
// started so is not taken for an orphan until it is forgotten, which is to be when it has been waited for.
pid_t start_known_child(const std::function<pid_t()>& start);
void forget_known_child(pid_t child);

// Kills all that descends from `root`, a child that nobody has waited for yet, but not the child itself; then those of
// the orphans that this process has adopted that have `mark` in the environment they were started with: one line of it,
// as NAME=VALUE, that no other run has; empty: none. Waits for the orphans, so that they do not stay as zombies. Safe to call from
// several threads.
void end_descendants(pid_t root, const std::string& mark);

}  // namespace sooth
