// Feeds mutated traces of both formats to the readers and the validator until a count or a time is over. Any compiler
// builds it; a crash, a hang or a sanitizer's report is the failure, and the printed seed repeats it.
//
//   fuzz_trace [--iterations N | --seconds N] [--seed S]
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "trace/check/validator.h"
#include "trace/format/block_file.h"
#include "trace/reader.h"
#include "trace/text/std_text.h"
#include "trace/tools/generate.h"
#include "trace/writer.h"

namespace sooth {
namespace {

using Random = std::mt19937_64;

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "fuzz_trace: %s\n", why.c_str());
  std::exit(1);
}

void must(const Status& status) {
  if (!status.ok()) {
    die(status.message());
  }
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

// Reads everything. Returns the error's sentence, or "" when the bytes are a trace.
std::string drain(TraceReader& reader) {
  TraceValidator validator;
  for (;;) {
    const Result<Batch> batch = reader.next();
    Status status = batch.ok() ? validator.consume(*batch, reader.tables()) : batch.status();
    if (!status.ok()) {
      if (status.code() != ExitCode::kBadInput || status.message().empty()) {
        die("bad bytes must be bad input with a sentence, not: " + status.message());
      }
      return status.message();
    }
    if (batch->empty()) {
      return "";
    }
  }
}

struct Block {
  format::BlockHeader header;
  Bytes payload;
};

// What is mutated: a trace directory, as blocks and as bytes, and the same trace as text.
struct Corpus {
  std::string directory;
  std::string events;
  std::string stage;
  std::vector<Block> blocks;
  std::string text;
};

Corpus make_corpus(const std::string& folder, std::uint64_t seed) {
  Corpus corpus;
  GenerateOptions options;
  options.events = 300;
  options.threads = 4;
  options.locks = 3;
  options.variables = 10;
  options.sites = 20;
  options.seed = seed;
  corpus.directory = folder + "/t";
  auto directory = create_trace(corpus.directory, TraceFormat::kDirectory, {});
  auto text = create_trace(folder + "/t.std", TraceFormat::kStd, {});
  must(directory.ok() ? Status() : directory.status());
  must(text.ok() ? Status() : text.status());
  must(generate_trace(options, **directory));
  must((*directory)->finish());
  must(generate_trace(options, **text));
  must((*text)->finish());
  corpus.events = read_file(corpus.directory + "/events");
  corpus.stage = read_file(corpus.directory + "/version");
  corpus.text = read_file(folder + "/t.std");
  // Words that the generator does not use.
  corpus.text +=
      "T0|branch|1|=1\nT0|r(0x10:4)|2|=0x7:4\nT0|callbegin(c)|3|=0x1:2,0x3:4\nT0|callend(c)|3\n"
      "# sooth: name lock 0x7f queue mutex\nT0|racq(queue mutex)|4\nT0|rrel(queue mutex)|4\n"
      "T0|alloc(0x1000:64)|5\nT0|armw.acq_rel(f)|6\nT0|fence.seq_cst()|7\nT0|post(q)|8\nT0|sem_wait(q)|8\n";
  auto blocks = BlockReader::open(corpus.directory + "/events", false);
  must(blocks.ok() ? Status() : blocks.status());
  for (;;) {
    auto header = (*blocks)->next();
    must(header.ok() ? Status() : header.status());
    if (!header->has_value()) {
      return corpus;
    }
    corpus.blocks.push_back({**header, {}});
    must((*blocks)->payload(corpus.blocks.back().payload));
  }
}

template <typename Container>
void mutate(Container& bytes, Random& random) {
  using Byte = typename Container::value_type;
  for (std::size_t n = 1 + random() % 6; n > 0; --n) {
    const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 6) {
      case 0: bytes.insert(place, 1 + random() % 9, static_cast<Byte>(random())); break;
      case 1: bytes.erase(place, place + static_cast<std::ptrdiff_t>(random() % (bytes.size() - at + 1) % 40)); break;
      case 2: bytes.resize(at); break;
      case 3: {  // a piece of it again, elsewhere
        const Container piece(place, place + static_cast<std::ptrdiff_t>(random() % (bytes.size() - at + 1) % 60));
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1)), piece.begin(),
                     piece.end());
        break;
      }
      default:
        if (!bytes.empty()) {
          bytes[at] = static_cast<Byte>(random() % 4 == 0 ? 0xff : random() >> random() % 64);
        }
    }
  }
}

