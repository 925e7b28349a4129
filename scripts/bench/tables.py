"""The one way in which benchmarks write tables and goals: Markdown, so that what they print can stand in docs/ as it is."""
import pathlib
import re
import sys


def _line(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _head(columns):
    """A column whose name begins with `>` has numbers, and is aligned to the right."""
    names = [column.removeprefix(">") for column in columns]
    marks = ["---:" if column.startswith(">") else "---" for column in columns]
    return _line(names) + "\n|" + "|".join(marks) + "|"


def render(columns, rows):
    """The table as text, without a line end behind it."""
    return "\n".join([_head(columns), *(_line(row) for row in rows)])


class Printed:
    """A table that is printed while it is measured."""

    def __init__(self, *columns):
        print(_head(columns), flush=True)

    def row(self, *cells):
        print(_line(cells), flush=True)


def goal(met, sentence):
    """Prints whether a promise is kept, and returns it."""
    print(f"  {'ok    ' if met else 'MISSED'} {sentence}", flush=True)
    return met


def put_into(document, mark, text):
    """Between <!-- mark --> and its end."""
    path = pathlib.Path(document)
    page = path.read_text(encoding="utf-8")
    changed, count = re.subn(rf"(<!-- {mark} -->\n).*?(<!-- /{mark} -->)", lambda found: found[1] + text + "\n" + found[2], page, flags=re.S)
    if count != 1:
        sys.exit(f"{document} has no marks <!-- {mark} --> and <!-- /{mark} -->")
    path.write_text(changed, encoding="utf-8")
