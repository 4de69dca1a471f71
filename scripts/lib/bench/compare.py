"""What got slower or faster since a baseline, beyond the noise.

Both files hold rounds in which we and our peers took turns. The time of ours over a peer's, round by
round, cancels what made the machine slow or fast; the change of that ratio from one file to the other is
ours. Of all peers (and, where there are none, of the times themselves) the median change counts."""

import math
import statistics

from results import distribution_of, identity_of, median_with_error, ours, peers, power_text, type_of


class Change:
    def __init__(self, case, log_ratio, noise):
        self.case, self.log_ratio, self.noise = case, log_ratio, noise

    @property
    def percent(self):
        """How much longer a sort takes now."""
        return 100 * math.expm1(self.log_ratio)

    @property
    def noise_percent(self):
        return 100 * math.expm1(self.noise)

    def is_real(self):
        return abs(self.log_ratio) > self.noise


def logs(values):
    return [math.log(value) for value in values]


def log_ratios(case, peer):
    """Ours over the peer's, of the rounds in which both took part."""
    return [math.log(a / b) for a, b in zip(ours(case)["seconds"], peer["seconds"])]


def estimate(before, after):
    """The change of the logarithm, and its standard error."""
    (old, old_error), (new, new_error) = median_with_error(before), median_with_error(after)
    return new - old, math.hypot(old_error, new_error)


def change_of(before, after, floor):
    old_peers = {peer["name"]: peer for peer in peers(before)}
    estimates = [estimate(log_ratios(before, old_peers[peer["name"]]), log_ratios(after, peer))
                 for peer in peers(after) if peer["name"] in old_peers]
    if not estimates:
        estimates = [estimate(logs(ours(before)["seconds"]), logs(ours(after)["seconds"]))]
    change = statistics.median(value for value, _ in estimates)
    error = statistics.median(error for _, error in estimates)
    return Change(after, change, max(3 * error, floor))


def changes_of(baseline, result, floor_percent):
    """For each case in both files."""
    before = {identity_of(case): case for case in baseline["cases"]}
    floor = math.log1p(floor_percent / 100)
    return [change_of(before[identity_of(case)], case, floor) for case in result["cases"]
            if identity_of(case) in before]


# A change of this many standard errors is real, by the number of values: 99.8 % of Student's t.
T_OF = {4: 10.2, 5: 7.2, 6: 5.9, 8: 4.8, 10: 4.3, 12: 4.0, 16: 3.7, 24: 3.5, 48: 3.3}


def mean_and_noise(values):
    factor = T_OF[max(count for count in T_OF if count <= len(values))]
    return statistics.mean(values), factor * statistics.stdev(values) / len(values) ** 0.5


def mean_of(changes, floor_percent):
    """Of all cases together, with less noise; of few cases no less than one has."""
    values = [change.log_ratio for change in changes]
    mean, noise = mean_and_noise(values) if len(values) >= 4 else (
        statistics.mean(values), min(change.noise for change in changes))
    return Change(None, mean, max(noise, math.log1p(floor_percent / 100)))


def name_of(case):
    if case is None:
        return "all cases, geometric mean"
    return f"{type_of(case)} {power_text(case['count'])} {distribution_of(case)}"


def verdict(changes, threshold, floor_percent, show):
    """Shows real changes, the largest first; True where none is slower by more than the threshold."""
    everything = mean_of(changes, floor_percent)
    real = sorted((change for change in changes if change.is_real()), key=lambda c: -c.log_ratio)
    for change in real + [everything]:
        word = "slower" if change.log_ratio > 0 else "faster"
        if not change.is_real():
            word = "no change"
        show(f"{name_of(change.case):44} {change.percent:+6.1f} %  {word} "
             f"(noise {change.noise_percent:.1f} %)")
    slow = [change for change in real + [everything]
            if change.is_real() and change.percent > threshold]
    show(f"{len(changes)} cases compared: {sum(c.log_ratio > 0 for c in real)} slower, "
         f"{sum(c.log_ratio < 0 for c in real)} faster beyond the noise; "
         + (f"{len(slow)} past the threshold of {threshold:g} %" if slow else
            f"none slower by more than {threshold:g} %"))
    return not slow


def compare(baseline, result, threshold=3.0, floor_percent=None, show=print):
    """Two files of results."""
    if floor_percent is None:
        floor_percent = 3.0 if result["machine"]["host"] else 1.0
    changes = changes_of(baseline, result, floor_percent)
    if not changes:
        show("the baseline has none of these cases: nothing was compared")
        return False
    if baseline["machine"]["device"] != result["machine"]["device"]:
        show(f"the baseline is of another device: {baseline['machine']['device']}, "
             f"not {result['machine']['device']}")
    return verdict(changes, threshold, floor_percent, show)


def change_of_blocks(case, pairs, floor_percent):
    """From the medians of a case in each block, (before, now)."""
    mean, noise = mean_and_noise([math.log(now / before) for before, now in pairs])
    return Change(case, mean, max(noise, math.log1p(floor_percent / 100)))
