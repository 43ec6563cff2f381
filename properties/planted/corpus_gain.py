#!/usr/bin/env python3
"""How many scenarios it takes to find a planted bug, by chance and with a corpus.

usage: corpus_gain.py PROGRAM --bugs ID,ID,... [--starts 3] [--most 5000] [--corpus DIR] [--jobs 2]

The corpus is one that a campaign over the library as it is has kept (vigil check --suite random --corpus DIR): its scenarios count as
played when they are played again. Each bug is looked for from several first seeds, in both ways from the same ones. What is not found
within --most counts as --most. Prints a line for each, and the medians.
"""

import argparse
import re
import shutil
import signal
import statistics
import subprocess
import tempfile


def first_failure(command, most, with_corpus):
    """The number of the first play that fails; it is ended as soon as there is one."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    number = None
    for line in process.stdout:
        failed = re.match(r"FAILED (\w+)_(\d+)", line)
        if failed and number is None:
            number = int(failed.group(2))
            process.send_signal(signal.SIGINT)
        play = re.match(r"  the first failure was play (\d+)", line)
        if play and with_corpus:
            number = int(play.group(1))
    process.wait()
    return most if number is None else number


def run(arguments, bug, seed, corpus):
    with tempfile.TemporaryDirectory() as folder:
        command = [arguments.program, "check", "--suite", "random", "--plant", bug, "--jobs", str(arguments.jobs),
                   "--seeds", f"{seed}..{seed + arguments.most - 1}", "--failures", f"{folder}/failures"]
        if corpus is None:
            found = first_failure(command, seed + arguments.most - 1, False)
            return found - seed + 1
        kept = f"{folder}/corpus"
        if corpus:
            shutil.copytree(corpus, kept)
        return first_failure([*command, "--corpus", kept], arguments.most, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--bugs", required=True)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--most", type=int, default=5000)
    parser.add_argument("--corpus", default="")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    chances, gains = [], []
    for bug in arguments.bugs.split(","):
        for start in range(arguments.starts):
            seed = 1_000_001 + 100_000 * start
            chance = run(arguments, bug, seed, None)
            gain = run(arguments, bug, seed, arguments.corpus)
            chances.append(chance)
            gains.append(gain)
            print(f"{bug:<48}{seed:>10}{chance:>8}{gain:>8}", flush=True)
    print(f"median of {len(chances)}: {statistics.median(chances)} by chance, {statistics.median(gains)} with a corpus")


main()
