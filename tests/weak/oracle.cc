// Prints the outcomes that the axioms allow of each litmus test on standard input, one line for each: "0 0 / 1 1;0 1 / 1 1".
#include <iostream>
#include <string>

#include "oracle/weak_memory.h"

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto program = sooth::oracle::parse_litmus(line);
    if (!program) {
      std::cerr << "not a litmus test: " << line << "\n";
      return 1;
    }
    const char* separator = "";
    for (const std::string& outcome : sooth::oracle::weak_outcomes(*program, sooth::oracle::SequentialRule::kOrdered)) {
      std::cout << separator << outcome;
      separator = ";";
    }
    std::cout << "\n";
  }
}
