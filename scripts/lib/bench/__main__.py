"""Measures, reports, compares:

  python3 scripts/lib/bench --program BUILD/bin/bench_sort [--settings quick] [--out results]
  python3 scripts/lib/bench --report results/FILE.json
  python3 scripts/lib/bench --result results/FILE.json --baseline OLDER.json
  python3 scripts/lib/bench --program BUILD/bin/bench_sort --against OTHER_BUILD/bin/bench_sort
  python3 scripts/lib/bench --mpi "mpirun -n {ranks}" --program BUILD/bin/bench_mpi --ranks 1,2,4,8

Measuring and comparing need Python alone; the plots of a report need matplotlib."""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402
import grid  # noqa: E402
import measure  # noqa: E402
import results  # noqa: E402
import scaling  # noqa: E402
import table  # noqa: E402

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def arguments():
    parser = argparse.ArgumentParser(prog="bench", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="a bench_sort to measure with")
    parser.add_argument("--settings", default="quick", help="quick (2 minutes), standard, full (quick)")
    parser.add_argument("--settings-file", default=os.path.join(REPOSITORY, "perf_tests", "settings.json"))
    parser.add_argument("--budget", type=float, help="seconds; the settings' own otherwise")
    parser.add_argument("--options", default="", help="more options of bench_sort, for every case")
    parser.add_argument("--out", default="results", help="folder of the results (results)")
    parser.add_argument("--report", metavar="FILE", help="draw FILE anew; measure nothing")
    parser.add_argument("--no-report", action="store_true", help="measure and write the JSON only")
    parser.add_argument("--result", metavar="FILE", help="compare FILE; measure nothing")
    parser.add_argument("--baseline", metavar="FILE", help="compare with FILE")
    parser.add_argument("--against", metavar="PROGRAM", help="compare with an older bench_sort, both taking turns")
    parser.add_argument("--blocks", type=int, default=6, help="turns of either on each case, with --against (6)")
    parser.add_argument("--threshold", type=float, default=3, help="percent slower that is an error (3)")
    parser.add_argument("--noise", type=float, help="percent that is always noise (3 on hosts, 1 on devices)")
    parser.add_argument("--mpi", metavar="LAUNCHER", help="scaling of bench_mpi, started by this with {ranks}")
    parser.add_argument("--mpi-program", metavar="PROGRAM", help="a bench_mpi: also measure scaling, after the grid")
    parser.add_argument("--ranks", default="1,2,4,8", help="numbers of ranks, with --mpi (1,2,4,8)")
    parser.add_argument("--count", type=int, default=1 << 20, help="keys a rank, or in all, with --mpi (2^20)")
    return parser.parse_args()


def measured(options):
    settings = settings_of(options)
    result = measure.measure([os.path.abspath(options.program)], settings, options.options)
    if options.mpi_program:
        add_scaling(result, options, settings)
    path = results.save(result, options.out, REPOSITORY)
    print(f"{len(result['cases'])} cases in {result['seconds']:.0f} s, {len(result['skipped'])} left out for want of "
          f"time, {len(result['failed'])} failed: {path}")
    for failure in result["failed"]:
        print(f"failed: {failure['case']}: {failure['error']}")
    return path


def add_scaling(result, options, settings):
    """Across ranks, where there is more than one device or core."""
    try:
        found = scaling.of_settings(options.mpi or "mpirun -n {ranks}", os.path.abspath(options.mpi_program), settings,
                                    result["machine"])
    except measure.BenchError as error:
        result["failed"].append({"case": "scaling", "error": str(error)})
        return
    if found:
        result["scaling"] = found


def settings_of(options):
    settings = grid.load_settings(options.settings_file, options.settings)
    if options.budget:
        settings["budget_seconds"] = options.budget
    return settings


def passes_against(options):
    """The program against an older one: is none of the cases slower?"""
    if options.blocks < 4:
        sys.exit(f"bench: --blocks {options.blocks} are too few to tell a change from noise: 4 at least")
    done = measure.duel([os.path.abspath(options.against)], [os.path.abspath(options.program)],
                        settings_of(options), "", options.options, options.blocks)
    noise = 1.0 if options.noise is None else options.noise
    changes = [compare.change_of_blocks(case, pairs, noise) for case, pairs in done]
    return compare.verdict(changes, options.threshold, noise, print)


def measured_scaling(options):
    ranks = [int(number) for number in options.ranks.split(",")]
    runs = scaling.measure(options.mpi, os.path.abspath(options.program), ranks, options.count,
                           options.options.split())
    path = results.save({"machine": {"device": "mpi"}, "launcher": options.mpi, "runs": runs}, options.out, REPOSITORY)
    print(f"{len(runs)} runs: {path}")
    return path


def report(path):
    """The Markdown table beside the results, and a folder of plots where they can be drawn."""
    result = results.load(path)
    stem = os.path.splitext(path)[0]
    of_ranks = "runs" in result
    text = scaling.markdown(result) if of_ranks else table.markdown(result)
    try:
        import plot
        names = [] if of_ranks else plot.draw(result, stem)
        if of_ranks or "scaling" in result:
            names += scaling.draw(result if of_ranks else result["scaling"], stem)
        folder = os.path.basename(stem)
        text += "\n## Plots\n\n" + "".join(f"![{name}]({folder}/{name}.png)\n\n" for name in names)
        print(f"{len(names)} plots as SVG and PNG: {stem}/")
    except ImportError as error:
        print(f"no plots ({error}); once matplotlib is there: --report {path}")
    with open(stem + ".md", "w", encoding="utf-8") as file:
        file.write(text)
    print(f"tables: {stem}.md")


def main():
    options = arguments()
    path = options.result or options.report
    if not path and not options.program:
        sys.exit("bench: --program says which bench_sort to measure with (or --report, --result); see --help")
    try:
        failed = False
        if options.against:
            sys.exit(0 if passes_against(options) else 3)
        if options.mpi and not path and not options.mpi_program:
            path = measured_scaling(options)
        elif not path:
            path = measured(options)
            failed = bool(results.load(path)["failed"])
        if not options.no_report and not options.result:
            report(path)
        if options.baseline and not compare.compare(results.load(options.baseline), results.load(path),
                                                    options.threshold, options.noise):
            sys.exit(3)
    except (grid.SettingsError, measure.BenchError, OSError) as error:
        sys.exit(f"bench: {error}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
