"""badcase: every format of evaluation results, the test of chance, and the order of the bad cases."""

import json
import os
import unittest

import runs

FOLDER = os.path.join(runs.DATA, "outputs", "badcase")


class BadcaseTest(runs.RunTest):
    def badcase(self, code, golden, problem, *words):
        run = self.check(code, "badcase", "--golden", golden, "--problem", problem, *words, "--format", "json")
        result = json.loads(run.out, parse_constant=runs.refuse_constant)
        self.assertEqual(result["schema"], "ulpscope.badcase/1")
        self.log = run.err
        return result

    def lines(self, name, *objects):
        return self.write(name, "".join(json.dumps(each) + "\n" for each in objects))

    def ids(self, result):
        return [each["id"] for each in result["badcases"]]


class Samples(BadcaseTest):
    def expected(self, folder):
        with open(os.path.join(FOLDER, folder, "expected.json"), encoding="utf-8") as file:
            return json.load(file)

    def sides(self, folder, ending):
        return [os.path.join(FOLDER, folder, side + "." + ending) for side in ("golden", "problem")]

    def test_a_table_with_quoted_line_feeds_and_empty_cells(self):
        expected = self.expected("msit_csv")
        result = self.badcase(1, *self.sides("msit_csv", "csv"))
        for name, value in expected.items():
            if name != "badcases":
                self.assertEqual(result[name], value, name)
        self.assertEqual([{name: each[name] for name in ("id", "position", "prompt_len", "input_mismatch")}
                          for each in result["badcases"]], expected["badcases"])
        self.assertEqual({each["kind"] for each in result["badcases"]}, {"unknown"})

    def test_opencompass_and_lm_eval(self):
        for folder, ending in (("opencompass", "json"), ("lm_eval", "jsonl")):
            with self.subTest(folder):
                expected = self.expected(folder)
                result = self.badcase(1, *self.sides(folder, ending))
                self.assertEqual(self.ids(result), expected.pop("badcases"))
                self.assertEqual({name: result[name] for name in expected}, expected)


class Formats(BadcaseTest):
    def test_details_as_a_list_and_verdicts_in_lists(self):
        def results(*verdicts):
            return json.dumps({"accuracy": 1, "details": [{"prompt": "p", "pred": "x", "correct": each} for each in verdicts]}, indent=1)
        golden = self.write("a.json", results([True], "True", True))
        problem = self.write("b.json", results([False], "false", True))
        self.assertEqual(self.ids(self.badcase(1, golden, problem)), ["0", "1"])

    def test_predictions_are_judged_by_gold_unless_told_otherwise(self):
        def predictions(*answers):
            return json.dumps({str(i): {"origin_prompt": [{"role": "HUMAN", "prompt": "Q%d" % i}], "prediction": answer, "gold": gold}
                               for i, (answer, gold) in enumerate(answers)})
        golden = self.write("a.json", predictions((" A\n", "A"), ("7", 7), ("x", ["y", "x"])))
        problem = self.write("b.json", predictions(("B", "A"), ("7", 7), ("z", ["y", "x"])))
        self.assertEqual(self.ids(self.badcase(1, golden, problem)), ["0", "2"])
        run = self.check(3, "badcase", "--golden", golden, "--problem", problem, "--no-judge")
        self.assertIn("no pair is judged right or wrong on both sides", run.err)

    def test_aisbench_lines(self):
        def line(i, answer):
            return {"id": i, "uuid": "u%d" % i, "success": True, "origin_prompt": "Q", "prediction": answer, "gold": "A"}
        golden, problem = self.lines("a.jsonl", line(0, "A"), line(1, "A")), self.lines("b.jsonl", line(1, "B"), line(0, "A"))
        self.assertEqual(self.ids(self.badcase(1, golden, problem)), ["1"])

    def test_filters_of_lm_eval_are_apart_where_there_are_several(self):
        def line(i, name, value):
            return {"doc_id": i, "filter": name, "metrics": ["exact_match"], "exact_match": value, "resps": [["x"]]}
        golden = self.lines("a.jsonl", line(0, "strict", 1.0), line(0, "flexible", 1.0))
        problem = self.lines("b.jsonl", line(0, "flexible", 1.0), line(0, "strict", 0.0))
        self.assertEqual(self.ids(self.badcase(1, golden, problem)), ["0/strict"])

    def test_lm_eval_without_a_list_of_metrics(self):
        golden, problem = self.lines("a.jsonl", {"doc_id": 3, "acc": 1.0}), self.lines("b.jsonl", {"doc_id": 3, "acc": 0.0})
        self.assertEqual(self.ids(self.badcase(1, golden, problem)), ["3"])

    def test_lines_with_words_of_any_case(self):
        golden = self.lines("a.jsonl", {"key": "k", "passed": "CORRECT"}, {"key": "l", "pass": 1}, {"key": "m", "correct": True})
        problem = self.lines("b.jsonl", {"key": "k", "passed": "Wrong"}, {"key": "l", "pass": "0"}, {"key": "m", "correct": "true"})
        self.assertEqual(self.ids(self.badcase(1, golden, problem)), ["k", "l"])

    def test_rows_without_a_key_go_by_their_question(self):
        golden = self.write("a.csv", "queries,passed\nQ one,True\nQ two,True\n")
        problem = self.write("b.csv", "queries,passed\nQ two,False\nQ one,True\n")
        self.assertEqual(self.ids(self.badcase(1, golden, problem)), ["Q two"])


