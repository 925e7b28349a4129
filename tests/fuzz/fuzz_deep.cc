// Feeds mutated code of a recording to what works with it: the cage, the reader of LLVM behind it, the walk through the
// threads and the whole of recipe. Checksums are right, so nothing else keeps the bytes away. Each case is a process of
// its own; one that is ended by a signal, prints something, or takes too much time or memory, is the failure.
//
//   fuzz_deep RECORDING [--iterations N | --seconds N] [--seed S] [--only CASE [--keep FILE]]
//
// Most cases change bytes. Every eighth changes words of the code as text, and is mostly code that LLVM accepts.
#include <fcntl.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/cage.h"
#include "deep/walk.h"
#include "pipeline/analysis.h"
#include "race/trace_store.h"
#include "trace/reader.h"
#include "trace/recording/deep_file.h"
#include "trace/recording/stream_format.h"

namespace sooth {
namespace {

using Random = std::mt19937_64;

struct Options {
  std::string recording;
  std::uint64_t iterations = 300;
  std::uint64_t seconds = 0;  // when not 0, counts instead of iterations
  std::uint64_t seed = 1;
  std::uint64_t only = ~std::uint64_t{0};
  std::string keep;
};

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "fuzz_deep: %s\n", why.c_str());
  std::exit(1);
}

// The modules of the recording, as bytes and as text.
struct Module {
  std::string bitcode;
  std::vector<std::uint64_t> addresses;
  std::string text;
};

std::string text_of(const std::string& bitcode) {
  llvm::LLVMContext context;
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "module"), context);
  if (!module) {
    die("the recording's own code cannot be read: " + llvm::toString(module.takeError()));
  }
  std::string text;
  llvm::raw_string_ostream(text) << **module;
  return text;
}

std::vector<Module> modules_of(const std::string& recording) {
  const Result<DeepFile> file = DeepFile::read(recording);
  if (!file.ok()) {
    die(file.status().message());
  }
  std::vector<Module> modules;
  for (const KeptModule& kept : file->modules()) {
    std::string bitcode(kept.bitcode);
    std::string text = bitcode.empty() ? "" : text_of(bitcode);
    modules.push_back({std::move(bitcode), kept.addresses, std::move(text)});
  }
  return modules;
}

// The file, with a seal that fits whatever the modules have become.
std::string file_of(const std::vector<Module>& modules) {
  std::string bytes(sizeof(stream::DeepSeal), '\0');
  for (std::size_t i = 0; i < modules.size(); ++i) {
    stream::DeepModule header{};
    header.magic = stream::kDeepModuleMagic;
    header.module = static_cast<decltype(header.module)>(i);
    header.addresses = static_cast<decltype(header.addresses)>(modules[i].addresses.size());
    header.bitcode_bytes = static_cast<decltype(header.bitcode_bytes)>(modules[i].bitcode.size());
    bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(modules[i].addresses.data()), 8 * modules[i].addresses.size());
    bytes += modules[i].bitcode;
  }
  return seal_deep_file(std::move(bytes));
}

void mutate_bytes(std::string& bytes, Random& random) {
  for (std::size_t n = 1 + random() % 8; n > 0 && !bytes.empty(); --n) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 8) {
      case 0: bytes.insert(at, 4 * (1 + random() % 4), static_cast<char>(random())); break;
      case 1: bytes.erase(at, 4 * (1 + random() % 8)); break;
      case 2: bytes.replace(at, 4, bytes.substr(random() % bytes.size(), 4)); break;
      case 3: bytes[at] = static_cast<char>(random()); break;
      default: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    }
  }
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

