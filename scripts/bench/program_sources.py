"""Real programs of the distribution: where their sources come from, how they are built, and what they are run with.

Sources come from the distribution's own archive, over a private configuration of apt that is derived from the
machine's: that one is left as it is. For programs.py, real.py, record.py, beside.py and rdit.py.
"""
import collections
import glob
import itertools
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tarfile

TIME_LIMIT = 300  # seconds for one command


class Failure(Exception):
    """A sentence on what went wrong."""


class NoSources(Failure):
    """The archive does not have them, or cannot be reached."""


def run(command, cwd=None, output=None):
    """Runs a command that must succeed; its standard output, or nothing when that goes to a file."""
    with open(output or os.devnull, "wb") as sink:
        done = subprocess.run([str(word) for word in command], cwd=cwd, stdin=subprocess.DEVNULL, timeout=TIME_LIMIT,
                              stdout=sink if output else subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise Failure(f"`{shlex.join(map(str, command))}` ended with {done.returncode}: "
                      f"{done.stderr.decode(errors='replace').strip()[-2000:]}")
    return done.stdout.decode() if done.stdout else ""


class Archive:
    """The distribution's source archive. What was fetched once stays under `work`."""

    def __init__(self, work):
        self.work = work
        self.ready = False
        self.options = ["-q", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={work}/apt/sources",
                        "-o", f"Dir::State::lists={work}/apt/lists", "-o", f"Dir::Cache={work}/apt/cache",
                        "-o", "Acquire::http::Timeout=20", "-o", "APT::Sandbox::User="]

    def _prepare(self):
        for folder in ("sources", "lists/partial", "cache/archives/partial"):
            (self.work / "apt" / folder).mkdir(parents=True, exist_ok=True)
        targets = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)",
                       "Created-By: Packages"])
        lines = sorted({"deb-src " + line.rsplit(" ", 1)[0] for line in targets.splitlines()
                        if line.endswith((" Debian", " Ubuntu"))})
        if not lines:
            raise Failure("apt knows no archive of the distribution; run apt-get update")
        (self.work / "apt/sources/archive.list").write_text("\n".join(lines) + "\n")
        run(["apt-get", *self.options, "update"])
        self.ready = True

    def _download(self, package, target):
        if not self.ready:
            self._prepare()
        target.mkdir(parents=True, exist_ok=True)
        run(["apt-get", *self.options, "source", "--download-only", "--tar-only", package], cwd=target)
        for name in glob.glob(f"{target}/*.orig.tar.*[!c]"):
            with tarfile.open(name) as tar:
                tar.extractall(target / "tree")
        (target / "complete").touch()

    def fetch(self, package):
        """The folder with the upstream sources of a package; the network is asked once."""
        target = self.work / "sources" / package
        if not (target / "complete").exists():
            try:
                self._download(package, target)
            except (Failure, OSError, subprocess.TimeoutExpired, tarfile.TarError) as failure:
                raise NoSources(str(failure).rpartition(" ended with ")[2].splitlines()[0]) from failure
        inside = list((target / "tree").iterdir())
        return inside[0] if len(inside) == 1 else target / "tree"  # most archives hold one folder


# `sources`: patterns of files by package; `!` stands before those of files that are left out. In `arguments` DATA is a text of `size` bytes and OUT the result; without OUT that is
# standard output. `headers`: files that the program's own build would have made. `serial_size`: also recorded serially, on less.
Program = collections.namedtuple("Program", "name sources flags arguments size headers serial_size",
                                 defaults=[{}, None])

# All that lbzip2's configure finds out and its sources ask for, on GNU/Linux.
LBZIP2_CONFIG = """\
#define _GNU_SOURCE 1
#define PACKAGE_NAME "lbzip2"
#define PACKAGE_VERSION "2.5"
#define _GL_INLINE_HEADER_BEGIN
#define _GL_INLINE_HEADER_END
#define _GL_INLINE static inline
#define _GL_EXTERN_INLINE extern inline
#define _GL_ATTRIBUTE_CONST
#define _GL_ATTRIBUTE_PURE
#define _GL_UNUSED
#define HAVE_UTIMENSAT 1
#define HAVE_FUTIMENS 1
#define HAVE_STRUCT_STAT_ST_ATIM_TV_NSEC 1
#define TYPEOF_STRUCT_STAT_ST_ATIM_IS_STRUCT_TIMESPEC 1
"""

