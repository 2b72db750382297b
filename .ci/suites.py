"""What the tests over the scenario suites share: finding documents, and running the program."""

import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "scenarios"
SUITES = SCENARIOS / "suites"
SECONDS_MAX = 60
MANY_SECONDS_MAX = 600  # where one call does the work of many
DETAIL_LINES_MAX = 40


def files(*under):
    """The scenario files below a folder of the suites, as paths from the root, in name order; not
    those that `lapse run` skips."""
    found = sorted(path for path in SUITES.joinpath(*under).rglob("*.yaml")
                   if not (path.parent / ".lapse-skip").exists())
    return [path.relative_to(ROOT).as_posix() for path in found]


def every_file():
    """All that `lapse run scenarios` runs: the suites and what was once a fault."""
    found = sorted(SCENARIOS.joinpath("regressions").rglob("*.yaml"))
    return [path.relative_to(ROOT).as_posix() for path in found] + files()


def documents(lines):
    """(start, end) line indices of each document, end excluded."""
    marks = [i for i, line in enumerate(lines) if re.match(r"---(\s|$)", line)]
    starts = [0] + [mark + 1 for mark in marks]
    return list(zip(starts, marks + [len(lines)]))


def name_of(lines, document):
    for line in lines[document[0]:document[1]]:
        match = re.match(r"name:\s*(.*?)\s*$", line)
        if match:
            return match.group(1).strip("'\"")
    return ""


def run(lapse, arguments, folder, seconds=SECONDS_MAX):
    """(exit code, stdout) of one call of the program; its path is relative to our own folder."""
    done = subprocess.run([os.path.abspath(lapse)] + arguments, cwd=folder, capture_output=True,
                          check=False, timeout=seconds, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout.decode("utf-8", errors="replace")


def told_by_file(output):
    """{file: what a run says of it}: many files in one run cost one start of the program."""
    told, name = {}, ""
    for line in output.splitlines(keepends=True):
        match = re.match(r"(?:PASS|FAIL|OPEN)  (\S+\.yaml)\b", line)
        name = match.group(1) if match else "" if re.match(r"contracts: ", line) else name
        told[name] = told.get(name, "") + line
    return told


def replay_of(output):
    """The arguments of the replay command that a failing run ends with, or None."""
    lines = [line for line in output.splitlines() if line.strip()]
    match = re.match(r"replay\s+lapse (replay .*)$", lines[-1]) if lines else None
    return shlex.split(match.group(1)) if match else None


class Tap:
    """Prints one line a check; `bad` is how many failed."""

    def __init__(self):
        self.count = self.bad = 0

    def check(self, passed, name, *details):
        self.count += 1
        self.bad += not passed
        print("%sok %d - %s" % ("" if passed else "not ", self.count, name.replace("#", ".")))
        if not passed:
            for detail in details:
                for line in str(detail).splitlines()[-DETAIL_LINES_MAX:]:
                    print("# " + line)

    def end(self):
        """The exit code: a run that checked nothing fails."""
        print("1..%d" % self.count)
        return 1 if self.bad or not self.count else 0
