"""The parts of scripts/bench that need no benchmark: settings, forecasts, comparison, tables, plots."""

import contextlib
import io
import json
import os
import random
import stat
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import compare  # noqa: E402
import grid  # noqa: E402
import measure  # noqa: E402
import results  # noqa: E402
import scaling  # noqa: E402
import table  # noqa: E402

SETTINGS = os.path.join(HERE, "..", "..", "..", "perf_tests", "settings.json")
MACHINE = {"machine": "Test, Kokkos 0", "device": "Test Device 1", "host": False, "memory_bytes": 1 << 34,
           "copy_bytes_per_s": 1e12, "threads": 1,
           "keys": [{"name": "u32", "bytes": 4}, {"name": "u64", "bytes": 8}],
           "distributions": [{"name": "uniform", "parameter": False}, {"name": "sorted", "parameter": False},
                             {"name": "some_values", "parameter": True}]}


def case(count, slow=1.0, drift=1.0, noise=0.02, rounds=15, seed=0, peers=("A", "B"), **more):
    """A measured case: ours takes count ns, A twice and B thrice that, each round a little more or less."""
    chance = random.Random(f"{count} {seed}")
    contenders = []
    for factor, name in enumerate(("Kradix",) + tuple(peers), start=1):
        own = slow if name == "Kradix" else 1.0
        seconds = [1e-9 * count * factor * own * drift * chance.gauss(1, noise) for _ in range(rounds)]
        middle = sorted(seconds)[rounds // 2]
        contenders.append({"name": name, "seconds": seconds, "median_s": middle, "least_s": min(seconds),
                           "most_s": max(seconds), "ratio": factor / own, "temporary_bytes": 4 * count})
    return {"operation": "sort", "key": "u32", "value_bytes": 0, "count": count, "distribution": "uniform",
            "algorithm": "automatic", "bytes": 36.0 * count, "copy_bytes_per_s": 1e12, "share_of_bound": 0.5,
            "contenders": contenders, **more}


def result(**changes):
    cases = [case(1 << power, **changes) for power in range(10, 30)]
    return {"machine": MACHINE, "date": "2000-01-01", "commit": "", "settings": "test", "seconds": 1.0,
            "cases": cases, "failed": [], "skipped": []}


def compared(baseline, now, **options):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        passed = compare.compare(baseline, now, **options)
    return passed, said.getvalue()


class Settings(unittest.TestCase):
    def test_powers(self):
        self.assertEqual(grid.powers_of(["16", "largest-2", "10..largest by 5"], 22), [16, 20, 10, 15, 20])
        self.assertEqual(grid.powers_of(["24"], 22), [])
        with self.assertRaisesRegex(grid.SettingsError, "neither a number"):
            grid.powers_of(["huge"], 22)

    def test_every_settings_has_cases_once(self):
        with open(SETTINGS, encoding="utf-8") as file:
            names = list(json.load(file))
        for name in names:
            cases = grid.cases_of(grid.load_settings(SETTINGS, name), MACHINE)
            identities = [tuple(value for key, value in one.items() if key != "phases") for one in cases]
            self.assertGreater(len(cases), 5, name)
            self.assertEqual(len(identities), len(set(identities)), name)
        with self.assertRaisesRegex(grid.SettingsError, "no settings 'slow', but quick"):
            grid.load_settings(SETTINGS, "slow")

    def test_cases_fit_memory_and_keys(self):
        settings = {"largest": {"device": 40}, "groups": [
            {"keys": ["u32", "u9"], "values": [0], "powers": ["20", "40"],
             "distributions": ["all", "max_value:255", "max_value:99999999999"]}]}
        cases = grid.cases_of(settings, MACHINE)
        self.assertEqual([one["distribution"] for one in cases], ["uniform", "sorted", "max_value:255"])
        self.assertEqual({one["count"] for one in cases}, {1 << 20})

    def test_options(self):
        one = {"operation": "sort_by_key", "key": "u32", "values": 4, "count": 1024, "distribution": "sorted",
               "phases": True}
        self.assertEqual(grid.options_of(one, {"case_seconds": 0.5}),
                         "--operation sort_by_key --key u32 --values 4 --count 1024 --distribution sorted "
                         "--seconds 0.5 --phases")


class Compare(unittest.TestCase):
    def test_quiet_without_a_change(self):
        for seed in range(20):
            passed, said = compared(result(seed=seed), result(seed=seed + 100))
            self.assertTrue(passed, said)

    def test_quiet_where_the_whole_machine_is_slower(self):
        passed, said = compared(result(), result(seed=1, drift=1.3))
        self.assertTrue(passed, said)

    def test_catches_five_percent_everywhere(self):
        for seed in range(20):
            passed, said = compared(result(seed=seed), result(seed=seed + 100, slow=1.05, drift=0.9))
            self.assertFalse(passed, said)
            self.assertRegex(said, r"all cases, geometric mean +\+[45]\.\d % +slower")

    def test_catches_five_percent_in_one_case(self):
        now = result(seed=1, noise=0.005)
        now["cases"][7] = case(1 << 17, slow=1.05, noise=0.005, seed=1)
        passed, said = compared(result(noise=0.005), now)
        self.assertFalse(passed)
        self.assertRegex(said, r"u32 2¹⁷ uniform +\+[45]\.\d % +slower")
        self.assertIn("1 slower, 0 faster beyond the noise; 1 past the threshold of 3 %", said)

    def test_without_peers_times_count(self):
        passed, said = compared(result(peers=()), result(peers=(), slow=1.05, seed=1))
        self.assertFalse(passed, said)

    def test_faster_is_no_error(self):
        passed, said = compared(result(), result(slow=0.8, seed=1))
        self.assertTrue(passed)
        self.assertRegex(said, r"all cases, geometric mean +-\d+\.\d % +faster")

    def test_nothing_in_common_is_an_error(self):
        other = result()
        other["cases"] = [case(77)]
        self.assertFalse(compared(other, result())[0])

    def test_within_the_threshold(self):
        self.assertTrue(compared(result(), result(slow=1.05, seed=1), threshold=10)[0])


class Blocks(unittest.TestCase):
    def passes(self, slow, seed, noise=0.02, blocks=12):
        chance = random.Random(seed)
        changes = []
        for power in range(10, 30):
            def median(factor):
                return 1e-9 * factor * chance.gauss(1, noise)
            drift = [chance.uniform(0.5, 2) for _ in range(blocks)]  # of the machine, from block to block
            pairs = [(median(now), median(now * slow)) for now in drift]
            changes.append(compare.change_of_blocks(case(1 << power), pairs, 1.0))
        return compare.verdict(changes, 3.0, 1.0, lambda line: None)

    def test_quiet_without_a_change(self):
        for seed in range(20):
            self.assertTrue(self.passes(1.0, seed))

    def test_catches_five_percent(self):
        for seed in range(20):
            self.assertFalse(self.passes(1.05, seed))
            self.assertTrue(self.passes(0.95, seed))


FAKE = """#!{python}
import json, sys
machine = {machine!r}
print(json.dumps(machine), flush=True)
for line in sys.stdin:
    words = line.split()
    count = int(words[words.index("--count") + 1])
    if count == 2048:
        sys.exit(7)
    if count == 32768:
        print("12 is no answer", flush=True)
    if count == 4096:
        print(json.dumps({{"error": "wrong key at 3"}}), flush=True)
        continue
    answer = json.loads({case!r})
    answer["count"] = count
    answer["options"] = line
    print(json.dumps(answer), flush=True)
"""


class Measure(unittest.TestCase):
    def run_fake(self, **changes):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "bench_sort")
            with open(program, "w", encoding="utf-8") as file:
                file.write(FAKE.format(python=sys.executable, machine=MACHINE, case=json.dumps(case(1024))))
            os.chmod(program, stat.S_IRWXU)
            settings = {"name": "fake", "budget_seconds": 60, "case_seconds": 0, "largest": {"device": 14},
                        "groups": [{"keys": ["u32"], "values": [0], "powers": ["10..14 by 1"]}], **changes}
            return measure.measure([program], settings, "--seed 5", measure.Progress(io.StringIO()))

    def test_goes_on_after_errors_and_crashes(self):
        done = self.run_fake()
        self.assertEqual([one["count"] for one in done["cases"]], [1024, 8192, 16384])
        self.assertTrue(done["cases"][0]["options"].endswith("--seed 5\n"))
        self.assertEqual([one["case"] for one in done["failed"]],
                         ["sort u32, 2^11, uniform", "sort u32, 2^12, uniform"])
        self.assertIn("ended with status 7", done["failed"][0]["error"])
        self.assertEqual(done["failed"][1]["error"], "wrong key at 3")

    def test_goes_on_after_what_is_no_answer(self):
        done = self.run_fake(largest={"device": 15}, groups=[{"keys": ["u32"], "values": [0], "powers": ["15", "14"]}])
        self.assertEqual([one["count"] for one in done["cases"]], [16384])
        self.assertIn("said: 12 is no answer", done["failed"][0]["error"])

    def test_duel(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "bench_sort")
            with open(program, "w", encoding="utf-8") as file:
                file.write(FAKE.format(python=sys.executable, machine=MACHINE, case=json.dumps(case(1024))))
            os.chmod(program, stat.S_IRWXU)
            settings = {"name": "fake", "budget_seconds": 60, "case_seconds": 0, "largest": {"device": 14},
                        "groups": [{"keys": ["u32"], "values": [0], "powers": ["10", "13"]}]}
            done = measure.duel([program], [program], settings, "", "--seed 5", 4, measure.Progress(io.StringIO()))
            self.assertEqual([(one["count"], len(pairs)) for one, pairs in done], [(1024, 4), (8192, 4)])
            self.assertTrue(done[0][0]["options"].endswith("--seed 5 --no-peers\n"))
            settings["groups"][0]["powers"] = ["12"]
            with self.assertRaisesRegex(measure.BenchError, "wrong key at 3"):
                measure.duel([program], [program], settings, "", "", 4, measure.Progress(io.StringIO()))

    def test_leaves_out_what_does_not_fit_the_budget(self):
        done = self.run_fake(budget_seconds=5, case_seconds=10)
        self.assertEqual((done["cases"], len(done["skipped"])), ([], 5))

    def test_says_when_there_is_no_program(self):
        with self.assertRaisesRegex(measure.BenchError, "cannot run /none"):
            measure.Stream(["/none"])