PROGRAMS = [
    # C++ with pthread mutexes and condition variables: a queue of blocks between a reader, four workers and a writer.
    Program("pbzip2",
            {"bzip2": ["blocksort.c", "huffman.c", "crctable.c", "randtable.c", "compress.c", "decompress.c",
                       "bzlib.c"],
             "pbzip2": ["*.cpp"]},
            ["-D_LARGEFILE64_SOURCE", "-D_FILE_OFFSET_BITS=64", "-DUSE_STACKSIZE_CUSTOMIZATION", "-Wno-reserved-user-defined-literal"],
            ["-p4", "-b1", "-1", "-k", "-c", "DATA"], 400_000, serial_size=40_000),
    # C: a pool of threads with jobs, and pools of buffers.
    Program("zstd",
            {"libzstd": ["lib/common/*.c", "lib/compress/*.c", "lib/decompress/*.c", "programs/zstdcli.c",
                         "programs/util.c", "programs/timefn.c", "programs/fileio*.c"]},
            ["-DZSTD_MULTITHREAD", "-DXXH_NAMESPACE=ZSTD_", "-DZSTD_NOBENCH", "-DZSTD_NODICT", "-DZSTD_NOTRACE",
             "-DZSTD_DISABLE_ASM=1", "-DZSTD_LEGACY_SUPPORT=0"],
            ["-T4", "-1", "--block-size=524288", "-q", "-c", "DATA"], 2_000_000),
    # C: a scheduler of tasks with priorities, signals to itself.
    Program("lbzip2",
            {"lbzip2": ["src/*.c", "lib/xmalloc.c", "lib/timespec*.c", "lib/dtotimespec.c", "lib/gettime.c",
                        "lib/utimens.c", "lib/stat-time.c"]},
            ["-DHAVE_CONFIG_H", "-Wno-implicit-function-declaration", "-I", "lbzip2:lib"], ["-n4", "-1", "-k", "-c", "DATA"], 400_000,
            headers={"config.h": LBZIP2_CONFIG}),
    # C++: jobs behind counting semaphores made of a mutex and a condition variable.
    Program("zpaq", {"zpaq": ["*.cpp"]}, ["-Dunix", "-DNOJIT"],
            ["add", "OUT", "DATA", "-m1", "-t4", "-until", "2020-01-01", "-noattributes"], 500_000),
    # C++11: a lock-free queue between two std::threads, by its own test.
    Program("readerwriterqueue",
            {"readerwriterqueue": ["tests/unittests/unittests.cpp", "tests/common/simplethread.cpp"]},
            [], ["--disable-prompt", "--run", "threaded"], 0),
    # C++ with pthreads; the pair of packages of which some mirrors have no sources.
    Program("plzip", {"lzlib": ["lzlib.c"], "plzip": ["*.cc"]},
            ['-DPROGVERSION="real"'], ["-n4", "-1", "-B64KiB", "-c", "DATA"], 300_000),
]


def fetch_all(program, archive):
    """The folders of the program's packages, by name. Raises NoSources."""
    return {package: archive.fetch(package) for package in program.sources}


def fetch_those_there_are(names, archive):
    """(program, its folders) of those of PROGRAMS that are named. What cannot be had is left out with a line that says so."""
    for program in PROGRAMS:
        if program.name not in names:
            continue
        try:
            yield program, fetch_all(program, archive)
        except NoSources as reason:
            print(f"{program.name}: left out, its sources cannot be had: {reason}", file=sys.stderr)


def files_of(folder, patterns):
    """In the order of the patterns."""
    without = [pattern.removeprefix("!") for pattern in patterns if pattern.startswith("!")]
    for pattern in patterns:
        if not pattern.startswith("!"):
            yield from (source for source in sorted(folder.glob(pattern)) if not any(source.match(each) for each in without))


def compile_program(program, folders, compilers, target):
    """Compiles C with the first compiler, C++ with the second, and links with the second."""
    target.mkdir(parents=True, exist_ok=True)
    for name, text in program.headers.items():
        (target / name).write_text(text)
    binary = target / program.name
    includes = list(itertools.chain.from_iterable(("-I", folder) for folder in [target, *folders.values()]))
    flags = []
    for flag in program.flags:
        package, colon, folder = flag.partition(":")
        flags.append(folders[package] / folder if colon and package in folders else flag)
    objects = []
    for package, patterns in program.sources.items():
        for source in files_of(folders[package], patterns):
            compiler = compilers[0] if source.suffix == ".c" else compilers[1]
            objects.append(target / f"{source.name}.o")
            run([*compiler, "-O1", "-g", "-w", "-pthread", *flags, *includes, "-c", source, "-o", objects[-1]])
    run([*compilers[1], "-pthread", *objects, "-o", binary])
    return binary


def make_data(path, size):
    """Text that compresses like text: words of a seeded vocabulary."""
    choice = random.Random(size)
    words = ["".join(choice.choices("etaoinshrdlu", k=choice.randrange(2, 10))) for _ in range(500)]
    text = " ".join(choice.choices(words, k=size // 4))
    path.write_text(text[:size])


def command_line(program, binary, data, output):
    """The command, and where its standard output is to go: the result, if OUT is not among the arguments."""
    places = {"DATA": data, "OUT": output}
    pathlib.Path(output).unlink(missing_ok=True)
    words = [str(places.get(word, word)) for word in program.arguments]
    return [str(binary), *words], None if "OUT" in program.arguments else output
