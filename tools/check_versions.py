#!/usr/bin/env python3
"""The headers of the formats on disk do not change without a new version (src/trace/versions.h).

    tools/check_versions.py ROOT              fails when a header differs from what was noted for the version that it has
    tools/check_versions.py ROOT --update     notes it: after a new version, or when no byte means anything else than before
    tools/check_versions.py --selftest        shows that the check can fail

What is noted (tests/recordings/versions.json) is a digest of the code without comments and layout.
"""
import hashlib
import json
import pathlib
import re
import sys
import tempfile

VERSIONS = "src/trace/versions.h"
NOTED = "tests/recordings/versions.json"
# Format -> (constant of its version, headers that say what its bytes mean).
FORMATS = {
    "recording": ("kStreamVersion", ["src/trace/op.h", "src/trace/recording/stream_format.h", "src/trace/recording/deep_format.h"]),
    "trace": ("kTraceVersion", ["src/trace/op.h", "src/trace/format/format.h"]),
}


def code(text):
    """Without comments, blanks and includes. These headers have no text with `//` in it."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"^\s*#[^\n]*", "", text, flags=re.M)
    return re.sub(r"\s+", "", text)


def found(root):
    """Format -> version and digest, as the headers are now."""
    header = (root / VERSIONS).read_text()
    result = {}
    for name, (constant, files) in FORMATS.items():
        digest = hashlib.sha256("\0".join(code((root / file).read_text()) for file in files).encode()).hexdigest()[:16]
        result[name] = {"version": int(re.search(rf"\b{constant} = (\d+);", header)[1]), "digest": digest}
    return result


def check(root):
    """Sentences on what is wrong."""
    noted, now, wrong = json.loads((root / NOTED).read_text()), found(root), []
    for name, (constant, files) in FORMATS.items():
        if now[name] == noted[name]:
            continue
        if now[name]["version"] == noted[name]["version"]:
            wrong.append(f"{' or '.join(files)} has changed, and {constant} is still {now[name]['version']}. If a byte means something else now, or there is "
                         f"a new one, do what {VERSIONS} says. Then, or if not: tools/check_versions.py . --update")
        elif now[name]["version"] < noted[name]["version"]:
            wrong.append(f"{constant} went down, from {noted[name]['version']} to {now[name]['version']}")
        else:
            wrong.append(f"{constant} is {now[name]['version']} now; note what it stands for: tools/check_versions.py . --update")
    return wrong


def update(root):
    (root / NOTED).write_text(json.dumps(found(root), indent=2) + "\n")


def selftest():
    """A copy of what a change could look like."""
    source = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for file in {VERSIONS, NOTED, *(file for _, files in FORMATS.values() for file in files)}:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text((source / file).read_text() if (source / file).exists() else "")
        update(root)
        assert check(root) == [], check(root)
        header = root / "src/trace/recording/stream_format.h"
        header.write_text(header.read_text() + "\n// A remark.\n")
        assert check(root) == [], "remarks do not count"
        header.write_text(header.read_text() + "struct New { int field; };\n")
        assert len(check(root)) == 1 and "has changed" in check(root)[0], check(root)
        versions = root / VERSIONS
        versions.write_text(re.sub(r"kStreamVersion = (\d+);", lambda match: f"kStreamVersion = {int(match[1]) + 1};", versions.read_text(), count=1))
        assert len(check(root)) == 1 and "note what it stands for" in check(root)[0], check(root)
        update(root)
        assert check(root) == []
    print("the check can fail")


def main():
    if "--selftest" in sys.argv:
        selftest()
        return 0
    root = pathlib.Path(sys.argv[1])
    if "--update" in sys.argv:
        update(root)
    wrong = check(root)
    for sentence in wrong:
        print(sentence)
    print(f"{len(FORMATS)} formats, {len(wrong)} errors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
