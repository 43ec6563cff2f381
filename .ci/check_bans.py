#!/usr/bin/env python3
"""Refuses what .ci/bans.txt bans, files over 600 lines and functions over 70.

With --notes it also names the files that are longer than they should be; notes do not fail.
"""

import fnmatch
import os
import re
import sys

import tree

FILE_LIMIT = 600
FUNCTION_LIMIT = 70
COLUMN_LIMIT = 120  # texts in quotes are not counted: a scenario or a message is not cut up
SOURCE_NOTE = 300
HEADER_NOTE = 150
CXX = (".h", ".cc")
TEXT = (*CXX, ".proto", ".py", ".cmake", ".txt", ".md", "run", "vigil")
BAN_FIELDS = {"pattern", "in", "except", "unless", "text", "allow", "reason"}


def read_bans(root):
    """Name -> fields; "allow" is a list of (path, reason)."""
    bans = {}
    for number, line in enumerate(tree.read(root, ".ci/bans.txt").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        header = re.fullmatch(r"\[([\w-]+)\]", line)
        if header:
            ban = bans.setdefault(header.group(1), {"allow": []})
            continue
        key, colon, value = line.partition(":")
        if not colon or key not in BAN_FIELDS:
            sys.exit(f".ci/bans.txt:{number}: not a field: {line}")
        if key == "allow":
            path, _, why = value.strip().partition(" ")
            ban["allow"].append((path, why))
        else:
            ban[key] = value.strip()
    return bans


def matches(path, patterns):
    return any(path.startswith(p) if p.endswith("/") else fnmatch.fnmatch(path, p) for p in patterns.split())


def applies(ban, path):
    inside = matches(path, ban["in"]) if "in" in ban else path.endswith(CXX)
    return inside and not matches(path, ban.get("except", ""))


def check_banned(path, text, code, bans, used):
    errors = []
    lines = text.splitlines()
    for name, ban in bans.items():
        if not applies(ban, path):
            continue
        pattern = re.compile(ban["pattern"])
        for number, line in enumerate(lines if ban.get("text") == "all" else code.splitlines(), 1):
            if not pattern.search(line) or ("unless" in ban and re.search(ban["unless"], lines[number - 1])):
                continue
            if path in (p for p, _ in ban["allow"]):
                used.add((name, path))
                continue
            errors.append(f"{path}:{number}: {name}: {lines[number - 1].strip()}\n    {ban['reason']}")
    return errors


def check_allow_list(bans, used):
    errors = []
    for name, ban in bans.items():
        for path, why in ban["allow"]:
            if (name, path) not in used:
                errors.append(f".ci/bans.txt: {name}: {path} does not need its entry any more")
            if not why.strip():
                errors.append(f".ci/bans.txt: {name}: {path} is allowed without a reason")
    return errors


def functions(code):
    """(first line, number of lines) of each outermost function body with its signature. A heuristic over braces."""
    depth = 0  # inside a function; 0 = at namespace or class level
    start = 0  # where the text before the next brace begins
    for match in re.finditer(r"[{};]", code):
        token = match.group(0)
        if depth:
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                yield first, code.count("\n", 0, match.start()) + 2 - first
        elif token == "{":
            head = re.sub(r"^\s*#.*$", "", code[start:match.start()], flags=re.M)
            flat = head
            while re.search(r"<[^<>]*>", flat):
                flat = re.sub(r"<[^<>]*>", "", flat)
            if ")" in flat and not re.search(r"\b(namespace|class|struct|union|enum)\b|=\s*$", flat):
                depth = 1
                signature = match.start() - len(head.lstrip())
                first = code.count("\n", 0, max(start, signature)) + 1
        start = match.end()


def wide_lines(path, text):
    """Lines of more than COLUMN_LIMIT columns, texts in quotes left out."""
    unquoted = tree.without_strings(text)
    return [f"{path}:{number}: {len(line)} columns without what is quoted; the limit is {COLUMN_LIMIT}"
            for number, line in enumerate(unquoted.split("\n"), 1) if len(line) > COLUMN_LIMIT]


def check_size(path, text, code, notes):
    count = text.count("\n")
    if count > FILE_LIMIT:
        return [f"{path}:1: {count} lines; the limit is {FILE_LIMIT}"]
    note = {".h": HEADER_NOTE, ".cc": SOURCE_NOTE}.get(os.path.splitext(path)[1], FILE_LIMIT)
    if count > note:
        notes.append(f"note: {path} has {count} lines; {note} is the aim")
    if not path.endswith(CXX):
        return []
    return wide_lines(path, text) + [f"{path}:{line}: a function of {length} lines; the limit is {FUNCTION_LIMIT}"
                                     for line, length in functions(code) if length > FUNCTION_LIMIT]


def check(root, notes=None):
    bans = read_bans(root)
    used = set()
    errors = []
    notes = [] if notes is None else notes
    for path in tree.files(root, *TEXT):
        text = tree.read(root, path)
        code = tree.code_only(text) if path.endswith(CXX) else text
        errors += check_banned(path, text, code, bans, used)
        if not path.endswith(".md"):
            blank = tree.code_only(text, keep_strings=False) if path.endswith(CXX) else ""
            errors += check_size(path, text, blank, notes)
    return errors + check_allow_list(bans, used)


# (ban, path, line): each must be found, by that ban only.
PLANTED = [
    ("wall-clock", "sim/a.cc", "auto t = std::chrono::steady_clock::now();"),
    ("wall-clock", "core/train/a_test.cc", "auto t = time(nullptr);"),
    ("aggregate-in-parentheses", "sim/a_test.cc", "  tasks->SleepUntil(Time(std::chrono::seconds(5)));"),
    ("threads", "replays/a.cc", "std::thread t(f);"),
    ("threads", "core/coord/a.h", "  std::mutex mutex_;"),
    ("detach", "core/env/real/a.cc", "  thread.detach();"),
    ("randomness", "core/io/a.cc", "  std::shuffle(a, b, c);"),
    ("environment", "sim/a.cc", 'auto* x = getenv("HOME");'),
    ("files", "core/io/a.cc", "  std::ofstream out(path);"),
    ("files", "core/io/a.cc", "  int fd = ::open(path, 0);"),
    ("real-env", "core/train/a.cc", '#include "vigil/core/env/real/clock.h"'),
    ("printing", "core/train/a.cc", '  std::cout << "x";'),
    ("unordered", "sim/a.h", "std::unordered_map<int, int> m_;"),
    ("status-code", "core/train/a.cc", "  if (status.code() == absl::StatusCode::kAborted) return;"),
    ("status-code", "core/train/a.cc", "  if (absl::IsAborted(status)) return;"),
    ("catch-all", "core/train/a.cc", "  } catch (...) {"),
    ("switched-off", "core/train/a_test.cc", "TEST(A, DISABLED_B) {}"),
    ("switched-off", "core/train/a.cc", "// TO" + "DO: later"),
    ("strcat", "core/train/a.cc", "  auto s = absl::StrCat(a, b);"),
    ("thread-local", "sim/a.cc", "thread_local int x = 0;"),
    ("mutable-global", "core/train/a.cc", "std::atomic<int> counter{0};"),
    ("mutable-global", "core/train/a.cc", "int counter = 0;"),
    ("mutable-global", "core/train/a.cc", "  static std::map<int, int> cache;"),
    ("eigen", "core/graph/a.cc", "#include <Eigen/Core>"),
    ("json", "sim/a.cc", "#include <nlohmann/json.hpp>"),
    ("json", "replays/a.h", "#include <nlohmann/json.hpp>"),
    ("command-line", "replays/a.cc", "#include <CLI/CLI.hpp>"),
    ("rapidcheck", "sim/a_test.cc", "#include <rapidcheck/gtest.h>"),
    ("emoji", "README.md", "done \u2705"),
]

# Each must be let through.
INNOCENT = [
    ("core/env/real/a.cc", "std::thread t([] { std::chrono::steady_clock::now(); });"),
    ("core/train/a.cc", "// std::thread, steady_clock and catch (...) in a comment"),
    ("core/env/a.h", "  virtual Time time() const = 0;"),
    ("core/io/a.cc", "  auto file = env.files->Open(path);"),
    ("sim/a.h", "std::unordered_map<int, int> m_;  // lookup only"),
    ("core/train/a.cc", "static absl::StatusOr<int> Create(int x) {\n}"),
    ("core/train/a.cc", "constexpr int kSteps = 3;\nconst char* const kName = \"static\";\nusing A = int;\nStatus Foo(int a);"),
    ("core/train/a.h", "struct A {\n  int x = 0;\n};\nclass B;"),
    ("core/ops/a.cc", "#include <Eigen/Core>"),
    ("cli/a.cc", 'auto* x = getenv("HOME");\n#include <CLI/CLI.hpp>'),
]


def self_test():
    rules = tree.read(tree.ROOT, ".ci/bans.txt")
    shipped = re.sub(r"^allow:.*\n", "", rules, flags=re.M)
    unseen = set(re.findall(r"^\[(.*)\]", shipped, re.M)) - {name for name, _, _ in PLANTED}
    if unseen:
        sys.exit(f"no violation is planted for {unseen}")
    for name, path, line in PLANTED:
        errors = tree.planted(check, {".ci/bans.txt": shipped, path: line + "\n"})
        tree.expect(line, errors, [f"{path}:1: {name}: "])
    for path, text in INNOCENT:
        tree.expect(text, tree.planted(check, {".ci/bans.txt": shipped, path: text + "\n"}), [])

    one = "[catch-all]\npattern: catch_all\nallow: sim/a.cc the root of a task\nreason: r\n"
    row = lambda contents, *wanted: tree.expect(str(contents)[:80], tree.planted(check, contents), wanted)
    row({".ci/bans.txt": one, "sim/a.cc": "catch_all\n"})
    row({".ci/bans.txt": one, "sim/a.cc": "\n"}, "sim/a.cc does not need its entry")
    row({".ci/bans.txt": one, "sim/a.cc": "catch_all\n", "sim/b.cc": "catch_all\n"}, "sim/b.cc:1: catch-all")
    row({".ci/bans.txt": "", "sim/a.h": "\n" * (FILE_LIMIT + 1)}, "sim/a.h:1: 601 lines")

    row({".ci/bans.txt": "", "sim/a.h": "\n// " + "x" * (COLUMN_LIMIT - 3) + "\n"})
    row({".ci/bans.txt": "", "sim/a.h": "\n// " + "x" * (COLUMN_LIMIT - 2) + "\n"}, "sim/a.h:2: 121 columns")
    row({".ci/bans.txt": "", "sim/a.cc": f'f("{"x" * 150}");\ng(R"(\n{"x" * 150}\n)");\n'})

    body = lambda lines: "  x();\n" * lines
    head = "namespace a {\ntemplate <class T>\nT F(T x) {\n"
    fits = {".ci/bans.txt": "", "sim/a.cc": head + body(FUNCTION_LIMIT - 3) + "}\n" + "int g(int a) {\n" + body(60) + "}\n}\n"}
    row(fits)
    row({".ci/bans.txt": "", "sim/a.cc": head + body(FUNCTION_LIMIT - 2) + "}\n}\n"}, "sim/a.cc:2: a function of 71 lines")
    member = "class A {\n  int F() {\n    if (a) {\n" + body(FUNCTION_LIMIT) + "    }\n  }\n};\n"
    row({".ci/bans.txt": "", "sim/a.h": member}, "sim/a.h:2: a function of 74 lines")
    notes = []
    tree.expect("note", tree.planted(lambda root: check(root, notes), {".ci/bans.txt": "", "sim/a.h": "\n" * 151}), [])
    tree.expect("note", notes, ["sim/a.h has 151 lines"])


def check_and_print_notes(root):
    notes = []
    errors = check(root, notes)
    if "--notes" in sys.argv[1:]:
        print("\n".join(notes))
    return errors


if __name__ == "__main__":
    tree.main(check_and_print_notes, self_test)
