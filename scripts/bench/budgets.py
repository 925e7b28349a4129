#!/usr/bin/env python3
"""Whether `sooth run --budget T` ends in time, on programs that make it hard: prints the figures and fails when one does not.

    scripts/bench.py budgets [--budget SECONDS] [NAME...]

The time that counts is that of the whole command but for the recorded run itself, which has no budget. It may be 10 % more than the
budget; `quick`, a program without a race that is over in a few milliseconds, has 5 s with the default budget. Run it on an idle machine:
what others compute counts, too.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import tables

PROGRAMS = {
    # Each takes a lock, counts, and touches a little of a table.
    "threads": """
        #include <mutex>
        #include <thread>
        #include <vector>
        std::mutex mutex;
        long total, table[64], rare;
        void work(int i) {
          { std::lock_guard<std::mutex> guard(mutex); total += i; table[i % 64] += total; }
          if (i % 7 == 0) { std::lock_guard<std::mutex> guard(mutex); ++table[(i + 1) % 64]; }
          if (i == 1777) ++rare;
        }
        int main() {
          std::vector<std::thread> all;
          for (int i = 0; i < 2000; ++i) all.emplace_back(work, i);
          for (std::thread& thread : all) thread.join();
        }""",
    # 512 KB that are filled, copied and touched byte by byte: one variable for each byte, and few events.
    "buffer": """
        #include <cstring>
        #include <mutex>
        #include <thread>
        std::mutex mutex;
        char buffer[512 << 10], copy[512 << 10];
        int turns;
        void fill(char c) {
          for (int i = 0; i < 3; ++i) {
            std::lock_guard<std::mutex> guard(mutex);
            std::memset(buffer, c, sizeof buffer);
            for (int k = 0; k < 40; ++k) buffer[turns++ * 100 + k] = 1;
          }
        }
        void take() {
          for (int i = 0; i < 3; ++i) {
            std::lock_guard<std::mutex> guard(mutex);
            std::memcpy(copy, buffer, sizeof buffer);
            for (int k = 0; k < 40; ++k) copy[turns++ * 100 + k] = 2;
          }
        }
        int main() {
          std::thread a(fill, 'a'), b(take), c(fill, 'b'), d(take);
          a.join(), b.join(), c.join(), d.join();
        }""",
    # Blocks go through a queue to four threads that encode them byte by byte, by way of tables on the heap: millions of events.
    "compressor": """
        #include <condition_variable>
        #include <deque>
        #include <mutex>
        #include <thread>
        #include <vector>
        struct Block { std::vector<unsigned char> in, out; int number; };
        std::mutex mutex;
        std::condition_variable filled, emptied;
        std::deque<Block*> queue;
        bool done;
        long written, best;
        void encode(Block& block) {
          std::vector<int> last(256, -1), counts(256);
          for (unsigned i = 0; i < block.in.size(); ++i) {
            const unsigned char c = block.in[i];
            ++counts[c];
            if (last[c] >= 0 && i - last[c] < 16) block.out.push_back(static_cast<unsigned char>(i - last[c]));
            else block.out.push_back(c);
            last[c] = static_cast<int>(i);
          }
        }
        void work() {
          for (;;) {
            std::unique_lock<std::mutex> lock(mutex);
            filled.wait(lock, [] { return done || !queue.empty(); });
            if (queue.empty()) return;
            Block* block = queue.front();
            queue.pop_front();
            lock.unlock();
            emptied.notify_one();
            encode(*block);
            if (static_cast<long>(block->out.size()) > best) best = static_cast<long>(block->out.size());
            lock.lock();
            written += static_cast<long>(block->out.size());
            delete block;
          }
        }
        int main() {
          std::vector<std::thread> all;
          for (int i = 0; i < 4; ++i) all.emplace_back(work);
          unsigned state = 1;
          for (int n = 0; n < 40; ++n) {
            Block* block = new Block;
            block->number = n;
            for (int i = 0; i < 4096; ++i) block->in.push_back(static_cast<unsigned char>((state = state * 1103515245 + 12345) >> 28));
            std::unique_lock<std::mutex> lock(mutex);
            emptied.wait(lock, [] { return queue.size() < 8; });
            queue.push_back(block);
            lock.unlock();
            filled.notify_one();
          }
          { std::lock_guard<std::mutex> lock(mutex); done = true; }
          filled.notify_all();
          for (std::thread& thread : all) thread.join();
        }""",
    # Loops that threads share, with a reduction, an atomic and a critical section, and one race.
    "openmp": """
        #include <vector>
        int main() {
          std::vector<double> a(2000), b(2000);
          double sum = 0, largest = 0;
          long hits = 0, seen = 0;
          for (int round = 0; round < 40; ++round) {
        #pragma omp parallel for num_threads(4) reduction(+ : sum) schedule(dynamic, 16)
            for (int i = 0; i < 2000; ++i) {
              a[i] = i * 0.5 + b[(i + round) % 2000];
              sum += a[i];
              if (i % 50 == 0) {
        #pragma omp atomic
                ++hits;
        #pragma omp critical
                if (a[i] > largest) largest = a[i];
              }
              if (i % 500 == 0) seen = i;
            }
        #pragma omp parallel for num_threads(4)
            for (int i = 0; i < 2000; ++i) b[i] = a[i] * 0.5;
          }
          return sum + hits + seen < 0;
        }""",
    # Sixteen places, eight locks: thousands of pairs that only a search or the solver decides.
    "pairs": """
        #include <mutex>
        #include <thread>
        #include <vector>
        std::mutex mutex[8];
        int flag[8], data[64];
        #define S(k)                                                              \\
          {                                                                       \\
            std::lock_guard<std::mutex> guard(mutex[(k + i) % 8]);                \\
            if (flag[(k + i) % 8]++ % 3 == t % 3) data[(k * 7 + i) % 64] = flag[(k + i) % 8]; \\
          }
        void work(int t) {
          for (int i = 0; i < 60; ++i) {
            S(0) S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(9) S(10) S(11) S(12) S(13) S(14) S(15)
          }
        }
        int main() {
          std::vector<std::thread> all;
          for (int t = 0; t < 8; ++t) all.emplace_back(work, t);
          for (std::thread& thread : all) thread.join();
        }""",
    # A race, in a program each run of which takes longer than there is time.
    "slow": """
        #include <thread>
        int shared;
        void work() {
          volatile long spent = 0;
          for (long i = 0; i < 20'000'000; ++i) spent = spent + 1;
          ++shared;
        }
        int main() {
          std::thread a(work), b(work);
          a.join(), b.join();
        }""",
    # Without a race, and over in a few milliseconds: nobody waits for the budget.
    "quick": """
        #include <mutex>
        #include <thread>
        std::mutex mutex;
        long total;
        void work() {
          for (int i = 0; i < 2'000; ++i) {
            std::lock_guard<std::mutex> guard(mutex);
            total += i;
          }
        }
        int main() {
          std::thread a(work), b(work);
          a.join(), b.join();
        }""",
}
QUICK_SECONDS = 5  # with the default budget
DEFAULT_BUDGET = 60


def measure(table, sooth, name, budget, folder):
    source, program, report = (os.path.join(folder, name + ending) for ending in (".cc", "", ".json"))
    with open(source, "w") as file:
        file.write(PROGRAMS[name])
    subprocess.run([sooth, "c++", "-g", "-O1", *(["-fopenmp"] if "#pragma omp" in PROGRAMS[name] else []), source, "-o", program], check=True)
    start = time.monotonic()
    # GNU time's way to the peak of one child is not there everywhere: ask in a process of its own.
    budget = DEFAULT_BUDGET if name == "quick" else budget
    words = [sooth, "run", "--budget", f"{budget}s", "--format", "json", "-o", report, "--", program]
    code = f"import resource,subprocess,sys; r=subprocess.run({words!r}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode; " \
           "print(r, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10)"
    status, memory = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    seconds = time.monotonic() - start
    with open(report) as file:
        stages = json.load(file)["stats"].get("stages", {})
    stages = {stage["stage"]: stage["seconds"] for stage in stages} if isinstance(stages, list) else stages
    record = stages.get("record", 0.0)
    over = (seconds - record) / (QUICK_SECONDS if name == "quick" else budget)
    table.row(name, budget, f"{seconds - record:.1f}", f"{100 * over:.0f}%", f"{memory} MB",
              ", ".join(f"{stage} {float(spent):.1f}" for stage, spent in stages.items()), status)
    return over <= 1.1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sooth", required=True)
    parser.add_argument("--budget", type=int, default=10)
    parser.add_argument("names", nargs="*", default=[], metavar="NAME")
    options = parser.parse_args()
    table = tables.Printed("program", ">budget, s", ">took, s", ">of it", ">memory", "stages, in seconds", ">status")
    with tempfile.TemporaryDirectory() as folder:
        late = [name for name in options.names or PROGRAMS if not measure(table, os.path.abspath(options.sooth), name, options.budget, folder)]
    if late:
        sys.exit("too late: " + ", ".join(late))


if __name__ == "__main__":
    main()
