#!/usr/bin/env python3
"""Refuses a name of the seed documents without a row in docs/features.md, and a row with a C++ name or test that is not there.

A row: | names in the documents | C++ name, or "not applicable", or "missing" | its header | the test that shows it | note |
The names are listed in .ci/features_of_seeds.txt. A C++ name is `function`, `Class`, `Class::member` or `Class::method(parameter)`.
"""

import os
import re
import sys

import tables
import tree

TABLE = "docs/features.md"
LIST = ".ci/features_of_seeds.txt"
WITHOUT = ("not applicable", "missing")


def body_after(code, start):
    """What is between the bracket at `start` and the one that closes it."""
    opening = code[start]
    closing = {"{": "}", "(": ")"}[opening]
    depth = 0
    for i in range(start, len(code)):
        depth += (code[i] == opening) - (code[i] == closing)
        if depth == 0:
            return code[start + 1:i]
    return code[start + 1:]


def flat(code):
    """Code with everything inside braces blanked out: only what the scope itself declares is left."""
    out = []
    depth = 0
    for c in code:
        depth -= c == "}" and depth > 0
        out.append(c if depth == 0 or c == "\n" else " ")
        depth += c == "{"
    return "".join(out)


def declares(code, symbol):
    """Whether C++ (without comments, strings and namespaces) declares a symbol like A::b(c)."""
    path, _, parameter = symbol.rstrip(")").partition("(")
    *scopes, name = path.split("::")
    is_enum = False
    for scope in scopes:
        match = re.search(rf"\b(class|struct|enum class|enum)\s+{scope}\b[^;{{(]*{{", code)
        if not match:
            return False
        is_enum = match.group(1).startswith("enum")
        code = body_after(code, match.end() - 1)
    if parameter:
        lists = [body_after(code, m.end() - 1) for m in re.finditer(rf"\b{name}\(", code)]
        return any(re.search(rf"[\w>&*]\s+[&*]?{parameter}\b", parameters) for parameters in lists)
    if re.search(rf"\b(?:class|struct|enum class|enum)\s+{name}\b[^;]*?{{", code) or re.search(rf"\busing {name}\s*=", code):
        return True
    if is_enum:
        return re.search(rf"\b{name}\b\s*[,=]|\b{name}\s*$", code) is not None
    return re.search(rf"(?<!return)[\w>&*]\s+[&*]?{name}\s*[({{=;]", flat(code)) is not None or (
        len(scopes) > 0 and re.search(rf"(?<![\w~]){name}\(", flat(code)) is not None and name == scopes[-1])


def check_symbols(root, cell, header):
    match = tables.NAME.fullmatch(header)
    if not match or not match.group(1).endswith(".h") or not os.path.isfile(os.path.join(root, match.group(1))):
        yield f"there is no header {header}"
        return
    code = tree.code_only(tree.read(root, match.group(1)), keep_strings=False)
    code = re.sub(r"\bnamespace\s+[\w:]*\s*\{|\b(?:class|struct)\s+\w+\s*;", " ", code)
    symbols = tables.NAME.findall(cell)
    if not symbols:
        yield f"'{cell}' names nothing"
    for symbol in symbols:
        if not declares(code, symbol):
            yield f"{match.group(1)} does not declare {symbol}"


def read_table(root):
    """(line, names, C++ names, header, test, note) of each row."""
    for line, _, (names, symbols, header, test, note) in tables.rows(tree.read(root, TABLE), 5):
        yield line, tables.NAME.findall(names), symbols, header, test, note


def names_in(root, wanted):
    """The listed names whose row says `wanted`, with the note."""
    listed = sorted({name for _, name in tables.names_of(root, LIST)})
    for _, patterns, symbols, _, _, note in read_table(root):
        if wanted == (symbols if symbols in WITHOUT else "there"):
            yield from ((name, note) for name in listed if any(tables.matches(name, p) for p in patterns))


def summary(root):
    total = len({name for _, name in tables.names_of(root, LIST)})
    there, not_applicable, missing = (len(list(names_in(root, k))) for k in ("there", *WITHOUT))
    return f"Names: {total}. With a C++ name: {there}. Not applicable: {not_applicable}. Missing: {missing}."


def check(root):
    references = tables.References(root)
    errors = []
    patterns = []
    for line, names, symbols, header, test, note in read_table(root):
        patterns += [(line, name) for name in names]
        found = []
        if not names:
            found.append("the row names nothing of a document")
        if symbols in WITHOUT:
            found += [] if note else [f"{symbols}: say why"]
        else:
            found += check_symbols(root, symbols, header)
            found += references.errors(test)
        errors += [f"{TABLE}:{line}: {e}" for e in found]
    errors += tables.compare([name for _, name in tables.names_of(root, LIST)], patterns, TABLE)
    if summary(root) not in tree.read(root, TABLE).splitlines():
        errors.append(f"{TABLE}:1: the sums are: {summary(root)}")
    return errors