// Bytes of a directory: checksums must catch it, so what is accepted must be the original.
bool fuzz_bytes(const Corpus& corpus, Random& random) {
  const bool stage = random() % 8 == 0;
  std::string bytes = stage ? corpus.stage : corpus.events;
  mutate(bytes, random);
  write_file(corpus.directory + (stage ? "/version" : "/events"), bytes);
  auto reader = open_trace(corpus.directory, {kAllColumns});
  const bool accepted = reader.ok() && drain(**reader).empty();
  if (accepted && bytes != (stage ? corpus.stage : corpus.events)) {
    die("a damaged trace directory was read as a trace");
  }
  write_file(corpus.directory + "/version", corpus.stage);
  return accepted;
}

// Payloads behind right checksums: the decoders are on their own.
bool fuzz_payloads(const Corpus& corpus, Random& random) {
  const std::string path = corpus.directory + "/events";
  std::filesystem::remove(path);
  auto writer = BlockWriter::create(path);
  must(writer.ok() ? Status() : writer.status());
  const std::size_t chosen = random() % corpus.blocks.size();
  for (std::size_t i = 0; i < corpus.blocks.size(); ++i) {
    auto [header, payload] = corpus.blocks[i];
    if (i == chosen) {
      mutate(payload, random);
      header.count = random() % 4 == 0 ? static_cast<std::uint32_t>(random() >> random() % 64) : header.count;
      header.kind = random() % 8 == 0 ? static_cast<std::uint8_t>(random() % 9) : header.kind;
    }
    must((*writer)->write(format::BlockKind(header.kind), header.first, header.count, payload));
  }
  must((*writer)->close());
  auto reader = open_trace(corpus.directory, {kAllColumns});
  return reader.ok() && drain(**reader).empty();
}

bool fuzz_text(const Corpus& corpus, Random& random) {
  std::string text = corpus.text;
  if (random() % 2 == 0) {  // short ones are mutated more densely
    text = text.substr(text.size() - std::min<std::size_t>(text.size(), 1 + random() % 400));
  }
  mutate(text, random);
  auto reader = read_std_text(text, "fuzz.std", {kAllColumns});
  return reader.ok() && drain(**reader).empty();
}

struct Options {
  std::uint64_t iterations = 20'000;
  std::uint64_t seconds = 0;  // when not 0, counts instead of iterations
  std::uint64_t seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    std::uint64_t* number = std::strcmp(argv[i], "--iterations") == 0 ? &options.iterations
                            : std::strcmp(argv[i], "--seconds") == 0  ? &options.seconds
                            : std::strcmp(argv[i], "--seed") == 0     ? &options.seed
                                                                      : nullptr;
    if (number == nullptr || i + 1 == argc) {
      std::fprintf(stderr, "usage: fuzz_trace [--iterations N | --seconds N] [--seed S]\n");
      std::exit(64);
    }
    *number = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return options;
}

int run(const Options& options) {
  std::string folder = std::filesystem::temp_directory_path() / "sooth_fuzz_XXXXXX";
  if (::access("/dev/shm", W_OK) == 0) {
    folder = "/dev/shm/sooth_fuzz_XXXXXX";
  }
  if (::mkdtemp(folder.data()) == nullptr) {
    die("cannot make a temporary directory");
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  const Corpus corpus = make_corpus(folder, options.seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  constexpr bool (*kTargets[])(const Corpus&, Random&) = {fuzz_bytes, fuzz_payloads, fuzz_text};
  std::uint64_t done = 0;
  std::uint64_t accepted = 0;
  for (; options.seconds != 0 ? std::chrono::steady_clock::now() < end : done < options.iterations; ++done) {
    Random random(options.seed * 0x9e3779b97f4a7c15u + done);
    accepted += kTargets[done % 3](corpus, random) ? 1 : 0;
  }
  std::filesystem::remove_all(folder);
  std::printf("%llu mutated traces, %llu of them still traces\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(accepted));
  return 0;
}

}  // namespace
}  // namespace sooth

int main(int argc, char** argv) { return sooth::run(sooth::parse(argc, argv)); }