// A word becomes another one of the same text, or one that asks for trouble.
void mutate_words(std::string& text, Random& random) {
  static const char* const kTrouble[] = {"i1",
                                         "i7",
                                         "i64",
                                         "i65",
                                         "i128",
                                         "i4096",
                                         "i65536",
                                         "i65537",
                                         "i8388607",
                                         "float",
                                         "x86_fp80",
                                         "fp128",
                                         "ptr",
                                         "[1152921504606846976 x i8]",
                                         "[4294967296 x [4294967296 x i64]]",
                                         "[0 x i8]",
                                         "<65536 x i64>",
                                         "<3 x i7>",
                                         "{}",
                                         "<{ i8, i64 }>",
                                         "[1000000 x {}]",
                                         "0",
                                         "1",
                                         "-1",
                                         "63",
                                         "64",
                                         "65",
                                         "4294967295",
                                         "4294967296",
                                         "9223372036854775807",
                                         "18446744073709551615",
                                         "1152921504606846976",
                                         "undef",
                                         "poison",
                                         "null",
                                         "true",
                                         "zeroinitializer",
                                         "udiv",
                                         "srem",
                                         "shl",
                                         "ashr",
                                         "sdiv",
                                         "mul",
                                         "add",
                                         "sub",
                                         "fdiv",
                                         "volatile",
                                         "seq_cst",
                                         "fptosi",
                                         "bitcast",
                                         "inttoptr",
                                         "ptrtoint",
                                         "trunc",
                                         "zext",
                                         "sext",
                                         "unreachable",
                                         "internal",
                                         "<vscale x 4 x i32>",
                                         "addrspace(270)",
                                         "addrspace(1)",
                                         "<4 x ptr>",
                                         "thread_local",
                                         "linkonce_odr",
                                         "asm \"nop\", \"\""};
  const std::size_t code = std::min(text.find("\ndefine "), text.size() - 1);
  const auto word_at = [&](std::size_t at) {
    while (at < text.size() && !is_word(text[at])) {
      ++at;
    }
    std::size_t begin = at;
    while (begin > 0 && is_word(text[begin - 1])) {
      --begin;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) {
      ++end;
    }
    return std::pair(begin, end - begin);
  };
  for (std::size_t n = 1 + random() % 4; n > 0; --n) {
    // Mostly in the functions, sometimes in the types, globals and metadata.
    const std::size_t from = random() % 4 == 0 ? 0 : code;
    const auto [begin, size] = word_at(from + random() % (text.size() - from));
    if (begin + size > text.size()) {
      continue;
    }
    if (random() % 3 == 0) {
      const auto [other, length] = word_at(code + random() % (text.size() - code));
      text.replace(begin, size, text.substr(other, length));
    } else {
      text.replace(begin, size, kTrouble[random() % std::size(kTrouble)]);
    }
  }
}

// Bitcode of the text, or nothing. In a cage, because LLVM's reader of text may crash as well.
std::string assembled(const std::string& text) {
  CageLimits limits;
  limits.answer = std::uint64_t{64} << 20;
  const Result<std::string> bitcode = run_caged(limits, [&]() -> std::string {
    llvm::LLVMContext context;
    llvm::SMDiagnostic diagnostic;
    const std::unique_ptr<llvm::Module> module =
        llvm::parseAssembly(llvm::MemoryBufferRef(text, "module"), diagnostic, context);
    if (module == nullptr || llvm::verifyModule(*module)) {
      return "";
    }
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);
    llvm::WriteBitcodeToFile(*module, stream);
    stream.flush();
    return bytes;
  });
  return bitcode.ok() ? *bitcode : "";
}

std::string mutated(std::vector<Module> modules, std::uint64_t number, Random& random) {
  Module& chosen = modules[random() % modules.size()];
  bool done = false;
  for (int tries = 0; number % 8 == 1 && !chosen.text.empty() && !done && tries < 8; ++tries) {
    std::string text = chosen.text;  // most become nonsense
    mutate_words(text, random);
    std::string bitcode = assembled(text);
    done = !bitcode.empty();
    chosen.bitcode = done ? std::move(bitcode) : chosen.bitcode;
  }
  if (!done) {
    mutate_bytes(chosen.bitcode, random);
  }
  if (random() % 8 == 0 && !chosen.addresses.empty()) {
    chosen.addresses[random() % chosen.addresses.size()] = random() >> random() % 64;
  }
  return file_of(modules);
}

