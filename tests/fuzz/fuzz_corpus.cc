// Runs kept inputs, and mutations of them, through the parsers they are for. Any compiler builds it; a crash, a hang or a
// sanitizer's report is the failure, and the printed seed repeats it. libFuzzer, which looks at coverage, finds more:
// fuzz_parsers.cc.
//
//   fuzz_corpus CORPUS [--seconds N] [--seed S]    every file CORPUS/PARSER/*, then N seconds of mutations of each parser's
//   fuzz_corpus --pack trace|recording DIRECTORY > FILE    a trace in the form that its harness takes
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "parsers.h"

namespace {

namespace fs = std::filesystem;
using Random = std::mt19937_64;

const std::string* running = nullptr;  // what a crash is about

void keep_input(int signal) {
  if (running != nullptr) {
    const int fd = ::open("fuzz_corpus.crash", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    [[maybe_unused]] const ssize_t put = ::write(fd, running->data(), running->size());
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void run_one(const sooth::ParserHarness& harness, const std::string& input) {
  running = &input;
  harness.run(input);
  running = nullptr;
}

std::vector<std::string> inputs(const fs::path& folder) {
  std::vector<fs::path> paths;
  if (fs::is_directory(folder)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

std::string mutated(const std::vector<std::string>& texts, Random& random) {
  std::string text = texts[random() % texts.size()];
  for (std::size_t n = 1 + random() % 8; n > 0; --n) {
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 8) {
      case 0: text.resize(at); break;
      case 1: text.insert(at, 1 + random() % 9, static_cast<char>(random())); break;
      case 2: text.erase(at, 1 + random() % 40); break;
      case 3: {  // a piece of another one
        const std::string& other = texts[random() % texts.size()];
        text.insert(at, other, other.empty() ? 0 : random() % other.size(), random() % 80);
        break;
      }
      case 4: {  // a number where one may stand
        const std::uint64_t number = random() % 3 == 0 ? ~std::uint64_t{0} : random() >> random() % 64;
        const std::size_t size = std::min(text.size() - at, std::size_t{1} << random() % 4);
        std::memcpy(text.data() + at, &number, size);
        break;
      }
      case 5: text.insert(at, std::to_string(random() >> random() % 64)); break;
      default:
        if (!text.empty()) {
          text[at] = static_cast<char>(text[at] ^ 1 << random() % 8);
        }
    }
  }
  return text;
}

int run(const fs::path& corpus, std::uint64_t seconds, std::uint64_t seed) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
    ::signal(signal, keep_input);
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  int missing = 0;
  for (const sooth::ParserHarness& harness : sooth::parser_harnesses()) {
    const std::vector<std::string> texts = inputs(corpus / harness.name);
    for (const std::string& text : texts) {
      run_one(harness, text);
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::uint64_t done = 0;
    const auto goes_on = [&] { return seconds != 0 ? std::chrono::steady_clock::now() < end : done < 200; };
    for (; !texts.empty() && goes_on(); ++done) {
      Random random(seed * 0x9e3779b97f4a7c15u + done);
      run_one(harness, mutated(texts, random));
    }
    std::printf("%-13s %4zu inputs, %8llu mutations\n", harness.name, texts.size(),
                static_cast<unsigned long long>(done));
    std::fflush(stdout);
    missing += texts.empty() ? 1 : 0;  // a parser without a corpus is not tested
  }
  return missing == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--pack") == 0) {
    const std::string packed =
        std::strcmp(argv[2], "trace") == 0 ? sooth::blocks_of_trace(argv[3]) : sooth::pack_recording(argv[3]);
    std::fwrite(packed.data(), 1, packed.size(), stdout);
    return packed.empty() ? 1 : 0;
  }
  std::uint64_t seconds = 0, seed = 1;
  bool good = argc >= 2 && argc % 2 == 0;
  for (int i = 2; good && i < argc; i += 2) {
    std::uint64_t* number = std::strcmp(argv[i], "--seconds") == 0 ? &seconds
                            : std::strcmp(argv[i], "--seed") == 0  ? &seed
                                                                   : nullptr;
    good = number != nullptr;
    if (good) {
      *number = std::strtoull(argv[i + 1], nullptr, 10);
    }
  }
  if (!good) {
    std::fprintf(stderr,
                 "usage: fuzz_corpus CORPUS [--seconds N] [--seed S] | fuzz_corpus --pack trace|recording DIRECTORY\n");
    return 64;
  }
  return run(argv[1], seconds, seed);
}
