"""Files of results, and what one asks of a measured case."""

import datetime
import json
import os
import re
import statistics
import subprocess


def device_slug(machine):
    return re.sub(r"[^a-z0-9]+", "-", machine["device"].lower()).strip("-")


def commit_of(directory):
    try:
        done = subprocess.run(["git", "-C", directory, "describe", "--always", "--dirty"], text=True,
                              capture_output=True, check=True)
        return done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def new_path(out, machine, date):
    """results/<device>-<date>.json, with a number where that one exists."""
    stem = os.path.join(out, f"{device_slug(machine)}-{date}")
    path, number = stem + ".json", 2
    while os.path.exists(path):
        path, number = f"{stem}-{number}.json", number + 1
    return path


def save(result, out, source):
    os.makedirs(out, exist_ok=True)
    date = datetime.date.today().isoformat()
    result = {"date": date, "commit": commit_of(source), **result}
    path = new_path(out, result["machine"], date)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    return path


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def distribution_of(case):
    return case["distribution"] + (f":{case['parameter']}" if "parameter" in case else "")


def type_of(case):
    """u32, (u32, 8 B), argsort u32, the algorithm where it was forced, and whether the host waits."""
    text = case["key"]
    if case["operation"] == "sort_by_key":
        text = f"({case['key']}, {case['value_bytes']} B)"
    if case["operation"] == "argsort":
        text = f"argsort {case['key']}"
    if case["algorithm"] != "automatic":
        text += f" {case['algorithm']}"
    return f"{text}, host waits" if case.get("host_waits") else text


def identity_of(case):
    return type_of(case), case["count"], distribution_of(case)


def ours(case):
    return case["contenders"][0]


def peers(case):
    return [peer for peer in case["contenders"][1:] if "wrong" not in peer]


def best_peer(case):
    return min(peers(case), key=lambda peer: peer["ratio"], default=None)


def gkeys(case, contender):
    return case["count"] / contender["median_s"] * 1e-9


def roof_gkeys(case):
    """Keys per second if our algorithm's bytes moved at the speed of a plain copy."""
    return case["count"] * case["copy_bytes_per_s"] / case["bytes"] * 1e-9 if case["bytes"] else None


def power_text(count):
    power = count.bit_length() - 1
    digits = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"2{digits}" if count == 1 << power else str(count)


def median_with_error(values):
    """The median and its standard error, robust: 1.25 / sqrt(n) of a deviation from the quartiles."""
    middle = statistics.median(values)
    if len(values) < 2:
        return middle, float("inf")
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, 1.25 * (high - low) / 1.35 / len(values) ** 0.5
