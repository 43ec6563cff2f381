#!/usr/bin/env python3
"""How many scenarios it takes to find a planted bug, by chance and with a corpus.

usage: corpus_gain.py PROGRAM [--over 500] [--starts 5] [--most 10000] [--grow 4000] [--bugs ID,ID,...] [--jobs 2]

First the bugs are chosen: those of the suite random (or of --bugs) that take more than --over scenarios in the median of --starts first
seeds; 0: all. Then each is looked for from as many other first seeds, by chance and with a corpus, another one for each of them, which a
campaign of --grow more seeds over the library as it is has kept. Its scenarios count as played when they are played again. What is not
found within --most counts as --most. Prints a line for each, and the medians.
"""

import argparse
import collections
import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile

import weave

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# Where seeds begin, of each start and each purpose: none is played for two of them.
MEASURED, CHOSEN, GROWN, APART = 1_000_001, 2_000_001, 3_000_001, 100_000


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


def check(arguments, seed, seeds, *more):
    return [arguments.program, "check", "--suite", "random", "--jobs", str(arguments.jobs), "--play-limit", "2s",
            "--seeds", f"{seed}..{seed + seeds - 1}", *more]


def take(arguments, bug, seed, corpus):
    """How many scenarios it takes; without a corpus by chance."""
    with tempfile.TemporaryDirectory() as folder:
        command = check(arguments, seed, arguments.most, "--plant", bug, "--failures", f"{folder}/failures")
        if corpus is None:
            return first_failure(command, seed + arguments.most - 1, False) - seed + 1
        shutil.copytree(corpus, f"{folder}/corpus")
        return first_failure([*command, "--corpus", f"{folder}/corpus"], arguments.most, True)


def is_rare(arguments, bug):
    """Ends when the median is certain."""
    took = []
    for start in range(arguments.starts):
        took.append(take(arguments, bug, CHOSEN + APART * start, None))
        if 2 * sum(one <= arguments.over for one in took) > arguments.starts:
            return False
    print(f"{bug:<56}takes {statistics.median(took)} in the median of {arguments.starts}", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--bugs", default="")
    parser.add_argument("--over", type=int, default=500)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--grow", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    bugs = [bug for bug in arguments.bugs.split(",") if bug] or [
        name for name, bug in weave.bugs_of(ROOT).items() if bug.get("suite") != "cluster"]
    if arguments.over:
        bugs = [bug for bug in bugs if is_rare(arguments, bug)]
    took = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for start in range(arguments.starts):
            corpus = f"{folder}/{start}"
            subprocess.run(check(arguments, GROWN + APART * start, arguments.grow, "--failures", f"{folder}/failures",
                                 "--corpus", corpus), stdout=subprocess.DEVNULL)
            for bug in bugs:
                seed = MEASURED + APART * start
                pair = (take(arguments, bug, seed, None), take(arguments, bug, seed, corpus))
                took[bug].append(pair)
                print(f"{bug:<56}{seed:>10}{pair[0]:>8}{pair[1]:>8}", flush=True)
    for bug, pairs in [*took.items(), ("all", sum(took.values(), []))]:
        chance, gain = (statistics.median(side) for side in zip(*pairs))
        print(f"{bug}: median of {len(pairs)}: {chance} by chance, {gain} with a corpus")


if __name__ == "__main__":
    main()
