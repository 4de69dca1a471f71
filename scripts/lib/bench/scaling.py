"""Strong and weak scaling of the distributed sort: runs bench_mpi, tells and draws what came of it."""

import json
import os
import subprocess

from measure import BenchError

# Phases of a distributed sort, as bench_mpi names them.
PHASES = ["check", "survey", "first_sort", "splitters", "partition", "allocate", "exchange", "sort"]


def run(launcher, program, ranks, options):
    """One line of JSON from a run on so many ranks."""
    command = launcher.format(ranks=ranks).split() + [program, "--json"] + options
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False)
    except OSError as error:
        raise BenchError(f"cannot run {command[0]}: {error.strerror}") from error
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BenchError(f"{' '.join(command)} ended with status {done.returncode}: {last}")
    return json.loads(lines[-1])


def measure(launcher, program, ranks, count, options, show=print):
    """Weak scaling has `count` keys a rank, strong scaling `count` in all."""
    runs = []
    for scaling, size in (("weak", "--count"), ("strong", "--total")):
        for number in ranks:
            done = run(launcher, program, number, [size, str(count)] + options)
            runs.append(dict(done, scaling=scaling))
            show(f"{scaling}, {number} ranks: {done['total']} keys in {1e3 * done['seconds']:.3f} ms, "
                 f"{done['total'] / done['seconds'] * 1e-9:.3g} Gkeys/s")
    return runs


def of_settings(launcher, program, settings, machine, show=print):
    """What the settings ask for, on as many ranks as there are devices, or cores of a host; {} if that is one."""
    most = os.cpu_count() if machine["host"] else machine.get("devices", 1)
    wanted = settings.get("scaling", {})
    ranks = [number for number in wanted.get("ranks", []) if number <= most]
    if len(ranks) < 2:
        return {}
    count = 2 ** wanted["power"]["host" if machine["host"] else "device"]
    return {"launcher": launcher, "runs": measure(launcher, program, ranks, count, [], show)}


def efficiency(runs, done):
    """Of a rank, compared with the fewest ranks that were measured: 1 is perfect."""
    first = min((r for r in runs if r["scaling"] == done["scaling"]), key=lambda r: r["ranks"])
    return (done["total"] / done["seconds"] / done["ranks"]) / (first["total"] / first["seconds"] / first["ranks"])


def markdown(result):
    """A page of its own."""
    return "\n".join([f"# Distributed sort, {result['date']}", ""] + sections(result))


def sections(result):
    runs = result["runs"]
    lines = [f"`{result['launcher']}`; {runs[0]['key']} keys" + (" with 4 B" if runs[0]["values"] else "")
             + f", {runs[0]['distribution']}. Medians of the slowest rank, verified. *Bound* is the time of the local "
             "sort alone and an all-to-all of the same bytes, over ours.", ""]
    for scaling in ("weak", "strong"):
        lines += [f"## {scaling.capitalize()} scaling", "",
                  "| ranks | keys | ms | Gkeys/s | efficiency | bound | imbalance | route | "
                  + " | ".join(phase.replace("_", " ") for phase in PHASES) + " |", "|" + "---|" * (8 + len(PHASES))]
        for done in runs:
            if done["scaling"] != scaling:
                continue
            bound = (done["local_sort"] + done["alltoall"]) / done["seconds"]
            cells = [str(done["ranks"]), str(done["total"]), f"{1e3 * done['seconds']:.3f}",
                     f"{done['total'] / done['seconds'] * 1e-9:.3g}", f"{efficiency(runs, done):.2f}",
                     f"{100 * bound:.0f} %", f"{done['imbalance']:.4f}",
                     f"{done['work']}, {done['transport']}, {done['route']}"]
            lines.append("| " + " | ".join(cells + [f"{1e3 * done[phase]:.3f}" for phase in PHASES]) + " |")
        lines.append("")
    return lines


def draw(result, folder):
    """Throughput and phases against ranks; returns the names of the plots."""
    import plot  # needs matplotlib

    os.makedirs(folder, exist_ok=True)
    names = []
    for scaling in ("weak", "strong"):
        runs = sorted((r for r in result["runs"] if r["scaling"] == scaling), key=lambda r: r["ranks"])
        ranks = [r["ranks"] for r in runs]
        rates = [r["total"] / r["seconds"] * 1e-9 for r in runs]
        title = f"{scaling} scaling, {runs[0]['key']}, {runs[0]['distribution']}"
        figure, axes = plot.new_axes(title, "ranks", "Gkeys/s")
        axes.plot(ranks, rates, marker="o", color=plot.OURS, linewidth=2.4, label="Kradix")
        axes.plot(ranks, [rates[0] * number / ranks[0] for number in ranks], "--", color="#444", linewidth=1,
                  label="perfect")
        bounds = [r["total"] / (r["local_sort"] + r["alltoall"]) * 1e-9 for r in runs]
        axes.plot(ranks, bounds, ":", color="#1f77b4", label="local sort + all-to-all")
        axes.set_xscale("log", base=2)
        axes.set_xticks(ranks, [str(number) for number in ranks])
        axes.set_yscale("log", base=2)
        axes.legend(fontsize=7)
        plot.save(figure, folder, f"{scaling}_scaling")
        figure, axes = plot.new_axes(title, "ranks", "ms")
        bottoms = [0.0] * len(runs)
        for index, phase in enumerate(PHASES):
            heights = [1e3 * r[phase] for r in runs]
            axes.bar(range(len(runs)), heights, bottom=bottoms, label=phase.replace("_", " "),
                     color=plot.COLORS[index])
            bottoms = [bottom + height for bottom, height in zip(bottoms, heights)]
        axes.set_xticks(range(len(runs)), [str(number) for number in ranks])
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        plot.save(figure, folder, f"{scaling}_phases")
        names += [f"{scaling}_scaling", f"{scaling}_phases"]
    return names
