#!/usr/bin/env python3
"""Refuses a Markdown link to a file or heading that does not exist, and a "Tested by x_test.cc" without such a test,
in docs/differences.md a test (`Suite.Name`) that does not exist, and a `./vigil COMMAND` that the script does not know."""

import os
import re

import tree

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^()\s]+)\)|!\[[^\]]*\]\(([^()\s]+)\)")
COMMAND = re.compile(r"\./vigil ([a-z]+)\b")
TESTED_BY = re.compile(r"Tested by ([\w./, ]*\w+_test\.cc)")


def without_code(text):
    """Markdown with fenced blocks and inline code blanked out, line by line."""
    text = re.sub(r"^(```|~~~).*?^\1", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """The anchors of the headings, as hosts of Git repositories make them."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.M):
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found


def check_link(root, path, target):
    if re.match(r"[a-z]+:", target):
        return None
    file, _, anchor = target.partition("#")
    full = os.path.normpath(os.path.join(root, os.path.dirname(path), file)) if file else os.path.join(root, path)
    if not full.startswith(os.path.normpath(root)):
        return f"the link {target} leaves the repository"
    if not os.path.exists(full):
        return f"the link {target} leads nowhere"
    if anchor and full.endswith(".md") and anchor not in anchors(tree.read(root, os.path.relpath(full, root))):
        return f"no heading for the link {target}"
    return None


def check(root):
    errors = []
    for path in tree.files(root, ".md"):
        text = without_code(tree.read(root, path))
        for match in LINK.finditer(text):
            error = check_link(root, path, match.group(1) or match.group(2))
            if error:
                errors.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {error}")
    sources = tree.files(root, ".h", ".cc")
    tests = {p for p in sources if p.endswith("_test.cc")}
    names = tests | {os.path.basename(p) for p in tests}
    for path in sources + tree.files(root, ".md"):
        text = tree.read(root, path)
        for match in TESTED_BY.finditer(text):
            for name in re.findall(r"[\w./]+_test\.cc", match.group(1)):
                if name not in names:
                    line = text.count("\n", 0, match.start()) + 1
                    errors.append(f"{path}:{line}: {name} does not exist")
    known = set()
    for path in tests:
        for suite, name in re.findall(r"\bTEST(?:_[FP])?\((\w+),\s*(\w+)\)", tree.read(root, path)):
            known.add(f"{suite}.{name}")
    for path in tree.files(root, ".md"):
        if path != "docs/differences.md":
            continue
        for name in re.findall(r"`([A-Z]\w*\.[A-Z]\w*)`", tree.read(root, path)):
            if name not in known:
                errors.append(f"{path}: there is no test {name}")
    return errors + check_commands(root)


def check_commands(root):
    """A command that documents name, and the program has, may be missing in the script that is in front of it."""
    if not os.path.exists(os.path.join(root, "vigil")):
        return []
    script = tree.read(root, "vigil")
    cases = re.findall(r"^  ([\w| -]+)\)", script[script.rfind("\ncase ") :], re.M)
    known = {name.strip() for each in cases for name in each.split("|")}
    errors = []
    for path in tree.files(root, ".md"):
        text = tree.read(root, path)
        for match in COMMAND.finditer(text):
            if match.group(1) not in known:
                line = text.count("\n", 0, match.start()) + 1
                errors.append(f"{path}:{line}: the script vigil has no command {match.group(1)}")
    return errors


def self_test():
    def row(name, contents, *wanted):
        tree.expect(name, tree.planted(check, contents), wanted)

    row("good links", {"a.md": "# A b\n[x](docs/b.md) [y](#a-b) [z](docs/b.md#one-two) [w](https://example.org/x)\n",
                       "docs/b.md": "## One, two!\n[up](../a.md)\n"})
    row("no file", {"docs/a.md": "\n[x](b.md)\n"}, "docs/a.md:2: the link b.md leads nowhere")
    script = "#!/bin/bash\ncase ${1:-} in\n  test)\n    run ;;\n  check | diff) run ;;\nesac\n"
    row("commands of the script", {"a.md": "`./vigil diff a b`, `./vigil test`\n", "vigil": script})
    row("a command that the script lacks", {"a.md": "\n`./vigil merge a`\n", "vigil": script},
        "a.md:2: the script vigil has no command merge")
    row("no heading", {"a.md": "# A\n[x](#b)\n"}, "no heading for the link #b")
    row("outside", {"a.md": "[x](../elsewhere.md)\n"}, "leaves the repository")
    row("in code", {"a.md": "```\n[x](b.md)\n```\n`[x](b.md)`\n"})
    row("no image", {"a.md": "![x](b.png)\n"}, "b.png leads nowhere")
    row("tested", {"sim/a.cc": "// Tested by a_test.cc and more.\n", "sim/a_test.cc": ""})
    row("not tested", {"sim/a.cc": "\n// Tested by a_test.cc, sim/b_test.cc.\n", "sim/b_test.cc": ""},
        "sim/a.cc:2: a_test.cc does not exist")


if __name__ == "__main__":
    tree.main(check, self_test)
