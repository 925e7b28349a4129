#!/usr/bin/env python3
"""Small recordings and traces of every version of the formats on disk (src/trace/versions.h).

    tests/recordings/run.py SOOTH          every one is read and gives the events that it gave when it was made, or is refused by name
    tests/recordings/run.py SOOTH --add [NAME...]
                                           makes those of the version that SOOTH writes, as far as there are none: all, or these

NAME-KIND-vN.tar.xz is a directory; NAME-KIND-vN.std has its events, as `sooth trace cat` printed them then. A version that is no longer read
has, in place of the second, NAME-KIND-vN.refused with the sentence that `sooth trace cat` must end with.
"""
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# Name -> (source, options of the compiler, options of `sooth record`): what recordings can have.
MADE = {
    "free": ("examples/bank_account_hidden.cc", [], ["--schedule", "os"]),
    "serial": ("examples/bank_account_hidden.cc", [], ["--schedule", "serial"]),
    "filtered": ("examples/bank_account_hidden.cc", [], ["--filter", "tree"]),
    "deep": ("examples/textbook.cc", ["--deep"], ["--schedule", "serial"]),
    "conditions": ("tests/recordings/conditions.cc", [], ["--schedule", "serial"]),
}


def run(*words, cwd=None):
    return subprocess.run([str(word) for word in words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def must(*words, cwd=None):
    done = run(*words, cwd=cwd)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(map(str, words))}` ended with {done.returncode}: {done.stderr}")
    return done.stdout


def version_of(directory):
    """(kind, number) of the first line: `sooth-recording 1`."""
    kind, number = (directory / "version").read_text().split("\n")[0].removeprefix("sooth-").split(" ")
    return kind, int(number)


def make(sooth, folder, names):
    """Yields (name, directory) of what this tool writes. Everything is in `folder`, so that no recording names other places."""
    built = pathlib.Path(sooth).parent.parent
    for part in [*built.glob("runtime/*.so*"), pathlib.Path(sooth)]:
        target = folder / "tool" / part.relative_to(built)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(part, target, follow_symlinks=False)
    sooth = folder / "tool" / pathlib.Path(sooth).relative_to(built)
    for name, (source, compiler, options) in MADE.items():
        if names and name not in names:
            continue
        shutil.copy(ROOT / source, folder)
        must(sooth, "c++", *compiler, "-O1", f"-ffile-prefix-map={folder}=/examples", pathlib.Path(source).name, "-o", "program", cwd=folder)
        must(sooth, "record", "--no-config", *options, "-o", name, "--", "./program", cwd=folder)
        yield name, folder / name
    if not names or "serial" in names:
        must(sooth, "trace", "convert", "serial", "converted", cwd=folder)
        yield "converted", folder / "converted"


def pack(directory, target):
    """Without whoever made it, and when; the holes of `streams` compress to nothing."""
    with tarfile.open(target, "w:xz", preset=9) as archive:
        for path in sorted(directory.iterdir()):
            info = tarfile.TarInfo(path.name)
            content = path.read_bytes()
            info.size, info.mode = len(content), 0o600
            archive.addfile(info, io.BytesIO(content))


def add(sooth, folder, names):
    for name, directory in make(sooth, folder, names):
        kind, number = version_of(directory)
        stem = f"{name}-{kind}-v{number}"
        if (HERE / f"{stem}.tar.xz").exists():
            print(f"{stem}: is there; a version does not change once it has been used")
            continue
        pack(directory, HERE / f"{stem}.tar.xz")
        (HERE / f"{stem}.std").write_text(must(sooth, "trace", "cat", directory))
        print(f"{stem}: {(HERE / f'{stem}.tar.xz').stat().st_size} bytes")


def judge(sooth, archive, folder):
    """What is wrong, or nothing."""
    stem = archive.name.removesuffix(".tar.xz")
    directory = folder / stem
    directory.mkdir()
    with tarfile.open(archive) as opened:
        opened.extractall(directory, filter="data") if hasattr(tarfile, "data_filter") else opened.extractall(directory)
    kind, number = version_of(directory)
    if not stem.endswith(f"-{kind}-v{number}"):
        return f"is a {kind} of version {number}"
    done = run(sooth, "trace", "cat", directory)
    refused = HERE / f"{stem}.refused"
    if refused.exists():
        wanted = refused.read_text().strip()
        return "" if done.returncode == 65 and wanted in done.stderr else f"is not refused with {wanted!r}: {done.stderr}"
    if done.returncode != 0:
        return f"cannot be read: {done.stderr}"
    if done.stdout != (HERE / f"{stem}.std").read_text():
        return "has other events than it had"
    done = run(sooth, "analyze", "--no-config", directory, "--with", "hybrid,deadlock", "--fail-on", "never")
    return "" if done.returncode == 0 else f"cannot be analysed: {done.stderr}"


def main():
    sooth = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="sooth-recordings-") as name:
        folder = pathlib.Path(name)
        if "--add" in sys.argv:
            add(sooth, folder, sys.argv[sys.argv.index("--add") + 1:])
            return 0
        archives = sorted(HERE.glob("*.tar.xz"))
        failed = 0
        for archive in archives:
            if sentence := judge(sooth, archive, folder):
                failed += 1
                print(f"{archive.name}: {sentence}")
        # What is written today is among them.
        header = (ROOT / "src/trace/versions.h").read_text()
        for kind, constant in (("recording", "kStreamVersion"), ("trace", "kTraceVersion")):
            number = re.search(rf"\b{constant} = (\d+);", header)[1]
            if not list(HERE.glob(f"*-{kind}-v{number}.tar.xz")):
                failed += 1
                print(f"there is no {kind} of version {number}; make one: tests/recordings/run.py SOOTH --add")
        print(f"{len(archives) - failed} of {len(archives)} as they were")
        return 1 if failed or not archives else 0


if __name__ == "__main__":
    sys.exit(main())