// Of the recording, in memory where there is such a place; its file `deep` is written again and again.
class Copy {
 public:
  explicit Copy(const std::string& recording)
      : path_((::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + std::string("/sooth_fuzz_deep_XXXXXX")) {
    if (::mkdtemp(path_.data()) == nullptr) {
      die("cannot make a temporary directory");
    }
    std::filesystem::copy(recording, path_);
  }
  ~Copy() {
    std::filesystem::remove_all(path_);
    std::filesystem::remove(path_ + ".errors");
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

enum Outcome : std::uint8_t { kRefused = 0, kAnalysed = 1, kAnalysisRefused = 2, kFirstFailure = 3 };

// What `sooth trace check` and `sooth analyze --with recipe` do.
Outcome work_with(const std::string& recording, const TraceStore& trace, const std::string& bytes) {
  std::ofstream(recording + "/deep", std::ios::binary | std::ios::trunc) << bytes;
  const Result<DeepProgram> program = DeepProgram::load(recording);
  if (!program.ok()) {
    return program.status().code() == ExitCode::kBadInput ? kRefused : kFirstFailure;
  }
  const TraceView view = trace.view();
  (void)walk_threads(*program, view.events, view.values, view.deep);
  AnalysisOptions analysis;
  analysis.detectors = *parse_detectors("recipe");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  analysis.recipe.solver_timeout = std::chrono::milliseconds(100);
  analysis.recipe.out_of_time = [end] { return std::chrono::steady_clock::now() > end; };
  analysis.deep_program = [&] { return DeepProgram::load(recording); };
  const auto reader = open_trace(recording, {columns_for(analysis.detectors)});
  if (!reader.ok()) {
    return kFirstFailure;
  }
  return analyze_trace(**reader, analysis).ok() ? kAnalysed : kAnalysisRefused;
}

void limit(decltype(RLIMIT_CPU) what, std::uint64_t most) {
  const rlimit limits{most, most};
  ::setrlimit(what, &limits);
}

struct Tally {
  std::uint64_t outcomes[kFirstFailure] = {};
  std::map<std::string, std::vector<std::uint64_t>> failures;  // what, cases
};

void run_case(const Options& options, const std::string& copy, const TraceStore& trace,
              const std::vector<Module>& modules, std::uint64_t number, Tally& tally) {
  const pid_t child = ::fork();
  if (child == 0) {
    Random random(options.seed * 0x9e3779b97f4a7c15u + number);
    const std::string bytes = mutated(modules, number, random);
    if (!options.keep.empty()) {
      std::ofstream(options.keep, std::ios::binary) << bytes;
    }
    const int errors = ::open((copy + ".errors").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(errors, STDERR_FILENO);
    limit(RLIMIT_CPU, 60);
    ::alarm(600);
    limit(RLIMIT_CORE, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    limit(RLIMIT_AS, std::uint64_t{6} << 30);
#endif
    ::_exit(work_with(copy, trace, bytes));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool silent = std::filesystem::file_size(copy + ".errors") == 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) < kFirstFailure && silent) {
    ++tally.outcomes[WEXITSTATUS(status)];
    return;
  }
  const std::string what = !silent               ? "something was printed"
                           : WIFSIGNALED(status) ? std::string("SIG") + ::sigabbrev_np(WTERMSIG(status))
                                                 : "status " + std::to_string(WEXITSTATUS(status));
  tally.failures[what].push_back(number);
  std::printf("case %llu: %s\n", static_cast<unsigned long long>(number), what.c_str());
  std::fflush(stdout);
}

int run(const Options& options) {
  const auto reader = open_trace(options.recording, {kAllColumns | kDeep});
  if (!reader.ok()) {
    die(reader.status().message());
  }
  const Result<TraceStore> trace = load_trace(**reader, 10'000'000, kWholeTrace);
  if (!trace.ok()) {
    die(trace.status().message());
  }
  const std::vector<Module> modules = modules_of(options.recording);
  const Copy copy(options.recording);
  // In a process of its own as well: the solver's threads would be missing after a fork.
  const pid_t first = ::fork();
  if (first == 0) {
    ::_exit(work_with(copy.path(), *trace, file_of(modules)));
  }
  int status = 0;
  ::waitpid(first, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kAnalysed) {
    die("the recording itself is not analysed");
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  Tally tally;
  std::uint64_t done = 0;
  if (options.only != ~std::uint64_t{0}) {
    run_case(options, copy.path(), *trace, modules, options.only, tally);
    done = 1;
  } else {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
    for (; options.seconds != 0 ? std::chrono::steady_clock::now() < end : done < options.iterations; ++done) {
      run_case(options, copy.path(), *trace, modules, done, tally);
      if (done % 500 == 499) {
        std::printf("%llu cases\n", static_cast<unsigned long long>(done + 1));
        std::fflush(stdout);
      }
    }
  }
  std::uint64_t failed = 0;
  for (const auto& [what, cases] : tally.failures) {
    failed += cases.size();
  }
  std::printf("%llu mutated files: %llu refused, %llu analysed, %llu whose analysis refused them, %llu failures\n",
              static_cast<unsigned long long>(done), static_cast<unsigned long long>(tally.outcomes[kRefused]),
              static_cast<unsigned long long>(tally.outcomes[kAnalysed]),
              static_cast<unsigned long long>(tally.outcomes[kAnalysisRefused]),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}

Options parse(int argc, char** argv) {
  Options options;
  bool good = argc >= 2;
  for (int i = 2; good && i < argc; i += 2) {
    const std::string name = argv[i];
    std::uint64_t* number = name == "--iterations" ? &options.iterations
                            : name == "--seconds"  ? &options.seconds
                            : name == "--seed"     ? &options.seed
                            : name == "--only"     ? &options.only
                                                   : nullptr;
    good = i + 1 < argc && (number != nullptr || name == "--keep");
    if (good && number != nullptr) {
      *number = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (good) {
      options.keep = argv[i + 1];
    }
  }
  if (!good) {
    std::fprintf(stderr,
                 "usage: fuzz_deep RECORDING [--iterations N | --seconds N] [--seed S] [--only N [--keep FILE]]\n");
    std::exit(64);
  }
  options.recording = argv[1];
  return options;
}

}  // namespace
}  // namespace sooth

int main(int argc, char** argv) { return sooth::run(sooth::parse(argc, argv)); }
