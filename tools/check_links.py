#!/usr/bin/env python3
"""Fails when the documentation leads nowhere.

    tools/check_links.py [ROOT]      checks the tree at ROOT (default: the tree this file is in)
    tools/check_links.py --selftest  checks that every rule rejects a tree that breaks it

In every page (*.md): what a link names exists, and has the section that it names; so does what is named as code by its
path, `src/base/ids.h`, unless a word in capitals or a `*` stands for a part of it; numbered sections count 1, 2, 3, ... In
everything else that people write: a page that is cited exists, and so does the section, "docs/NAME.md section 7". Every file
of docs/ can be reached from README.md. Links to other sites are not followed.
"""
import os
import re
import sys
import urllib.parse

import tree_check

SKIPPED_FOLDERS = re.compile(r"^(\..*|build.*|node_modules)$")
TEXT_SUFFIXES = (".h", ".cc", ".c", ".py", ".sh", ".mjs", ".js", ".ts", ".txt", ".cmake", ".in", ".yml", ".std", ".json")

FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s+(\S+)|<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"",
                  re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
ANCHOR = re.compile(r"<a\s[^>]*(?:id|name)=\"([^\"]+)\"")
NUMBERED = re.compile(r"^##\s+(\d+)\. ", re.MULTILINE)
CITED = re.compile(r"\b(docs/[\w-]+\.md|src/trace/\w+/[A-Z]+\.md|[A-Z]+\.md)\b(?:,? sections? (\d+(?:(?: and | to |, )\d+)*))?")
# Of the folders that are not everybody's: a page may speak of a reader's own src/ and tests/.
NAMED = re.compile(r"`((?:src/(?:base|trace|race|order|filter|detect|smt|predict|schedule|symbol|deep|recipe|launch|confirm|report|pipeline|run|cli|"
                   r"instrument|oracle)|runtime|tests/[a-z]+|tools|scripts|cmake|web)/[a-z][\w./+-]*)`")
