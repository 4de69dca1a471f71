"""From settings to the cases to measure."""

import json
import re


class SettingsError(Exception):
    pass


def load_settings(path, name):
    with open(path, encoding="utf-8") as file:
        every = json.load(file)
    if name not in every:
        raise SettingsError(f"{path} has no settings {name!r}, but {', '.join(every)}")
    return dict(every[name], name=name)


def powers_of(texts, largest):
    """["16", "largest-2", "10..largest by 3"] -> powers of two, none beyond the largest."""
    def number(text):
        match = re.fullmatch(r"(largest|\d+)(-\d+)?", text.strip())
        if not match:
            raise SettingsError(f"powers: {text!r} is neither a number nor largest-N")
        return (largest if match[1] == "largest" else int(match[1])) + int(match[2] or 0)

    powers = []
    for text in texts:
        match = re.fullmatch(r"(.+)\.\.(.+) by (\d+)", text)
        if match:
            powers += range(number(match[1]), number(match[2]) + 1, int(match[3]))
        else:
            powers.append(number(text))
    return [power for power in powers if 0 <= power <= largest]


def arrays_bytes(case, key_bytes):
    """Memory that a case needs: the source, keys and values with their spares, what Kradix, a peer and
    the check take."""
    element = key_bytes + case["values"]
    return case["count"] * (4 * element + 2 * key_bytes + 9)


def fits(case, key_bytes, machine):
    limit = 8 * key_bytes
    distribution, _, parameter = case["distribution"].partition(":")
    if distribution == "max_value" and limit < 64 and int(parameter) >> limit:
        return False
    return arrays_bytes(case, key_bytes) <= 0.85 * machine["memory_bytes"]


def named_distributions(machine):
    return [entry["name"] for entry in machine["distributions"] if not entry["parameter"]]


def cases_of(settings, machine):
    """Every case once, in the order of the settings."""
    largest = settings["largest"]["host" if machine["host"] else "device"]
    key_bytes = {key["name"]: key["bytes"] for key in machine["keys"]}
    cases = []
    for group in settings["groups"]:
        keys = list(key_bytes) if group["keys"] == ["all"] else group["keys"]
        distributions = []
        for distribution in group.get("distributions", ["uniform"]):
            distributions += named_distributions(machine) if distribution == "all" else [distribution]
        for power in powers_of(group["powers"], largest):
            for key in keys:
                for values in group["values"]:
                    for distribution in distributions:
                        case = {
                            "operation": group.get("operation", "sort_by_key" if values else "sort"),
                            "key": key, "values": values, "count": 2**power,
                            "distribution": distribution, "phases": group.get("phases", False)}
                        if key in key_bytes and fits(case, key_bytes[key], machine):
                            cases.append(case)
    return without_repeats(cases)


def without_repeats(cases):
    """The first of equal cases stays, with phases if any of them has them."""
    kept = {}
    for case in cases:
        identity = tuple(value for name, value in case.items() if name != "phases")
        kept.setdefault(identity, case)
        kept[identity]["phases"] |= case["phases"]
    return list(kept.values())


def options_of(case, settings):
    """The line that bench_sort --stream takes."""
    words = ["--operation", case["operation"], "--key", case["key"], "--values", case["values"],
             "--count", case["count"], "--distribution", case["distribution"],
             "--seconds", settings["case_seconds"]]
    if case["phases"]:
        words.append("--phases")
    return " ".join(str(word) for word in words)


def title_of(case):
    power = case["count"].bit_length() - 1
    count = f"2^{power}" if case["count"] == 1 << power else str(case["count"])
    values = f" with {case['values']} B" if case["operation"] == "sort_by_key" else ""
    return f"{case['operation']} {case['key']}{values}, {count}, {case['distribution']}"
