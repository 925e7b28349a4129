#!/usr/bin/env python3
"""JUnit reports as CI services read them: well-formed XML with the elements, attributes and counts of the format.

    tests/report/junit.py FOLDER...      all *.junit files in them
"""
import glob
import os
import sys
import xml.etree.ElementTree as ElementTree

# What services accept in an element, and what must be there (the schema of Jenkins' xUnit plugin).
ALLOWED = {
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testcase": {"name", "classname", "file", "line", "time"},
    "failure": {"message", "type"},
    "skipped": {"message"},
    "system-out": set(),
}
REQUIRED = {"testsuite": {"name", "tests"}, "testcase": {"name", "classname"}, "failure": {"message", "type"}}


def complaints(path):
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        return [f"is no well-formed XML: {error}"]
    wrong = [] if root.tag == "testsuites" else [f"begins with <{root.tag}>"]
    for element in root.iter():
        for name in set(element.attrib) - ALLOWED.get(element.tag, set()):
            wrong.append(f"<{element.tag}> has the attribute {name}")
        for name in REQUIRED.get(element.tag, set()) - set(element.attrib):
            wrong.append(f"<{element.tag}> lacks the attribute {name}")
        if element.tag not in ALLOWED:
            wrong.append(f"there is a <{element.tag}>")
    for suite in root.iter("testsuite"):
        cases = suite.findall("testcase")
        for name, count in (("tests", len(cases)), ("failures", len(suite.findall("testcase/failure"))),
                            ("skipped", len(suite.findall("testcase/skipped")))):
            for element in (root, suite):
                if element.get(name) != str(count):
                    wrong.append(f"{name} of <{element.tag}> is {element.get(name)}, but there are {count}")
        if not cases:
            wrong.append("there is no test, which services take for a failure")
    return wrong


def main(folders):
    files = sorted(path for folder in folders for path in glob.glob(os.path.join(folder, "*.junit")))
    wrong = 0
    for path in files:
        for complaint in complaints(path):
            wrong += 1
            print(f"{path}: {complaint}", file=sys.stderr)
    print(f"{len(files)} files checked, {wrong} wrong")
    return 0 if files and wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
