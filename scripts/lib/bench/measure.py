"""Runs bench_sort over a grid of cases, with progress and within a budget."""

import json
import subprocess
import sys
import time

from grid import cases_of, options_of, title_of


class BenchError(Exception):
    pass


class Stream:
    """A bench_sort --stream: a line of options in, a line of JSON out."""

    def __init__(self, command):
        self.command = command
        try:
            self.process = subprocess.Popen(command + ["--stream"], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, text=True, bufsize=1)
        except OSError as error:
            raise BenchError(f"cannot run {command[0]}: {error.strerror}") from error
        self.machine = self.receive()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            raise BenchError(f"{' '.join(self.command)} ended with status {status}")
        try:
            return json.loads(line)
        except ValueError as error:
            raise BenchError(f"{' '.join(self.command)} said: {line.strip()[:200]}") from error

    def ask(self, options):
        try:
            self.process.stdin.write(options + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended: receive() says how
        return self.receive()

    def close(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass
        self.process.wait()
        self.process.stdout.close()


class Forecast:
    """How long cases take: the seconds that are asked for, and a rate per byte learned on the way."""

    def __init__(self, machine, settings):
        self.key_bytes = {key["name"]: key["bytes"] for key in machine["keys"]}
        self.fixed = settings["case_seconds"]
        self.rates = {}
        self.any_rate = 1e-7 if machine["host"] else 1e-9

    def size(self, case):
        return case["count"] * (self.key_bytes[case["key"]] + case["values"])

    def kind(self, case):
        return case["operation"], case["values"] > 0

    def of(self, case):
        return self.fixed + self.rates.get(self.kind(case), self.any_rate) * self.size(case)

    def learn(self, case, seconds):
        rate = max(0.0, seconds - self.fixed) / self.size(case)
        if case["count"] < 1 << 18:  # start-up, not size
            return
        self.any_rate = self.rates[self.kind(case)] = rate


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line a case."""

    def __init__(self, out=sys.stderr):
        self.out = out
        self.terminal = out.isatty()

    def start(self, done, cases, left, text):
        if self.terminal:
            self.show(done, cases, left, text)

    def show(self, done, cases, left, text):
        line = f"[{done}/{cases}, {clock(left)} left] {text}"
        if self.terminal:
            filled = 24 * done // max(1, cases)
            line = f"\r\033[K{'#' * filled}{'.' * (24 - filled)} {line}"[:160]
        print(line, end="" if self.terminal else "\n", file=self.out, flush=True)

    def end(self):
        if self.terminal:
            print(file=self.out)


def clock(seconds):
    seconds = max(0, int(seconds + 0.5))
    return f"{seconds // 60}:{seconds % 60:02}"


def summary(measured):
    """What a case came to, for the progress line."""
    timed = [c for c in measured["contenders"] if "wrong" not in c]
    ours = timed[0]["median_s"]
    text = f"{measured['count'] / ours * 1e-9:.3g} Gkeys/s"
    if len(timed) > 1:
        best = min(timed[1:], key=lambda peer: peer["ratio"])
        text += f", {best['ratio']:.2f} x as fast as {best['name']}"
    return text


class Measurer:
    """Asks one program after another: who fails is replaced, since an error of a device outlives its case."""

    def __init__(self, command, extra):
        self.command, self.extra = command, extra
        self.stream = Stream(command)
        self.machine = self.stream.machine

    def measured(self, case, settings):
        """The case's results, or {"error": ...}."""
        try:
            answer = self.stream.ask(f"{options_of(case, settings)} {self.extra}".strip())
        except BenchError as error:
            answer = {"error": str(error)}
        if "error" in answer:
            self.stream.close()
            self.stream = Stream(self.command)
        return answer


def measure(command, settings, extra="", progress=None):
    """Measures all cases that fit the budget. `extra` goes to every case."""
    progress = progress or Progress()
    begin = time.monotonic()
    program = Measurer(command, extra)
    cases = cases_of(settings, program.machine)
    forecast = Forecast(program.machine, settings)
    result = {"machine": program.machine, "settings": settings["name"], "cases": [], "failed": [], "skipped": []}
    for index, case in enumerate(cases):
        title = title_of(case)
        left = settings["budget_seconds"] - (time.monotonic() - begin)
        if forecast.of(case) > left:
            result["skipped"].append(title)
            continue
        rest = sum(forecast.of(other) for other in cases[index:])
        progress.start(index, len(cases), min(left, rest), title)
        start = time.monotonic()
        try:
            answer = program.measured(case, settings)
        except BenchError as error:  # it cannot even start again: what there is must not be lost
            result["failed"].append({"case": title, "error": str(error)})
            break
        seconds = time.monotonic() - start
        if "error" in answer:
            result["failed"].append({"case": title, "error": answer["error"]})
            continue
        forecast.learn(case, seconds)
        result["cases"].append(answer)
        progress.show(index + 1, len(cases), min(left, rest) - seconds, f"{title}: {summary(answer)}")
    program.stream.close()
    progress.end()
    result["seconds"] = time.monotonic() - begin
    return result


def duel(before, now, settings, extra_before, extra_now, blocks, progress=None):
    """Two programs taking turns on every case without peers, block by block, the first of a block in turn.
    Returns (case, pairs of medians) for each."""
    progress = progress or Progress()
    programs = [Measurer(before, extra_before + " --no-peers"), Measurer(now, extra_now + " --no-peers")]
    try:
        return take_turns(programs, settings, blocks, progress)
    finally:
        for program in programs:
            program.stream.close()
        progress.end()


def take_turns(programs, settings, blocks, progress):
    begin = time.monotonic()
    cases = cases_of(settings, programs[0].machine)
    done = []
    for index, case in enumerate(cases):
        spent = time.monotonic() - begin
        each = spent / index if index else settings["case_seconds"] * 2 * blocks
        if index and spent + each > settings["budget_seconds"]:
            print(f"{len(cases) - index} cases left out for want of time", file=progress.out)
            break
        progress.show(index, len(cases), min(each * (len(cases) - index), settings["budget_seconds"] - spent),
                      title_of(case))
        done.append(duel_of_case(programs, case, settings, blocks))
    return done


def duel_of_case(programs, case, settings, blocks):
    pairs, measured = [], {}
    for block in range(blocks):
        for side in ((0, 1) if block % 2 == 0 else (1, 0)):
            measured[side] = programs[side].measured(case, settings)
            if "error" in measured[side]:
                raise BenchError(f"{title_of(case)}: {measured[side]['error']}")
        pairs.append(tuple(measured[side]["contenders"][0]["median_s"] for side in (0, 1)))
    return measured[1], pairs