CITED_FIRST = re.compile(r"\bSections? (\d+) of (docs/[\w-]+\.md)", re.IGNORECASE)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def files(root):
    """Paths of all files, relative to root, sorted; without what is built."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not SKIPPED_FOLDERS.match(f)]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def slugs(text):
    """The names that GitHub gives the headings of a page, and the anchors that stand in it."""
    seen, names = {}, set(ANCHOR.findall(text))
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        names.add(f"{slug}-{count}" if count else slug)
    return names


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_page(root, path, errors):
    """A page. Returns what it links to, relative to root."""
    text = read(root, path)
    # Blanks in place of code, so that lines keep their numbers.
    prose = CODE.sub(lambda m: " " * len(m[0]), FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text))
    targets = []
    for match in LINK.finditer(prose):
        link = urllib.parse.unquote(match[1] or match[2] or match[3])
        if re.match(r"[a-z]+:", link):
            continue
        where = f"{path}:{line_of(prose, match.start())}"
        name, _, section = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
        if target.startswith("..") or not os.path.exists(os.path.join(root, target)):
            errors.append(f"{where}: {link} does not exist")
            continue
        targets.append(target)
        if section and (not target.endswith(".md") or section not in slugs(read(root, target))):
            errors.append(f"{where}: {target} has no section #{section}")
    for match in NAMED.finditer(FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)):
        if not re.search(r"[A-Z]{3,}", match[1].rpartition("/")[2].partition(".")[0]) and not os.path.exists(os.path.join(root, match[1])):
            errors.append(f"{path}:{line_of(text, match.start())}: `{match[1]}` does not exist")
    numbers = [int(number) for number in NUMBERED.findall(text)]
    if numbers != list(range(1, len(numbers) + 1)):
        errors.append(f"{path}: its sections are numbered {', '.join(map(str, numbers))}")
    return targets


def check_citations(root, path, errors):
    """A file that is no page: the pages and sections that its comments and sentences name."""
    try:
        text = read(root, path)
    except UnicodeDecodeError:
        return
    cited = [(m, m[1], re.findall(r"\d+", m[2] or "")) for m in CITED.finditer(text)]
    cited += [(m, m[2], [m[1]]) for m in CITED_FIRST.finditer(text)]
    for match, page, numbers in cited:
        where = f"{path}:{line_of(text, match.start())}"
        beside = os.path.join(os.path.dirname(path), page)  # FORMAT.md in a file next to it
        found = next((p for p in (page, beside) if os.path.exists(os.path.join(root, p))), None)
        if found is None:
            errors.append(f"{where}: {page} does not exist")
            continue
        for number in set(numbers) - set(NUMBERED.findall(read(root, found))):
            errors.append(f"{where}: {page} has no section {number}")


def check_reachable(links, paths, errors):
    """That a reader who starts at README.md can come to each file of docs/."""
    reached, todo = set(), ["README.md"]
    while todo:
        page = todo.pop()
        if page not in reached:
            reached.add(page)
            todo += links.get(page, [])
    errors += [f"{path}: no page that README.md leads to has a link to it" for path in paths
               if path.startswith("docs/") and path not in reached]


def check_tree(root):
    """The sentences that say what is wrong with the tree, and how many pages there are."""
    errors, links = [], {}
    paths = files(root)
    for path in paths:
        if path.endswith(".md"):
            links[path] = check_page(root, path, errors)
        elif path.endswith(TEXT_SUFFIXES) and path != "tools/check_links.py":  # whose self-test cites what is not there
            check_citations(root, path, errors)
    if "README.md" not in links:
        errors.append(f"{root}: no README.md to start from")
    check_reachable(links, paths, errors)
    return errors, len(links)


# Each case: files of a tree that is fine but for them, and a piece of the error they must lead to (None: no error).
README = "# Tool\n[docs](docs/a.md) [again](docs/a.md#1-one-x)\n"
PAGE = "# A\n## 1. One (`x`)\n## 2. Two\n"
SELFTEST = [
    ({}, None),
    ({"README.md": README + "[x](https://example.org/none) `[y](none.md)`\n```\n[z](none.md)\n```\n"}, None),
    ({"README.md": README + "[x](none.md)\n"}, "README.md:3: none.md does not exist"),
    ({"README.md": README + "[x](../tool)\n"}, "../tool does not exist"),
    ({"README.md": README + "[x][y]\n\n[y]: none.md\n"}, "README.md:5: none.md does not exist"),
    ({"README.md": README + '<img src="docs/none.png">\n'}, "docs/none.png does not exist"),
    ({"README.md": README + "[x](#here)\n"}, "README.md has no section #here"),
    ({"README.md": README + "[x](docs/a.md#three)\n"}, "docs/a.md has no section #three"),
    ({"README.md": README + "## Twice\n## Twice\n[x](#twice-1)\n"}, None),
    ({"README.md": README + "`src/base/none.h`\n"}, "README.md:3: `src/base/none.h` does not exist"),
    ({"README.md": README + "`src/base/x.h`, `src/detect/NAME.cc`, `src/mine.cc`\n", "src/base/x.h": ""}, None),
    ({"docs/a.md": PAGE + "## 2. Again\n"}, "docs/a.md: its sections are numbered 1, 2, 2"),
    ({"docs/b.md": "# B\n"}, "docs/b.md: no page that README.md leads to"),
    ({"docs/ci/b.yml": "b\n"}, "docs/ci/b.yml: no page that README.md leads to"),
    ({"docs/b.md": "# B\n[c](c.md)\n", "docs/c.md": "# C\n", "docs/a.md": PAGE + "[b](b.md)\n"}, None),
    ({"src/x.h": "// docs/a.md section 2, and sections 1 and 2 of it; docs/a.md, section 1\n"}, None),
    ({"src/x.h": "\n// docs/none.md\n"}, "src/x.h:2: docs/none.md does not exist"),
    ({"src/x.h": "// docs/a.md, section 3\n"}, "src/x.h:1: docs/a.md has no section 3"),
    ({"src/x.h": "// docs/a.md, sections 1, 4 and 2\n"}, "docs/a.md has no section 4"),
    ({"src/x.h": "// Section 5 of docs/a.md word by word\n"}, "docs/a.md has no section 5"),
    ({"src/trace/format/FORMAT.md": "# F\n", "src/trace/format/x.h": "// FORMAT.md\n"}, None),
    ({"build/x.h": "// docs/none.md\n"}, None),
    ({"README.md": None, "docs/a.md": None}, "no README.md to start from"),
]


def main(arguments):
    if arguments == ["--selftest"]:
        return tree_check.selftest(check_tree, {"README.md": README, "docs/a.md": PAGE}, SELFTEST)
    return tree_check.main(check_tree, arguments, __doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