class Counting(BadcaseTest):
    def evaluations(self, *pairs):
        golden = self.lines("a.jsonl", *[{"id": "s%d" % i, "correct": g} for i, (g, _) in enumerate(pairs)])
        problem = self.lines("b.jsonl", *[{"id": "s%d" % i, "correct": p} for i, (_, p) in enumerate(pairs)])
        return golden, problem

    def test_no_bad_case(self):
        result = self.badcase(0, *self.evaluations((True, True), (False, False), (False, True)))
        self.assertEqual((result["mcnemar_p"], result["verdict"], result["fixed"], result["both_wrong"]), (1, "not_significant", ["s2"], 1))

    def test_nothing_differs(self):
        self.assertEqual(self.badcase(0, *self.evaluations((True, True)))["mcnemar_p"], 1)

    def test_five_against_none_is_not_significant_six_is(self):
        result = self.badcase(1, *self.evaluations(*[(True, False)] * 5))
        self.assertEqual((result["mcnemar_p"], result["verdict"], result["samples_needed"]), (0.0625, "not_significant", 6))  # 2 / 2^5
        result = self.badcase(1, *self.evaluations(*[(True, False)] * 6))
        self.assertEqual((result["mcnemar_p"], result["verdict"], result["samples_needed"]), (0.03125, "regression", None))

    def test_an_improvement(self):
        self.assertEqual(self.badcase(0, *self.evaluations(*[(False, True)] * 6))["verdict"], "improvement")

    def test_a_drop_that_may_be_chance_is_said_to_be_so(self):
        golden, problem = self.evaluations(*[(True, False)] * 4, *[(False, True)] * 2, *[(True, True)] * 94)
        run = self.check(1, "badcase", "--golden", golden, "--problem", problem)
        self.assertIn("this drop may be chance; at these rates ", run.out)

    def test_many_samples(self):
        # 2 * sum(comb(1300, i) for i in range(601)) / 2**1300
        result = self.badcase(1, *self.evaluations(*[(True, False)] * 700, *[(False, True)] * 600))
        self.assertAlmostEqual(result["mcnemar_p"], 0.0060157939, places=9)

    def test_duplicate_keys_pair_in_order(self):
        golden = self.lines("a.jsonl", {"id": "x", "correct": True}, {"id": "x", "correct": True}, {"id": "x", "correct": True})
        problem = self.lines("b.jsonl", {"id": "x", "correct": True}, {"id": "x", "correct": False})
        result = self.badcase(1, golden, problem)
        self.assertEqual((result["paired"], self.ids(result), result["only_golden"]), (2, ["x"], ["x"]))
        self.assertIn("1 keys are there several times, such as 'x': the n-th is paired with the n-th", self.log)

    def test_words_that_are_no_verdict_are_no_pass(self):
        golden = self.lines("a.jsonl", {"id": "x", "correct": "maybe"}, {"id": "y", "correct": True})
        problem = self.lines("b.jsonl", {"id": "x", "correct": True}, {"id": "y", "correct": True})
        result = self.badcase(3, golden, problem)
        self.assertEqual((result["paired"], result["unjudged"]), (1, 1))
        self.assertIn("'maybe', expected right or wrong (true, false, 1, 0)", self.log)


