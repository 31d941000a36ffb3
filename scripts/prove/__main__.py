"""gmod prove: reads journals of launches and proves each access within its buffer, or says with which thread it is not. See
gmod-prove(1)."""
import argparse
import collections
import os
import re
import sys

if sys.version_info < (3, 8):
    sys.exit("gmod prove: needs Python 3.8 or later; this python3 is " + sys.version.split()[0])

# gmod report's words, page and suppressions.
sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "report"))

import alarms
import as_text
import cache
import html_parts
import journal
import proofs
import solver
import suppressions
import sweep
import tell_html
import tell_json
import tell_sarif
import tell_text
from beside import Beside
from schema import CLASSES


FOUND = 86  # as of gmod report

# launches: [(launch, times)], and a result for each; alarms: those that are not suppressed; undecided: as alarms.undecided().
Told = collections.namedtuple("Told", "launches results alarms covered undecided notes")


def say(text):
    print("gmod prove: " + as_text.clean(text), file=sys.stderr)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        say(f"{message}; see gmod prove --help")
        sys.exit(2)


def jobs(text):
    number = int(text)
    if not 1 <= number <= 1024:
        raise ValueError
    return number


def seconds(text):
    number = float(text)
    if not 0 < number <= 86400:
        raise ValueError
    return number


def folder(path):
    if not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{path} is no folder")
    return path


def varied(text):
    """(place, values) of --vary."""
    found = re.fullmatch(r"(\d{1,3})=(\d{1,9})\.\.(\d{1,9})", text)
    if not found or not 1 <= int(found[1]) or int(found[2]) > int(found[3]):
        raise argparse.ArgumentTypeError(f"{text} is not PLACE=FROM..TO, as 2=1..64 for the second argument")
    return int(found[1]), range(int(found[2]), int(found[3]) + 1)


def suppressing(path):
    try:
        return suppressions.read(path, {*CLASSES, *alarms.RULES, "*"})
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{path}: {error.strerror}")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error))


def arguments():
    parser = Parser(prog="gmod prove", allow_abbrev=False,
                    usage="gmod prove [options] folder...\n       gmod prove --sweep [options] -- command [argument...]",
                    description="Proves that the launches of journals access no memory outside their buffers, or says which can.")
    parser.add_argument("folder", nargs="+", metavar="folder|command",
                        help="what a program under gmod --journal=FOLDER has written; with --sweep a command and its arguments")
    parser.add_argument("--sweep", action="store_true",
                        help="run the command with other numbers, and kernels that do nothing, and prove what it would launch")
    parser.add_argument("--vary", metavar="N=FROM..TO", type=varied, action="append", default=[],
                        help="with --sweep: vary argument N alone, over these numbers; may be repeated")
    parser.add_argument("--seconds", metavar="SECONDS", type=seconds, default=60.0, help="with --sweep: for all of it (60)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")
    parser.add_argument("--html", metavar="FILE", help="write one HTML page there, too")
    parser.add_argument("--suppressions", metavar="FILE", type=suppressing, default=[], help="what is not to be reported")
    parser.add_argument("--ptx", metavar="DIR", type=folder, action="append", default=[],
                        help="where .ptx files lie, for images that have no PTX; may be repeated")
    parser.add_argument("--no-cache", action="store_true", help="neither use verdicts of earlier runs nor keep these")
    parser.add_argument("--fail", action="store_true", help="end with status 86 if an access is possibly out of bounds")
    parser.add_argument("-j", "--jobs", metavar="N", type=jobs, default=os.cpu_count() or 1, help="so many processes (all CPUs)")
    parser.add_argument("--time-limit", metavar="SECONDS", type=seconds, default=2.0,
                        help="for an access (2); five times that for a launch")
    given = parser.parse_args()
    if not given.sweep and os.access(given.folder[0], os.X_OK) and not os.path.isdir(given.folder[0]):
        parser.error(f"{given.folder[0]} is a program and no folder: did you mean gmod prove --sweep -- {' '.join(given.folder)}")
    if given.vary and not given.sweep:
        parser.error("--vary goes with --sweep")
    return given


def coverage(journals):
    """Notes: what the journals do not have."""
    notes = []
    killed = sum(not one.ended for one in journals)
    if killed:
        notes.append(f"{killed} journal{'s have' if killed > 1 else ' has'} no last line: the process was killed, or still runs")
    unseen = journal.unseen(journals)
    if unseen:
        notes.append(unseen)
    dropped = sum(one.dropped for one in journals)
    if dropped:
        notes.append(f"{dropped} signatures were dropped")
    return notes


def prover_notes(results):
    notes = []
    files = {result.ptx for result in results} - {None}
    if files:
        notes.append(f"{as_text.plural(len(files), 'text')} of PTX came from files, as --json names them: the images have none")
    if solver.z3 is None:
        missed = sum(access["reason"] == solver.MISSING for result in results for access in result.accesses)
        notes.append(f"{solver.MISSING}, so only intervals were asked"
                     + (f"; {as_text.plural(missed, 'access')} {'are' if missed > 1 else 'is'} undecided for want of it" if missed else "")
                     + ": pip install z3-solver")
    return notes


def from_journals(options, prover, _, terminal):
    """(launches, results, problems, notes)"""
    journals, problems = journal.read(options.folder)
    launches = proofs.distinct(journals)

    def progress(done):
        if terminal:
            print(f"\rgmod prove: {done} of {len(launches)} launch signatures", end="", file=sys.stderr, flush=True)
    results = proofs.prove_all([launch for launch, _ in launches], prover, options.jobs, progress)
    return launches, results, problems, coverage(journals)


def from_runs(options, prover, beside, terminal):
    """The same, of runs of a command."""
    def progress(done, runs):
        if terminal:
            print(f"\rgmod prove: {runs} runs, {done} launch signatures", end="", file=sys.stderr, flush=True)
    try:
        found = sweep.swept(options.folder, dict(options.vary), options.seconds, prover, beside, options.jobs, progress)
    except sweep.NoRuns as why:
        say(str(why))
        sys.exit(2)
    return found.launches, found.results, [], found.notes


def main():
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    options = arguments()
    terminal = sys.stderr.isatty()
    limits = options.time_limit, 5 * options.time_limit
    kept = cache.Cache(None if options.no_cache else cache.folder(), limits)
    beside = Beside(options.ptx)
    launches, results, problems, notes = (from_runs if options.sweep else from_journals)(
        options, proofs.Prover(limits, beside, kept), beside, terminal)
    kept.trim()
    if terminal and launches:
        print(file=sys.stderr)
    notes += alarms.put_lines(launches, results)
    kernels = alarms.Kernels(launches)
    found, covered, unused = alarms.judged(launches, results, kernels, options.suppressions)
    notes += prover_notes(results)
    if unused:
        notes.append("suppressions that covered nothing: " + ", ".join(unused))
    told = Told(launches, results, found, covered, alarms.undecided(launches, results, kernels), notes)
    if options.html:
        problems += html_parts.write(options.html, tell_html.render(told, problems))
    problems += as_text.put((tell_json if options.json else tell_sarif if options.sarif else tell_text).render(told))
    for problem in problems:
        say(problem)
    return 1 if problems else FOUND if options.fail and found else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
