#!/usr/bin/env python3
"""Fails when a type or function of a namespace is defined in two files: to the linker both are one (the one definition rule of C++).

    tools/check_odr.py [ROOT]      checks the tree at ROOT (default: the tree this file is in)
    tools/check_odr.py --selftest  checks that every rule rejects a tree that breaks it

Compilers see one file at a time, and linkers take the first of two functions that may be in many files (members of classes, inline functions,
templates): a program of two different types of one name links without a word and runs the code of the wrong one. Names in anonymous namespaces and static
functions belong to their file and may repeat. Functions are told apart by their parameters as they are written.
Files of src/ are compared with each other, and likewise those of runtime/; programs among the tests are each on their own.
"""
import os
import re
import sys

import tree_check

FOLDERS = ("src", "runtime")
SUFFIXES = (".h", ".cc", ".inc")
ALONE = {"src/cli/main.cc"}  # what tests of its folder have instead of it
INSTEAD = re.compile(r"/(without_\w+\.cc|cpu_\w+\.h)$")  # in place of other files, never beside them: what is missing, and what machines differ in

# What tokens are made of; comments, literals and the preprocessor are no tokens.
TOKEN = re.compile(r"""
    //[^\n]* | /\*.*?\*/
  | R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
  | "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])'
  | (?P<number>\.?[0-9](?:'?[\w.])*)
  | ^[ \t]*\#(?:\\\n|[^\n])*
  | (?P<word>[A-Za-z_]\w*) | (?P<sign>::|->|\[\[|\]\]|[{}();,:<>=&*~\[\]!+\-/%^|.?])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)


def tokens_of(text):
    """(token, line) of all that is left."""
    tokens, line, at = [], 1, 0
    for found in TOKEN.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        token = found["word"] or found["sign"] or found["number"]
        if token:
            tokens.append((token, line))
    return tokens


def skip(tokens, at, opening, closing):
    """Behind the token that closes the one at `at`."""
    depth = 0
    while at < len(tokens):
        depth += (tokens[at][0] == opening) - (tokens[at][0] == closing)
        at += 1
        if depth == 0:
            break
    return at


class File:
    """Finds the definitions of one file at the level of its namespaces."""

    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.types, self.functions = [], []  # (name, line)
        self.block(0, [])

    def block(self, at, names):
        """Declarations up to the end of the namespace; None among `names` is an anonymous one."""
        begin = at
        while at < len(self.tokens):
            token = self.tokens[at][0]
            if token == "}":
                return at + 1
            if token == "namespace" and begin == at:
                at = begin = self.namespace(at + 1, names)
            elif token == "extern" and self.tokens[at + 1:at + 2] and self.tokens[at + 1][0] == "{":  # extern "C" {
                at = begin = self.block(at + 2, names)
            elif token == "template":
                at = self.template_head(at + 1)
            elif token == ";":
                at = begin = at + 1
            elif token == "(":
                at = skip(self.tokens, at, "(", ")")
            elif token == "[[":
                at = skip(self.tokens, at, "[[", "]]")
            elif token == "operator":
                at += 1
                while at < len(self.tokens) and self.tokens[at][0] != "(":
                    at += 1
                if self.tokens[at + 1:at + 2] and self.tokens[at + 1][0] == ")":  # operator()
                    at += 2
            elif token == "=":
                at = begin = self.statement_end(at)
            elif token == "{":
                self.definition(begin, at, names)
                behind = skip(self.tokens, at, "{", "}")
                # A type may be followed by a variable; a function is not.
                at = begin = self.statement_end(behind) if self.is_type(begin, at) else behind
            else:
                at += 1
        return at

    def namespace(self, at, names):
        inner = list(names)
        if self.tokens[at][0] == "{":
            inner.append(None)
        while self.tokens[at][0] not in ("{", ";", "="):
            if self.tokens[at][0] not in ("::", "inline"):
                inner.append(self.tokens[at][0])
            at += 1
        return self.block(at + 1, inner) if self.tokens[at][0] == "{" else self.statement_end(at)

    def statement_end(self, at):
        while at < len(self.tokens) and self.tokens[at][0] != ";":
            at = skip(self.tokens, at, "{", "}") if self.tokens[at][0] == "{" else at + 1
        return at + 1

    def template_head(self, at):
        """Behind `template <...>`; closing signs of nested ones are single tokens."""
        depth = 0
        while at < len(self.tokens):
            depth += (self.tokens[at][0] == "<") - (self.tokens[at][0] == ">")
            at = skip(self.tokens, at, "(", ")") if self.tokens[at][0] == "(" else at + 1
            if depth == 0:
                return at
        return at

    def head(self, begin, end):
        """The tokens of a declaration in front of its body, without templates and attributes in front of it."""
        words, at = [], begin
        while at < end:
            token = self.tokens[at][0]
            if token == "template":
                at = self.template_head(at + 1)
            elif token == "[[":
                at = skip(self.tokens, at, "[[", "]]")
            elif token in ("alignas", "__attribute__", "asm"):
                at = skip(self.tokens, at + 1, "(", ")")
            else:
                words.append(token)
                at += 1
        return words

    def is_type(self, begin, end):
        words = self.head(begin, end)
        return bool(words) and words[0] in ("struct", "class", "enum", "union") and "(" not in words

    def definition(self, begin, end, names):
        if None in names:
            return
        words = self.head(begin, end)
        if self.is_type(begin, end):
            words = [word for word in words[1:] if word not in ("struct", "class", "final")]
            cut = words.index(":") if ":" in words else len(words)
            if words[:cut]:  # else it has no name
                self.types.append(("::".join([*names, " ".join(words[:cut])]), self.tokens[begin][1]))
        elif "(" in words and "static" not in words:
            self.function(words, names, self.tokens[begin][1])

    def function(self, words, names, line):
        """`auto f(int a, const T& b = T()) -> R` is f(int, const T &): without the names of the parameters."""
        open_at = words.index("(")
        if "operator" in words[:open_at]:
            at = words.index("operator")
            if words[at + 1:at + 3] == ["(", ")"]:
                open_at = at + 3
            name = words[at:open_at]
        else:
            name = words[open_at - 1:open_at]
            at = open_at - 1
        while at >= 2 and words[at - 1] == "::":  # of a class: the compiler has seen one class of this name
            return
        if not name or not re.match(r"[A-Za-z_]", name[0]) or name[0] in ("if", "while", "for", "switch", "requires", "noexcept"):
            return
        parameters, depth, current = [], 0, []
        for word in words[open_at:]:
            depth += (word in "([<") - (word in ")]>")
            if depth == 0:
                break
            if word == "," and depth == 1:
                parameters.append(current)
                current = []
            elif not (word == "(" and depth == 1):
                current.append(word)
        parameters += [current] if current else []
        spelled = [self.parameter(each) for each in parameters]
        self.functions.append(("::".join([*names, " ".join(name)]) + f"({', '.join(spelled)})", line))

    @staticmethod
    def parameter(words):
        if "=" in words:
            words = words[:words.index("=")]
        named = len(words) > 1 and re.match(r"[A-Za-z_]", words[-1]) and words[-2] not in ("::", "const") and words[-1] not in ("const", "int", "char", "long")
        return " ".join(words[:-1] if named else words)


def check_tree(root):
    """The sentences that say what is wrong with the tree, and how many files it has."""
    errors, checked = [], 0
    for folder in FOLDERS:
        seen = {}
        for path, _, files in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(files):
                if not name.endswith(SUFFIXES):
                    continue
                checked += 1
                where = os.path.relpath(os.path.join(path, name), root)
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    found = File(file.read())
                for kind, definitions in (("type", found.types), ("function", found.functions)):
                    for definition, line in definitions:
                        if where in ALONE or INSTEAD.search(where) or definition.startswith("main("):
                            continue
                        earlier = seen.setdefault((kind, definition), (where, line))
                        if earlier[0] != where:
                            errors.append(f"{where}:{line}: the {kind} {definition} is also defined in {earlier[0]}:{earlier[1]}; "
                                          "give one another name, or put it into an anonymous namespace")
    return errors, checked


# Each case: files of a tree that is fine but for them, and a piece of the error they must lead to (None: no error).
BASE = {"src/a/x.h": "#pragma once\nnamespace sooth {\nstruct Frame {\n  int f() { return 1; }\n};\ninline int g(int a) { return a; }\n}  // namespace sooth\n"}
SELFTEST = [
    ({}, None),
    ({"src/b/y.h": "namespace sooth {\nclass Frame final : public Base<int> {\n};\n}"}, "src/b/y.h:2: the type sooth::Frame is also defined in src/a/x.h:3"),
    ({"src/b/y.cc": "namespace sooth {\nnamespace {\nstruct Frame {};\nint g(int b) { return b; }\n}\n}"}, None),
    ({"src/b/y.cc": "namespace sooth {\nnamespace {\nint h() { return 1; }\n}\nstruct Frame {};\n}"}, "src/b/y.cc:5: the type sooth::Frame"),
    ({"src/b/y.cc": "namespace sooth::detail {\nstruct Frame {};\n}\nstruct Frame {};"}, None),
    ({"src/b/y.h": "namespace sooth {\nstruct Frame;\nenum class Frame;\nFrame* f();\nint g(int);\n}"}, None),
    ({"src/b/y.h": "namespace sooth {\nenum class Frame : int { kA };\n}"}, "the type sooth::Frame"),
    ({"src/b/y.h": "namespace sooth { struct Outer { struct Frame {}; }; }"}, None),
    ({"src/b/y.h": "namespace sooth {\ninline int g(int other) { return 2; }\n}"}, "src/b/y.h:2: the function sooth::g(int) is also defined in src/a/x.h:6"),
    ({"src/b/y.h": "namespace sooth {\ninline int g(long a) { return 2; }\nstatic int g(int a) { return 2; }\n}"}, None),
    ({"src/b/y.h": "namespace sooth {\ntemplate <typename T, typename = std::vector<int>>\nstruct Frame {};\n}"}, "the type sooth::Frame"),
    ({"src/b/y.h": "namespace sooth {\n// struct Frame {\nconst char* s = \"struct Frame {\";\nauto l = [] { struct Frame {}; };\nint o() { struct Frame {}; return 1; }\n}"}, None),
    ({"src/b/y.h": "#define X struct Frame { \\\n }\nnamespace sooth {\nint a = 1'000, b{2};\n}"}, None),
    ({"src/b/y.cc": "namespace sooth {\nint Frame::f() { return 2; }\nint g(int a, int b) { return 3; }\n}"}, None),
    ({"runtime/y.h": "namespace sooth {\nstruct Frame {};\n}", "tests/z.cc": "namespace sooth {\nstruct Frame {};\n}"}, None),
    ({"src/b/y.cc": "namespace sooth {\nbool operator==(int a, T b) { return 1; }\n}", "src/b/z.cc": "namespace sooth {\nbool operator==(int c, T d) { return 0; }\n}"},
     "the function sooth::operator = =(int, T)"),
]


def main(arguments):
    if arguments == ["--selftest"]:
        return tree_check.selftest(check_tree, BASE, SELFTEST)
    return tree_check.main(check_tree, arguments, __doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
