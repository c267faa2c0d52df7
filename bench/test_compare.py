"""python3 -m unittest discover --start-directory bench"""

import pathlib
import unittest

import compare

OUTPUTS = pathlib.Path(__file__).parent / "outputs"


class Compare(unittest.TestCase):
    def test_what_each_tool_prints_is_read(self):
        expected = {"ab": (0, 0.0, 100.0), "h2load": (0, None, 21.89), "hey": (0, 3.1, 3.2), "k6": (0, 93.469, 98.505), "oha": (0, 95.577, 100.076),
                    "threadcount": (0, 92.078, 97.059), "vegeta": (0, 93.765, 96.37), "wrk": (0, 94.23, 100.32)}
        read = {}
        for file in OUTPUTS.iterdir():
            reported = compare.TOOLS[file.stem].read(file.read_text())
            times = [reported["times"].get(name) for name in ["p99", "max"]]
            read[file.stem] = (reported["failed"], *[None if ms is None else round(ms, 3) for ms in times])
        self.assertEqual(read, expected)

    def test_an_interval_lies_between_values_that_a_coin_seldom_passes(self):
        # By the tables of the binomial distribution 2 * P(X <= 1) of 9 is 0.039, and of 15 and 3 it is 0.035.
        self.assertEqual(compare.interval([9, 8, 7, 6, 5, 4, 3, 2, 1]), (2, 8))
        self.assertEqual(compare.interval(range(1, 16)), (4, 12))
        self.assertIsNone(compare.interval(range(5)))

    def test_the_truth_of_a_stall_is_a_tenth_of_the_requests(self):
        truth = {name: round(compare.true_ms(share), 6) for name, share in compare.QUANTILES.items()}
        self.assertEqual(truth, {"p50": 0, "p90": 0, "p95": 100, "p99": 180, "p99_9": 198, "max": 200})

    def test_a_ratio_is_the_median_of_the_rounds_and_not_of_the_tools(self):
        rows = {name: {"runs": [{"cpu_us_per_request": us} for us in costs]} for name, costs in {"threadcount": [1, 20, 3], "wrk": [2, 10, 6]}.items()}
        self.assertEqual(compare.cost_ratio(rows, "threadcount", "wrk"), 0.5)


if __name__ == "__main__":
    unittest.main()
