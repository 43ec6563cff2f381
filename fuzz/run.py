#!/usr/bin/env python3
"""Runs the fuzzing programs (preset `fuzz`), one after the other, and says how many inputs each had and what it found.

  cmake --preset fuzz && cmake --build --preset fuzz
  fuzz/run.py --inputs 100000            # of each target
  fuzz/run.py --inputs 100000 wire tensor
  fuzz/run.py wire=10000 events=4000000  # a number for each: the slowest reads some hundred a second, the fastest ten thousand

What libFuzzer learns is kept in build/fuzz/corpus/TARGET and used the next time. A finding is written to build/fuzz/findings/TARGET:
mend it and copy the input to fuzz/corpus/TARGET, which the ordinary tests run. Exit: 1 if there was a finding.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "fuzz"
MOST_MIB = 2560
MOST_SECONDS_AN_INPUT = 20
INTERRUPTED = 72  # what libFuzzer ends with once it was told to (SIGINT)


def programs():
    """The fuzzing programs by target."""
    found = {}
    for path in sorted((BUILD / "fuzz").glob("fuzz_*")):
        if path.is_file() and os.access(path, os.X_OK) and not path.name.endswith("_test"):
            found[path.name.removeprefix("fuzz_")] = path
    return found


def play(name, program, inputs, seconds):
    """Runs one target. Returns inputs played, edges covered, files of findings."""
    corpus = BUILD / "corpus" / name
    findings = BUILD / "findings" / name
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([program, "--write-seeds", corpus], check=True, stderr=subprocess.DEVNULL)
    folders = [corpus]
    if (ROOT / "fuzz" / "corpus" / name).is_dir():
        folders.append(ROOT / "fuzz" / "corpus" / name)
    command = [program, f"-runs={inputs}", f"-rss_limit_mb={MOST_MIB}", f"-timeout={MOST_SECONDS_AN_INPUT}", f"-report_slow_units={MOST_SECONDS_AN_INPUT}",
               f"-artifact_prefix={findings}/", "-max_len=20000", "-print_final_stats=1", "-verbosity=1", "-seed=1",
               # Twice as many inputs a second: short ones first, no count of what each covered rarely, no tracing of memory.
               "-len_control=100", "-entropic=0", "-detect_leaks=0"]
    if seconds:
        command.append(f"-max_total_time={seconds}")
    environment = dict(os.environ, ASAN_OPTIONS="allocator_may_return_null=1:detect_leaks=0:detect_stack_use_after_return=0")
    before = set(findings.iterdir())
    ended = subprocess.run(["nice", "-n", "10", *command, *folders], env=environment, capture_output=True, text=True, errors="replace",
                           check=False)
    executed = re.findall(r"stat::number_of_executed_units:\s*(\d+)", ended.stderr) or re.findall(r"#(\d+)\t", ended.stderr)
    edges = re.findall(r"cov: (\d+)", ended.stderr)
    new = sorted(set(findings.iterdir()) - before)
    if ended.returncode not in (0, INTERRUPTED):
        (findings / "last.log").write_text(ended.stderr)
        if not new:
            new = [findings / "last.log"]
    return int(executed[-1]) if executed else 0, int(edges[-1]) if edges else 0, new


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=10000, help="of each target")
    parser.add_argument("--seconds", type=int, default=0, help="at most, of each target")
    parser.add_argument("targets", nargs="*", help="NAME or NAME=INPUTS; all if none is named")
    options = parser.parse_args()
    known = programs()
    wanted = [(name, int(count) if count else options.inputs) for name, _, count in (each.partition("=") for each in options.targets)]
    unknown = [name for name, _ in wanted if name not in known]
    if unknown or not known:
        sys.exit(f"no fuzzing program for {', '.join(unknown)}" if unknown else "build them first: cmake --build --preset fuzz")
    total = findings = 0
    start = time.monotonic()
    for name, most in wanted or [(name, options.inputs) for name in known]:
        begin = time.monotonic()
        inputs, edges, found = play(name, known[name], most, options.seconds)
        total += inputs
        findings += len(found)
        print(f"{name:12} {inputs:10,} inputs {edges:7,} edges {time.monotonic() - begin:6.0f} s  {len(found)} findings", flush=True)
        for path in found:
            print(f"  {path}", flush=True)
    print(f"{'all':12} {total:10,} inputs {time.monotonic() - start:20.0f} s  {findings} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
