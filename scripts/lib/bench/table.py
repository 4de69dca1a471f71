"""Results as Markdown."""

import statistics

import scaling
from results import (best_peer, distribution_of, gkeys, ours, peers, power_text, type_of)


def row(cells):
    return "| " + " | ".join(cells) + " |"


def table(head, rows):
    return [row(head), "|" + "---|" * len(head)] + [row(cells) for cells in rows] + [""]


def names_of_peers(cases):
    names = []
    for case in cases:
        names += [peer["name"] for peer in peers(case) if peer["name"] not in names]
    return names


def peer_cells(case, names):
    by_name = {peer["name"]: peer for peer in peers(case)}
    cells = []
    for name in names:
        peer = by_name.get(name)
        cells += [f"{1e3 * peer['median_s']:.3f}", f"{peer['ratio']:.2f}"] if peer else ["", ""]
    return cells


def case_cells(case):
    us = ours(case)
    spread = 50 * (us["most_s"] - us["least_s"]) / us["median_s"]
    return [f"{1e3 * us['median_s']:.3f}", f"± {spread:.0f} %", f"{gkeys(case, us):.3g}",
            f"{100 * case['share_of_bound']:.0f} %"]


def timing_table(cases, first_head, first_cell):
    names = names_of_peers(cases)
    head = [first_head, "n", "Kradix ms", "spread", "Gkeys/s", "bound"]
    for name in names:
        head += [f"{name} ms", "ratio"]
    return table(head, [[first_cell(case), power_text(case["count"])] + case_cells(case)
                        + peer_cells(case, names) for case in cases])


def summary_table(cases):
    """Per type: the geometric mean over n of the ratio to the best peer, and the least of them."""
    rows = []
    for kind in dict.fromkeys(type_of(case) for case in cases):
        mine = [case for case in cases if type_of(case) == kind and best_peer(case)]
        if not mine:
            continue
        ratios = [best_peer(case)["ratio"] for case in mine]
        least = min(mine, key=lambda case: best_peer(case)["ratio"])
        rows.append([kind, f"{statistics.geometric_mean(ratios):.2f}", f"{min(ratios):.2f}",
                     f"{power_text(least['count'])} {distribution_of(least)}, {best_peer(least)['name']}"])
    return table(["", "ratio to the best peer, geometric mean", "least", "there"], rows)


def memory_table(cases):
    rows = []
    for case in cases:
        cells = [f"{c['name']} {c['temporary_bytes'] / case['count']:.2f}"
                 for c in case["contenders"] if "temporary_bytes" in c]
        rows.append([type_of(case), power_text(case["count"]), ", ".join(cells)])
    return table(["", "n", "temporary bytes an element"], rows)


def phase_table(cases):
    rows = []
    for case in cases:
        total = sum(phase["seconds"] for phase in case["phases"])
        cells = [f"{phase['kernel'].rsplit('::', 1)[-1]} {1e3 * phase['seconds']:.3f}"
                 + (f" ({phase['launches']} ×)" if phase["launches"] > 1 else "")
                 for phase in case["phases"] if phase["seconds"] >= 0.005 * total]
        rows.append([type_of(case), power_text(case["count"]), f"{1e3 * total:.3f}", ", ".join(cells)])
    return table(["", "n", "all kernels ms", "kernels ms (those of 0.5 % and more)"], rows)


def markdown(result):
    machine, cases = result["machine"], result["cases"]
    lines = [f"# {machine['device']}, {result['date']}", "",
             f"{machine['machine']}{', commit ' + result['commit'] if result['commit'] else ''}, settings "
             f"{result['settings']}, {len(cases)} cases in {result['seconds']:.0f} s. A plain copy moves "
             f"{machine['copy_bytes_per_s'] * 1e-9:.0f} GB/s. Medians of rounds in which all took turns on the "
             "same data; every result was verified. Ratios are a peer's time over ours, round by round: above 1 "
             "Kradix is faster. *Bound* is the share of the time that the algorithm's own least bytes would take "
             "at the speed of the copy.", ""]
    uniform = [case for case in cases if case["distribution"] == "uniform"]
    others = [case for case in cases if case["distribution"] != "uniform"]
    lines += ["## Summary", ""] + summary_table(cases)
    for operation in dict.fromkeys(case["operation"] for case in uniform):
        kinds = list(dict.fromkeys(type_of(case) for case in uniform))
        mine = sorted((case for case in uniform if case["operation"] == operation),
                      key=lambda case: (kinds.index(type_of(case)), -case["count"]))
        lines += [f"## Uniform keys: {operation}", ""] + timing_table(mine, "", type_of)
    for kind in dict.fromkeys(type_of(case) for case in others):
        mine = [case for case in others if type_of(case) == kind]
        lines += [f"## Other inputs: {kind}", ""] + timing_table(mine, "input", distribution_of)
    largest = {type_of(case): case for case in sorted(uniform, key=lambda case: case["count"])}
    lines += ["## Memory", ""] + memory_table(list(largest.values()))
    phased = [case for case in cases if "phases" in case]
    if phased:
        lines += ["## Kernels", ""] + phase_table(phased)
    if "scaling" in result:
        lines += ["## Across ranks", ""] + [line.replace("## ", "### ") for line in scaling.sections(result["scaling"])]
    wrong = [f"- {c['name']}: {c['wrong']}" for case in cases for c in case["contenders"] if "wrong" in c]
    for title, items in [("Peers that gave a wrong result", wrong),
                         ("Failed", [f"- {f['case']}: {f['error']}" for f in result["failed"]]),
                         ("Left out for want of time", [f"- {text}" for text in result["skipped"]])]:
        if items:
            lines += [f"## {title}", ""] + items + [""]
    return "\n".join(lines)
