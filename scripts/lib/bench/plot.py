"""Draws results with matplotlib: SVG and PNG."""

import math
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend comes first)

from results import (best_peer, distribution_of, gkeys, ours, peers, power_text, roof_gkeys,  # noqa: E402
                     type_of)

OURS = "#c8102e"
COLORS = ["#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#17becf", "#bcbd22", "#ff7f0e",
          "#7f7f7f", "#000080", "#556b2f"]


DASHES = ["-", "--", ":"]  # of peers beyond the colours


def color_of(name, names):
    return OURS if name == "Kradix" else COLORS[names.index(name) % len(COLORS)]


def dash_of(name, names):
    return "-" if name == "Kradix" else DASHES[names.index(name) // len(COLORS) % len(DASHES)]


def names_in(cases):
    names = []
    for case in cases:
        names += [peer["name"] for peer in peers(case) if peer["name"] not in names]
    return names


def kinds_in(cases):
    return list(dict.fromkeys(type_of(case) for case in cases))


def new_axes(title, x_name, y_name, width=7.5):
    figure, axes = plt.subplots(figsize=(width, 4.6))
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    axes.grid(True, color="#ddd")
    axes.set_axisbelow(True)
    return figure, axes


def draw_lines(axes, cases, x_of, result):
    """Everyone's throughput, in the same colours all over a report, and the byte bound as a roof."""
    names = names_in(result["cases"])
    cases = sorted(cases, key=x_of)
    for name in ["Kradix"] + names:
        points = [(x_of(case), gkeys(case, c)) for case in cases for c in [ours(case)] + peers(case)
                  if c["name"] == name]
        if not points:
            continue
        axes.plot(*zip(*points), marker="o", markersize=3, label=name, color=color_of(name, names),
                  linestyle=dash_of(name, names), linewidth=2.4 if name == "Kradix" else 1.1, zorder=3 if name == "Kradix" else 2)
    roofs = [(x_of(case), roof_gkeys(case)) for case in cases if roof_gkeys(case)]
    if roofs:
        axes.plot(*zip(*roofs), color="#444", linestyle="--", linewidth=1, label="byte bound of our plan")
    if result["machine"]["host"]:  # where peers differ by factors of a hundred
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def slug(text):
    return "".join(c if c.isalnum() else "_" for c in text).strip("_").replace("__", "_")


def throughput(result):
    """Against n, per type."""
    uniform = [case for case in result["cases"] if case["distribution"] == "uniform"]
    for kind in kinds_in(uniform):
        cases = [case for case in uniform if type_of(case) == kind]
        if len(cases) < 2:
            continue
        figure, axes = new_axes(f"{kind}, uniform keys: {result['machine']['device']}", "keys", "Gkeys/s")
        draw_lines(axes, cases, lambda case: case["count"], result)
        axes.set_xscale("log", base=2)
        yield f"throughput_{slug(kind)}", figure


def heat_map(result):
    """The ratio to the best peer: types against n."""
    uniform = [case for case in result["cases"] if case["distribution"] == "uniform" and best_peer(case)]
    if not uniform:
        return
    kinds, counts = kinds_in(uniform), sorted({case["count"] for case in uniform})
    figure, axes = plt.subplots(figsize=(2.2 + 0.62 * len(counts), 1.2 + 0.34 * len(kinds)))
    grid = [[math.nan] * len(counts) for _ in kinds]
    for case in uniform:
        ratio = best_peer(case)["ratio"]
        y, x = kinds.index(type_of(case)), counts.index(case["count"])
        grid[y][x] = max(-1.5, min(1.5, math.log2(ratio)))
        axes.text(x, y, f"{ratio:.2f}", ha="center", va="center", fontsize=7)
    axes.imshow(grid, cmap="RdYlGn", vmin=-1.5, vmax=1.5, aspect="auto")
    axes.set_xticks(range(len(counts)), [power_text(count) for count in counts])
    axes.set_yticks(range(len(kinds)), kinds)
    axes.set_title(f"times as fast as the best peer, uniform keys: {result['machine']['device']}", fontsize=9)
    yield "ratios", figure


def entropy_of(case):
    """Bits of entropy a bit of the AND of P random words."""
    chance = 0.5 ** case["parameter"]
    return -chance * math.log2(chance) - (1 - chance) * math.log2(1 - chance)


# (name, distribution, x axis, logarithm's base or 0, x of a case, does the uniform case belong to it?)
CURVES = [
    ("entropy", "and_words", "bits of entropy a bit of the key", 0, entropy_of, lambda case: 1.0),
    ("key_range", "max_value", "bits of the greatest key", 0,
     lambda case: math.log2(case["parameter"] + 1), None),
    ("distinct", "some_values", "distinct keys", 10, lambda case: case["parameter"],
     lambda case: case["count"]),
    ("sortedness", "disorder", "places of a sorted input that are random, %", -1,
     lambda case: case["parameter"] * 1e-4, None),
]


def curves(result):
    """Throughput against what the input is like."""
    for name, distribution, x_name, base, x_of, uniform_x in CURVES:
        all_of_it = [case for case in result["cases"] if case["distribution"] == distribution]
        for kind in kinds_in(all_of_it):
            count = max(case["count"] for case in all_of_it if type_of(case) == kind)
            cases = [case for case in result["cases"] if type_of(case) == kind and case["count"] == count
                     and (case["distribution"] == distribution
                          or (uniform_x and case["distribution"] == "uniform"))]
            if len(cases) < 2:
                continue
            figure, axes = new_axes(f"{kind}, {power_text(count)} keys: {result['machine']['device']}",
                                    x_name, "Gkeys/s")
            draw_lines(axes, cases,
                       lambda case: uniform_x(case) if case["distribution"] == "uniform" else x_of(case),
                       result)
            if base > 0:
                axes.set_xscale("log", base=base)
            elif base < 0:
                axes.set_xscale("symlog", linthresh=1e-3)
                axes.set_xlim(left=0)
            yield f"{name}_{slug(kind)}", figure


def distributions(result):
    """Ratios to the best peer, one bar a distribution."""
    named = [case for case in result["cases"] if "parameter" not in case and best_peer(case)]
    for kind in kinds_in(named):
        cases = [case for case in named if type_of(case) == kind]
        count = max((case["count"] for case in cases if case["distribution"] != "uniform"), default=None)
        cases = [case for case in cases if case["count"] == count]
        if len(cases) < 3:
            continue
        figure, axes = new_axes(f"{kind}, {power_text(count)} keys: {result['machine']['device']}", "",
                                "times as fast as the best peer", width=0.32 * len(cases) + 2)
        ratios = [best_peer(case)["ratio"] for case in cases]
        axes.bar(range(len(cases)), ratios, color=[OURS if ratio >= 1 else "#999" for ratio in ratios])
        axes.set_xticks(range(len(cases)), [distribution_of(case) for case in cases], rotation=90, fontsize=7)
        axes.axhline(1, color="#444", linewidth=1)
        yield f"distributions_{slug(kind)}", figure


def memory(result):
    """Temporary bytes an element, of everyone who tells. (Of few elements, what does not grow with them counts.)"""
    uniform = [case for case in result["cases"] if case["distribution"] == "uniform"]
    uniform = [case for case in uniform if 64 * case["count"] >= max(other["count"] for other in uniform)]
    largest = list({type_of(case): case for case in sorted(uniform, key=lambda c: c["count"])}.values())
    names = []
    for case in largest:
        names += [c["name"] for c in case["contenders"] if "temporary_bytes" in c and c["name"] not in names]
    if not names:
        return
    figure, axes = new_axes(f"temporary memory at the largest n: {result['machine']['device']}", "",
                            "bytes an element", width=1.1 * len(largest) + 2)
    width = 0.8 / len(names)
    for index, name in enumerate(names):
        bars = [(x + index * width, c["temporary_bytes"] / case["count"]) for x, case in enumerate(largest)
                for c in case["contenders"] if c["name"] == name and "temporary_bytes" in c]
        axes.bar(*zip(*bars), width=width, label=name, color=color_of(name, names))
    axes.set_xticks([x + 0.4 - width / 2 for x in range(len(largest))],
                    [f"{type_of(case)}\n{power_text(case['count'])}" for case in largest], fontsize=7)
    axes.legend(fontsize=7)
    yield "memory", figure


def phases(result):
    """Time of each kernel, stacked, in ns a key."""
    cases = [case for case in result["cases"] if "phases" in case]
    if not cases:
        return
    kernels = list(dict.fromkeys(p["kernel"].rsplit("::", 1)[-1] for case in cases for p in case["phases"]))
    figure, axes = new_axes(f"kernels of a sort: {result['machine']['device']}", "", "ns a key",
                            width=0.7 * len(cases) + 3.5)
    bottoms = [0.0] * len(cases)
    palette = plt.get_cmap("tab20")
    for index, kernel in enumerate(kernels):
        heights = [sum(p["seconds"] for p in case["phases"] if p["kernel"].endswith("::" + kernel))
                   / case["count"] * 1e9 for case in cases]
        axes.bar(range(len(cases)), heights, bottom=bottoms, label=kernel, color=palette(index % 20))
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights)]
    whole = [ours(case)["median_s"] / case["count"] * 1e9 for case in cases]
    axes.plot(range(len(cases)), whole, "k_", markersize=18, label="whole sort")
    axes.set_xticks(range(len(cases)), [f"{type_of(case)}\n{power_text(case['count'])}" for case in cases],
                    fontsize=6, rotation=90)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    yield "phases", figure


PLOTS = [throughput, heat_map, curves, distributions, memory, phases]


def save(figure, folder, name):
    for suffix in ("svg", "png"):
        figure.savefig(os.path.join(folder, f"{name}.{suffix}"), bbox_inches="tight", dpi=120)
    plt.close(figure)


def draw(result, folder):
    """Writes every plot that the results have cases for; returns their names."""
    os.makedirs(folder, exist_ok=True)
    names = []
    for plot in PLOTS:
        for name, figure in plot(result):
            save(figure, folder, name)
            names.append(name)
    return names
