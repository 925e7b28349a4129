"""What the checks of the source tree share: their command line, and a self-test that shows that each rule can fail.

A check is a function that takes the root of a tree and returns the sentences that say what is wrong with it, and how many
files it looked at.
"""
import os
import sys
import tempfile


def judge(check_tree, files, expected):
    """Whether the check finds in a tree of these files {path: text, or None for no such file} what is expected: one error with that
    piece, or no error (None)."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            if text is None:
                continue
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        errors, _ = check_tree(root)
    if errors == [] if expected is None else len(errors) == 1 and expected in errors[0]:
        return True
    print(f"selftest: {files}\n  expected: {expected}\n  got: {errors}", file=sys.stderr)
    return False


def selftest(check_tree, base, cases, more=()):
    """Each case: files that a fine tree, `base`, has instead or in addition, and what the check must say. `more` has the outcomes of
    other cases. Returns the exit status."""
    outcomes = [judge(check_tree, {**base, **files}, expected) for files, expected in cases] + list(more)
    print(f"{sum(outcomes)} of {len(outcomes)} cases as expected")
    return 0 if all(outcomes) else 1


def main(check_tree, arguments, usage):
    """Checks the tree that the arguments name, or the one this file is in. Returns the exit status."""
    if len(arguments) > 1 or any(a.startswith("-") for a in arguments):
        print(usage.strip(), file=sys.stderr)
        return 64
    root = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    errors, checked = check_tree(root)
    for error in errors:
        print(error, file=sys.stderr)
    print(f"{checked} files checked, {len(errors)} errors")
    return 1 if errors else 0