class Report(unittest.TestCase):
    def full(self):
        full = result()
        extra = [case(1 << 20, distribution="and_words", parameter=words) for words in (1, 2)]
        extra += [case(1 << 20, distribution="some_values", parameter=values) for values in (1, 9)]
        extra += [case(1 << 20, distribution="max_value", parameter=values) for values in (1, 255)]
        extra += [case(1 << 20, distribution="disorder", parameter=values) for values in (0, 10000)]
        extra += [case(1 << 20, distribution=name) for name in ("sorted", "reversed")]
        extra[0]["contenders"].append({"name": "Liar", "wrong": "wrong key at 3"})
        full["cases"] += extra
        full["cases"][3]["phases"] = [{"kernel": "kradix::x::Count", "seconds": 1e-3, "launches": 2},
                                      {"kernel": "kradix::x::Move", "seconds": 2e-3, "launches": 1}]
        full["skipped"] = ["sort u64, 2^30, uniform"]
        return full

    def test_markdown(self):
        text = table.markdown(self.full())
        for piece in ["# Test Device 1, 2000-01-01", "| u32 | 2¹⁰ | 0.001 |", "| sorted | 2²⁰ |", "| A ms | ratio |",
                      "Count 1.000 (2 ×), Move 2.000", "Liar: wrong key at 3", "- sort u64, 2^30, uniform",
                      "Kradix 4.00, A 4.00"]:
            self.assertIn(piece, text)
        for line in text.splitlines():
            if line.startswith("| u32 "):
                self.assertNotIn("nan", line)

    def test_plots(self):
        try:
            import plot
        except ImportError:
            self.skipTest("no matplotlib")
        with tempfile.TemporaryDirectory() as folder:
            names = plot.draw(self.full(), folder)
            self.assertEqual(names, ["throughput_u32", "ratios", "entropy_u32", "key_range_u32", "distinct_u32",
                                     "sortedness_u32", "distributions_u32", "memory", "phases"])
            for name in names:
                for suffix in (".svg", ".png"):
                    self.assertGreater(os.path.getsize(os.path.join(folder, name + suffix)), 1000)

    def test_files_of_a_day_do_not_overwrite_each_other(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [results.save(result(), folder, folder) for _ in range(3)]
            self.assertEqual(len(set(paths)), 3)
            self.assertRegex(os.path.basename(paths[0]), r"^test-device-1-\d{4}-\d\d-\d\d\.json$")
            self.assertEqual(len(results.load(paths[2])["cases"]), 20)


FAKE_MPI = """#!{python}
import json, sys
ranks, size, count = int(sys.argv[1]), sys.argv[4], int(sys.argv[5])
if ranks == 3:
    sys.exit("bench_mpi: three is a crowd")
total = count * ranks if size == "--count" else count
answer = dict.fromkeys({phases!r}, 1e-3)
answer.update(key="u64", values=0, distribution="uniform", ranks=ranks, total=total, seconds=1e-9 * total / ranks * 2,
              local_sort=1e-9 * total / ranks, alltoall=1e-5, imbalance=1.0, work="w", transport="t", route="r")
print("a line that is no JSON")
print(json.dumps(answer))
"""


class Scaling(unittest.TestCase):
    def launcher(self, folder):
        program = os.path.join(folder, "mpirun")
        with open(program, "w", encoding="utf-8") as file:
            file.write(FAKE_MPI.format(python=sys.executable, phases=scaling.PHASES))
        os.chmod(program, stat.S_IRWXU)
        return program + " {ranks}"

    def test_measures_and_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            said = []
            runs = scaling.measure(self.launcher(folder), "bench_mpi", [1, 4], 1000, [], said.append)
            self.assertEqual([(r["scaling"], r["ranks"], r["total"]) for r in runs],
                             [("weak", 1, 1000), ("weak", 4, 4000), ("strong", 1, 1000), ("strong", 4, 1000)])
            self.assertAlmostEqual(scaling.efficiency(runs, runs[3]), 1)
            self.assertEqual(len(said), 4)
            text = scaling.markdown({"date": "2000-01-01", "launcher": "l", "runs": runs})
            self.assertIn("| 4 | 4000 | 0.002 | 2 | 1.00 |", text)
            try:
                names = scaling.draw({"runs": runs}, folder)
            except ImportError:
                return
            self.assertEqual(names, ["weak_scaling", "weak_phases", "strong_scaling", "strong_phases"])

    def test_a_report_has_it_where_there_are_devices(self):
        settings = {"scaling": {"ranks": [1, 2, 4], "power": {"device": 10}}}
        with tempfile.TemporaryDirectory() as folder:
            def found(devices):
                return scaling.of_settings(self.launcher(folder), "bench_mpi", settings, {**MACHINE, "devices": devices},
                                           lambda line: None)
            self.assertEqual(found(1), {})
            self.assertEqual([r["ranks"] for r in found(2)["runs"]], [1, 2, 1, 2])
            text = table.markdown({**result(), "scaling": found(4)})
            self.assertIn("## Across ranks", text)
            self.assertIn("### Weak scaling", text)
            self.assertIn("| 4 | 4096 |", text)

    def test_tells_what_a_failed_run_said(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(measure.BenchError, "status 1: bench_mpi: three is a crowd"):
                scaling.run(self.launcher(folder), "bench_mpi", 3, ["--count", "10"])


if __name__ == "__main__":
    unittest.main()