HEADER = """// Comment: class NotThere { int not_there; };
namespace vigil {
class Forward;
enum class Color { kRed, kGreen = 2 };
struct Options {
  std::vector<int> hooks = {};
  Duration grace = std::chrono::seconds(120);
};
class Run {
 public:
  Run(const Env& env, Options options);
  absl::StatusOr<int> Go(const Feeds& feeds, const std::optional<std::vector<int>>& more = std::nullopt);
  bool done() const { int inside = 1; return inside; }
 private:
  const int count_;
};
absl::Status Start(const Env& env);
using RunPtr = std::shared_ptr<Run>;
inline constexpr Key<int> kRunners{"runners"};
}  // namespace vigil
"""


def self_test():
    def row(name, table, *wanted, listed="[seed.txt]\nRun.go\n"):
        head = "| name | C++ | header | test | note |\n|---|---|---|---|---|\n"
        contents = {LIST: listed, TABLE: table.replace("HEAD\n", head), "core/run.h": HEADER,
                    "core/run_test.cc": "TEST(RunTest, Goes) {}\n"}
        tree.expect(name, tree.planted(check, contents), wanted)

    def symbol(name, *wanted):
        row(name, f"{sums}HEAD\n| `Run.go` | `{name}` | `core/run.h` | `core/run_test.cc` RunTest.Goes | |\n", *wanted)

    sums = "Names: 1. With a C++ name: 1. Not applicable: 0. Missing: 0.\n"
    for there in ("Run", "Run::Run", "Run::Run(options)", "Run::Go", "Run::Go(feeds)", "Run::Go(more)", "Run::done", "Start",
                  "Start(env)", "RunPtr", "kRunners", "Options::hooks", "Options::grace", "Color::kRed", "Color::kGreen"):
        symbol(there)
    for gone in ("NotThere", "Forward", "Run::Went", "Run::Go(fetches)", "Run::inside", "hooks", "Color::kBlue", "Options::Start",
                 "Options::not_there", "Go", "Run::int"):
        symbol(gone, f"core/run.h does not declare {gone}")
    row("no header", f"{sums}HEAD\n| `Run.go` | `Run` | `core/runs.h` | `core/run_test.cc` RunTest.Goes | |\n", "no header `core/runs.h`")
    row("no test", f"{sums}HEAD\n| `Run.go` | `Run` | `core/run.h` | `core/run_test.cc` RunTest.Stops | |\n",
        "docs/features.md:4: there is no RunTest.Stops")
    row("empty test", f"{sums}HEAD\n| `Run.go` | `Run` | `core/run.h` | | |\n", "'' is no reference")
    row("no row", f"{sums}HEAD\n| `Run.go` | `Run` | `core/run.h` | `core/run_test.cc` RunTest.Goes | |\n", "no row for Run.stop",
        "the sums are: Names: 2.", listed="[seed.txt]\nRun.go\nRun.stop\n")
    twins = "| `Run.*_dyn` | not applicable | | | another language's |\n"
    row("twins", f"Names: 2. With a C++ name: 0. Not applicable: 2. Missing: 0.\nHEAD\n{twins}", listed="Run.a_dyn\nRun.b_dyn\n")
    row("no twin", f"Names: 0. With a C++ name: 0. Not applicable: 0. Missing: 0.\nHEAD\n{twins}", "Run.*_dyn is not in the list", listed="")
    row("two rows", f"Names: 1. With a C++ name: 0. Not applicable: 2. Missing: 0.\nHEAD\n{twins}{twins}", "has another row",
        listed="Run.a_dyn\n")
    row("no reason", "Names: 1. With a C++ name: 0. Not applicable: 0. Missing: 1.\nHEAD\n| `Run.go` | missing | | | |\n", "missing: say why")
    row("missing", "Names: 1. With a C++ name: 0. Not applicable: 0. Missing: 1.\nHEAD\n| `Run.go` | missing | | | to do |\n")
    row("wrong sums", f"{sums}HEAD\n| `Run.go` | missing | | | to do |\n", "the sums are: Names: 1. With a C++ name: 0. Not applicable: 0. Missing: 1.")


if __name__ == "__main__":
    if sys.argv[1:] != ["--self-test"]:
        print("\n".join([*(f"missing: {name}: {note}" for name, note in names_in(tree.ROOT, "missing")), summary(tree.ROOT)]))
    tree.main(check, self_test)
