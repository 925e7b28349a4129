"""Recordings to measure analyses with: the examples, pbzip2 and zstd. For ipa.py and tree.py."""
import collections
import json
import os
import pathlib
import shutil
import subprocess

import program_sources

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# With so many bytes to work on, a run that is recorded with --filter off has five to fifteen million events.
REAL_PROGRAMS = {"pbzip2": 120_000, "zstd": 700_000}

Recording = collections.namedtuple("Recording", "name trace command real")


def build_example(sooth, source, binary):
    program_sources.run([sooth, "c++", "-std=c++20", "-O1", "-g", "-pthread", source, "-o", binary])
    return [str(binary)]


def build_real(sooth, name, size, work):
    """The command. A binary that is newer than sooth is not built again."""
    program = next(program for program in program_sources.PROGRAMS if program.name == name)
    home = work / name
    binary = home / "measured" / name
    if not binary.exists() or binary.stat().st_mtime < os.stat(sooth).st_mtime:
        folders = program_sources.fetch_all(program, program_sources.Archive(work))
        program_sources.compile_program(program, folders, ([sooth, "cc"], [sooth, "c++"]), home / "measured")
    data = home / f"data-{size}.txt"
    program_sources.make_data(data, size)
    return program_sources.command_line(program, binary, data, home / "measured.out")[0]


def record(sooth, name, command, scratch, mode, real):
    """The program may fail or crash, as some examples do: what it did until then is recorded."""
    trace = pathlib.Path(scratch) / name
    shutil.rmtree(trace, ignore_errors=True)
    subprocess.run([sooth, "record", "--filter", mode, "-o", str(trace), "--", *command], check=False, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=program_sources.TIME_LIMIT)
    return Recording(name, trace, command, real)


def recordings(sooth, work, scratch, mode="off", real=True):
    """One after the other; each trace is removed when the next one is asked for. What cannot be had is left out with a line that says so."""
    work, scratch = pathlib.Path(work).resolve(), pathlib.Path(scratch)
    jobs = [(source.stem, lambda s=source: build_example(sooth, s, scratch / "program"), False)
            for source in sorted((ROOT / "examples").glob("*.cc"))]
    if real:
        jobs += [(name, lambda n=name, s=size: build_real(sooth, n, s, work), True) for name, size in REAL_PROGRAMS.items()]
    for name, build, is_real in jobs:
        try:
            recording = record(sooth, name, build(), scratch, mode, is_real)
        except program_sources.NoSources as reason:
            print(f"{name}: left out, its sources cannot be had: {reason}")
            continue
        yield recording
        shutil.rmtree(recording.trace, ignore_errors=True)


def trace_info(sooth, trace):
    return json.loads(program_sources.run([sooth, "trace", "info", "--json", trace]))
