"""gmod prove: reads journals of launches and proves each access within its buffer, or says with which thread it is not. See
gmod-prove(1)."""
import argparse
import os
import sys

if sys.version_info < (3, 8):
    sys.exit("gmod prove: needs Python 3.8 or later; this python3 is " + sys.version.split()[0])

import as_json
import as_text
import journal
import proofs
import solver


FOUND = 86  # as of gmod report


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


def arguments():
    parser = Parser(prog="gmod prove", allow_abbrev=False,
                    description="Proves that the launches of journals access no memory outside their buffers, or says which can.")
    parser.add_argument("folder", nargs="+", help="what a program under gmod --journal=FOLDER has written")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--fail", action="store_true", help="end with status 86 if an access is possibly out of bounds")
    parser.add_argument("-j", "--jobs", metavar="N", type=jobs, default=os.cpu_count() or 1, help="so many processes (all CPUs)")
    parser.add_argument("--time-limit", metavar="SECONDS", type=seconds, default=2.0,
                        help="for an access (2); five times that for a launch")
    return parser.parse_args()


def coverage(journals):
    """Notes: what the journals do not have."""
    notes = []
    killed = sum(not one.ended for one in journals)
    if killed:
        notes.append(f"{killed} journal{'s have' if killed > 1 else ' has'} no last line: the process was killed, or still runs")
    unseen = sum(one.all_launches - one.looked_at for one in journals)
    if unseen > 0:
        notes.append(f"{unseen} launches were not looked at")
    dropped = sum(one.dropped for one in journals)
    if dropped:
        notes.append(f"{dropped} signatures were dropped")
    if solver.z3 is None:
        notes.append("z3-solver is not installed, so only intervals were asked: pip install z3-solver")
    return notes


def main():
    options = arguments()
    journals, problems = journal.read(options.folder)
    for problem in problems:
        say(problem)
    launches = proofs.distinct(journals)
    terminal = sys.stderr.isatty()

    def progress(done):
        if terminal:
            print(f"\rgmod prove: {done} of {len(launches)} launch signatures", end="", file=sys.stderr, flush=True)
    results = proofs.prove_all([launch for launch, _ in launches], (options.time_limit, 5 * options.time_limit),
                               options.jobs, progress)
    if terminal and launches:
        print(file=sys.stderr)
    render = as_json.render if options.json else as_text.render
    sys.stdout.write(render(launches, results, coverage(journals)))
    if problems:
        return 2
    return FOUND if options.fail and any(result.count("alarm") for result in results) else 0


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