class Ranking(BadcaseTest):
    def sample(self, key, ids, prompt=(1, 2), right=True, **members):
        return dict({"id": key, "correct": right, "prompt_token_ids": list(prompt), "token_ids": ids}, **members)

    def test_hard_before_soft_before_unknown_before_near_tie_and_mismatches_last(self):
        def with_logprobs(key, chosen, other):
            return self.sample(key, [5, 6], logprobs=[{"token_id:5": -0.01}, {"token_id:6": chosen, "token_id:7": other}])
        golden = [with_logprobs("tie", -0.70, -0.71), self.sample("unknown", [5, 6]), with_logprobs("soft", -0.6, -1.5),
                  with_logprobs("hard", -0.01, -5.0), self.sample("other", [5, 6])]
        problem = [self.sample(each["id"], [5, 7], right=False) for each in golden[:4]]
        problem.append(self.sample("other", [5, 7], prompt=(1, 3), right=False))
        result = self.badcase(1, self.lines("a.jsonl", *golden), self.lines("b.jsonl", *problem))
        self.assertEqual(self.ids(result), ["hard", "soft", "unknown", "tie", "other"])
        self.assertIn("config-check", result["badcases"][-1]["hints"][0])

    def test_keys_in_natural_order_and_short_cases_first(self):
        golden = [self.sample("q10", [1, 2]), self.sample("q9", [1, 2]), self.sample("q8", [1, 2, 3])]
        problem = [self.sample("q10", [1, 9], right=False), self.sample("q9", [1, 9], right=False), self.sample("q8", [1, 2, 9], right=False)]
        golden, problem = self.lines("a.jsonl", *golden), self.lines("b.jsonl", *problem)
        self.assertEqual(self.ids(self.badcase(1, golden, problem)), ["q9", "q10", "q8"])
        result = self.badcase(1, golden, problem, "--top", "1")
        self.assertEqual((self.ids(result), result["b_golden_right_problem_wrong"]), (["q9"], 3))

    def test_stable_cases_first(self):
        golden = self.lines("a.jsonl", self.sample("a", [1]), self.sample("b", [1]))
        problem = self.lines("b.jsonl", self.sample("a", [2], right=False), self.sample("b", [2], right=False))
        again = self.lines("c.jsonl", self.sample("a", [3], right=False), self.sample("b", [2], right=False))
        result = self.badcase(1, golden, problem, "--repeats", problem, again)
        self.assertEqual([(each["id"], each["stable"]) for each in result["badcases"]], [("b", True), ("a", False)])

    def test_labels_and_hints(self):
        golden = self.lines("a.jsonl", {"id": "x", "correct": True, "prompt": "Q", "text": "fine", "finish_reason": "stop"})
        problem = self.lines("b.jsonl", {"id": "x", "correct": False, "prompt": "Q", "text": "<unk><unk>", "finish_reason": "stop"})
        bad = self.badcase(1, golden, problem)["badcases"][0]
        self.assertEqual(bad["labels"], ["garbled"])
        self.assertIn("weights", bad["hints"][0])

    def test_first_token(self):
        golden, problem = self.lines("a.jsonl", self.sample("a", [1, 2])), self.lines("b.jsonl", self.sample("a", [1, 3], right=False))
        first = self.badcase(1, golden, problem, "--first-token")["badcases"][0]["first_token"]
        self.assertEqual((first["position"], first["golden_token"], first["token_range"]), (1, 2, [1, 1]))


class Frame(BadcaseTest):
    def test_text_and_files(self):
        golden, problem = [os.path.join(FOLDER, "msit_csv", side + ".csv") for side in ("golden", "problem")]
        run = self.check(1, "badcase", "--golden", golden, "--problem", problem, "-o", self.path("out"), "--exact-output")
        self.assertIn("REGRESSION  exact McNemar p = 0.0215", run.out)
        self.assertIn("take q9:", run.out)
        self.assertIn("fixed 1: q57", run.out)
        self.assertEqual(self.read_json("out/badcase_result.json")["paired"], 60)

    def test_wrong_use(self):
        self.assertIn("expected both of --golden FILE and --problem FILE", self.check(2, "badcase", "--golden", "a").err)

    def test_nothing_in_common(self):
        golden, problem = self.lines("a.jsonl", {"id": "x", "correct": True}), self.lines("b.jsonl", {"id": "y", "correct": True})
        run = self.check(3, "badcase", "--golden", golden, "--problem", problem)
        self.assertIn("no sample of the problem run has a key of the golden run", run.err)

    def test_no_results(self):
        golden = self.write("a.csv", "key,text\n1,x\n")
        self.assertIn("no column pass or passed", self.check(3, "badcase", "--golden", golden, "--problem", golden).err)
        golden = self.write("a.jsonl", '{"correct": true}\n')
        run = self.check(3, "badcase", "--golden", golden, "--problem", golden)
        self.assertIn("no sample that can be read", run.err)

    def test_a_file_that_is_cut_off(self):
        golden = self.write("a.json", '{"details": {"0": {"correct": true}, "1": {"corr')
        result = self.badcase(3, golden, self.write("b.json", '{"details": {"0": {"correct": true}}}'))
        self.assertEqual(result["paired"], 1)


if __name__ == "__main__":
    unittest.main()
