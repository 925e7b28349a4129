"""A command run to its end, and what it took."""
import collections
import os
import subprocess
import sys
import tempfile
import time

# Seconds on the clock and of processor time, of the command and of what it waited for. Peak memory is that of the largest process, and at
# least that of the calling script at the fork (some 12 MB).
Run = collections.namedtuple("Run", "wall cpu peak_bytes output")


def run(command, sink=os.devnull, environment=None, keep_output=False, may_fail=False):
    """Standard output goes to the file `sink`, or into the result, as text. A status other than 0 ends the script with what the command
    said, unless it may fail."""
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() if keep_output else open(sink, "wb") as output, tempfile.TemporaryFile() as errors:
        begin = time.monotonic()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0 and not may_fail:
            errors.seek(0)
            message = errors.read().decode(errors="replace").strip()[-1000:]
            sys.exit(f"{os.path.basename(sys.argv[0])}: `{' '.join(words)}` ended with {process.returncode}: {message}")
        text = ""
        if keep_output:
            output.seek(0)
            text = output.read().decode(errors="replace")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text)
