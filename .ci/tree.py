"""What the house checks share: which files there are, C++ without comments, and planted violations."""

import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = {"build", ".git", "__pycache__"}


def files(root, *suffixes):
    """Paths below `root`, relative, sorted; include/vigil is a link and is not followed."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in SKIPPED)
        relative = os.path.relpath(folder, root)
        found += [os.path.normpath(os.path.join(relative, n)) for n in names if n.endswith(suffixes)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


# A digit separator (1'000) is part of a number, not the start of a character.
_TOKEN = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?\*/|R"(?P<raw>[^()\s\\"]{0,16})\(.*?\)(?P=raw)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])\'(?:\\.|[^\'\\\n])*\'',
    re.S,
)


def code_only(text, keep_strings=True):
    """C++ with comments (and strings, if not kept) blanked out; lines and columns stay."""

    def blank(match):
        token = match.group(0)
        if not token.startswith("/") and keep_strings:
            return token
        return re.sub(r"[^\n]", " ", token)

    return _TOKEN.sub(blank, text)


def without_strings(text):
    """C++ with what is quoted taken out; comments and lines stay."""

    def cut(match):
        token = match.group(0)
        return token if token.startswith("/") else "\n" * token.count("\n")

    return _TOKEN.sub(cut, text)


def planted(check, contents):
    """The errors that `check(root)` reports for a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in contents.items():
            target = os.path.join(root, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "w", encoding="utf-8") as file:
                file.write(text)
        return check(root)


def expect(name, errors, wanted):
    """One row of a self-test: each wanted text must be in exactly one error, and there may be no other error."""
    missing = [w for w in wanted if sum(w in e for e in errors) != 1]
    if missing or len(errors) != len(wanted):
        sys.exit(f"self-test {name}: wanted {wanted}, got {errors}")


def main(check, self_test):
    """Runs the check over this repository, or, with --self-test, over planted violations."""
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        print("each planted violation was found")
        return
    errors = check(ROOT)
    for error in errors:
        print(error)
    sys.exit(1 if errors else 0)
