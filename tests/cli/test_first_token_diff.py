"""first-token-diff: every format, pairing, ledgers, repeats, and what strangers may hand over."""

import json
import os
import resource
import subprocess
import unittest

import runs

FOLDER = os.path.join(runs.DATA, "outputs", "first_token")


class FirstTokenTest(runs.RunTest):
    def diff(self, code, *words):
        run = self.check(code, "first-token-diff", *words, "--format", "json")
        result = json.loads(run.out, parse_constant=runs.refuse_constant)
        self.assertEqual(result["schema"], "ulpscope.first_token/1")
        self.log = run.err
        return result

    def lines(self, name, *objects):
        return self.write(name, "".join(json.dumps(each) + "\n" for each in objects))

    def only(self, result):
        self.assertEqual(len(result["requests"]), 1)
        return result["requests"][0]


class Samples(FirstTokenTest):
    """The given answers, member by member."""

    def compare(self, folder, ending, *words):
        base = os.path.join(FOLDER, folder)
        with open(os.path.join(base, "expected.json"), encoding="utf-8") as file:
            expected = json.load(file)
        result = self.diff(1, os.path.join(base, "golden." + ending), os.path.join(base, "problem." + ending), *words)
        for name, value in expected.items():
            if name != "requests":
                self.assertEqual(result[name], value, name)
        names = ("id", "golden_id", "problem_id", "prompt", "index", "order")
        for request in expected["requests"]:
            known = {name: request[name] for name in names if name in request}
            found = [each for each in result["requests"] if all(each.get(n) == v for n, v in known.items())]
            self.assertEqual(len(found), 1, request)
            for name, value in request.items():
                if name != "note":
                    self.assertEqual(found[0][name], value, (request, name))
        return result

    def test_request_output_prints_whose_texts_hold_brackets_and_the_same_words(self):
        self.compare("request_output", "log")

    def test_completions_with_log_probabilities(self):
        result = self.compare("openai_completions", "jsonl")
        self.assertEqual([each["id"] for each in result["requests"]][:3], ["q-hard", "q-soft", "q-tie"])
        self.assertEqual(result["summary"]["near_tie_share"], 0.333333)  # one of three
        self.assertEqual((result["summary"]["median_position"], result["summary"]["minimum_position"]), (9, 7))

    def test_chat_tokens_that_look_the_same_differ_by_their_bytes(self):
        self.compare("openai_chat", "json")

    def test_streams_with_chunks_of_different_size(self):
        self.compare("openai_stream", "sse")

    def test_printed_lists_behind_colour_codes(self):
        self.compare("print_lines", "log")
        self.assertIn("paired by their order", self.log)

    def test_ledgers_name_the_step_of_each_side(self):
        ledgers = [os.path.join(FOLDER, "v1_ledger", side + ".ledger.jsonl") for side in ("golden", "problem")]
        self.compare("v1_ledger", "jsonl", "--golden-ledger", ledgers[0], "--problem-ledger", ledgers[1])

    def test_equal_prompts_pair_in_order_and_the_rest_is_counted(self):
        base = os.path.join(FOLDER, "pairing", "by_prompt.")
        result = self.diff(1, base + "golden.jsonl", base + "problem.jsonl")
        pairs = sorted((each["order"], each["status"], each["position"]) for each in result["requests"])
        self.assertEqual(pairs, [(0, "same", None), (1, "diverged", 0)])
        self.assertEqual((result["unpaired_golden"], result["unpaired_problem"]), (2, 2))

    def test_ids_pair_and_different_prompts_are_not_compared(self):
        base = os.path.join(FOLDER, "pairing", "by_id.")
        result = self.diff(1, base + "golden.jsonl", base + "problem.jsonl")
        found = {each["id"]: (each["status"], each["position"]) for each in result["requests"]}
        self.assertEqual(found, {"a": ("same", None), "b": ("diverged", 0), "c": ("input_mismatch", None),
                                 "d": ("input_mismatch", None)})
        inputs = {each["id"]: each.get("input_position") for each in result["requests"]}
        self.assertEqual((inputs["c"], inputs["d"]), (2, 0))


class Formats(FirstTokenTest):
    def test_csv_with_a_mark_and_quoted_line_feeds(self):
        header = "\ufeffkey,queries,input_token_ids,output_token_ids\r\n"
        golden = self.write("a.csv", header + 'k1,"one\ntwo, ""three""","[1, 2]","[5, 6, 7]"\r\nk2,x,[3],[8]\r\n')
        problem = self.write("b.csv", header + 'k2,x,[3],[8]\nk1,"one\ntwo, ""three""","[1, 2]","[5, 9, 7]"\n')
        result = self.diff(1, golden, problem)
        self.assertEqual(result["pairing"], "key")
        self.assertEqual(result["requests"][0]["prompt"], 'one\ntwo, "three"')
        self.assertEqual((result["requests"][0]["position"], result["requests"][0]["problem_token"]), (1, 9))

    def test_texts_alone_are_compared_by_code_point(self):
        golden = self.lines("a.jsonl", {"id": "x", "text": "北京是首都"})
        problem = self.lines("b.jsonl", {"id": "x", "text": "北京在中国"})
        request = self.only(self.diff(1, golden, problem))
        self.assertEqual((request["status"], request["position"], request["char_position"]), ("diverged", None, 2))
        self.assertIn("token ids", request["advice"][0])
        self.assertIsNone(request["token_range"])

    def test_the_last_print_of_a_streamed_request_counts(self):
        def output(ids, finished):
            return ("RequestOutput(request_id='r-1', prompt='p', prompt_token_ids=[1], outputs=[CompletionOutput(index=0, "
                    "text='', token_ids=%s, logprobs=None, finish_reason=None)], finished=%s)" % (ids, finished))
        golden = self.write("a.log", "INFO " + output("[1]", False) + output("[1, 2]", False) + "\n"
                            + output("array('l', [1, 2, 3])", True) + "\n")
        problem = self.write("b.log", output("(1, 2, 3)", True))
        result = self.diff(0, golden, problem)
        self.assertEqual([each["status"] for each in result["requests"]], ["same"])
        self.assertEqual(result["requests"][0]["golden_len"], 3)

    def test_a_print_over_lines_with_unknown_fields_and_log_probabilities(self):
        print_ = ("RequestOutput(request_id=4,\n  prompt=None,\n  prompt_token_ids=[7],\n  outputs=[CompletionOutput(index=0, "
                  "text='a\\'b\\n', routed_experts=array([[1, 2]], dtype=int32), token_ids=[5, 6], "
                  "logprobs=[{5: Logprob(logprob=-0.01, rank=1, decoded_token='a')}, "
                  "{6: Logprob(logprob=-0.7, rank=1, decoded_token='b'), 9: Logprob(logprob=-0.75, rank=2, decoded_token='c')}], "
                  "finish_reason=stop)], sampling_mask=<object at 0x7f>, extra={1, 2}, finished=True)\n")
        golden = self.write("a.log", print_)
        problem = self.write("b.log", print_.replace("[5, 6]", "[5, 9]"))
        request = self.only(self.diff(1, golden, problem))
        self.assertEqual((request["kind"], request["golden_gap"], request["position"]), ("near_tie", 0.05, 1))
        self.assertEqual((request["golden_token"], request["problem_token"]), (6, 9))

    def test_a_stream_with_interleaved_responses_and_choices(self):
        def piece(response, choice, token, reason=None):
            return "data: " + json.dumps({"id": response, "choices": [
                {"index": choice, "text": "x", "logprobs": {"tokens": ["token_id:%d" % token], "token_logprobs": [-0.1]},
                 "finish_reason": reason}]}) + "\n\n"
        tokens = [("a", 0, 1), ("b", 0, 2), ("a", 1, 3), ("a", 0, 4), ("b", 0, 5), ("a", 1, 6)]
        golden = self.write("a.sse", "".join(piece(*each) for each in tokens) + "data: [DONE]\n")
        problem = self.write("b.sse", "".join(piece(*each) for each in sorted(tokens)[:-1]) + piece("b", 0, 7))
        result = self.diff(1, golden, problem, "--pair", "id")
        found = {(each["golden_id"], each["index"]): (each["status"], each["position"]) for each in result["requests"]}
        self.assertEqual(found, {("a", 0): ("same", None), ("a", 1): ("same", None), ("b", 0): ("diverged", 1)})

    def test_token_ids_of_newer_servers(self):
        def response(ids):
            return {"id": "chatcmpl-%d" % len(ids), "prompt_token_ids": [1, 2],
                    "choices": [{"index": 0, "message": {"content": "?"}, "logprobs": None, "token_ids": ids}]}
        golden, problem = self.lines("a.jsonl", response([4, 5])), self.lines("b.jsonl", response([4, 5, 6]))
        result = self.diff(1, golden, problem)
        self.assertEqual(result["pairing"], "prompt_token_ids")
        request = self.only(result)
        self.assertEqual((request["status"], request["position"], request["problem_token"]), ("length", 2, 6))
        self.assertFalse(request["truncated_by_max_tokens"])

    def test_the_body_of_a_batch_result(self):
        def line(name, ids):
            return {"custom_id": name, "response": {"status_code": 200, "body": {"id": "cmpl-1", "choices": [
                {"index": 0, "text": "", "token_ids": ids}]}}, "error": None}
        golden = self.lines("a.jsonl", line("one", [1]), line("two", [2]))
        problem = self.lines("b.jsonl", line("two", [2]), line("one", [1]))
        self.assertEqual(self.diff(0, golden, problem)["pairing"], "custom_id")

    def test_several_files_and_folders_of_a_side_are_joined(self):
        self.lines("g/1.jsonl", {"id": "a", "token_ids": [1]})
        self.lines("g/2.jsonl", {"id": "b", "token_ids": [2]})
        problem = self.lines("p.jsonl", {"id": "b", "token_ids": [2]}, {"id": "a", "token_ids": [1]})
        self.assertEqual(self.diff(0, self.path("g"), problem)["summary"]["same"], 2)
        result = self.diff(0, "--golden", self.path("g/1.jsonl"), self.path("g/2.jsonl"), "--problem", problem)
        self.assertEqual(result["summary"]["same"], 2)

    def test_a_folder_may_hold_more_files_than_may_be_open(self):
        for i in range(80):
            self.lines("g/%d.jsonl" % i, {"id": "r%d" % i, "token_ids": [i]})
        few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        run = self.run_program("first-token-diff", self.path("g"), self.path("g"), "--format", "json", preexec_fn=few)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(json.loads(run.out)["summary"]["same"], 80)

    def test_the_standard_input(self):
        golden = self.lines("a.jsonl", {"id": "x", "token_ids": [1, 2]})
        with open(self.lines("b.jsonl", {"id": "x", "token_ids": [1, 3]}), "rb") as file:
            finished = subprocess.run([runs.PROGRAM, "first-token-diff", golden, "-", "--format", "json"], stdin=file,
                                      stdout=subprocess.PIPE, timeout=60)
        self.assertEqual(finished.returncode, 1)
        self.assertEqual(json.loads(finished.stdout)["requests"][0]["position"], 1)

    def test_a_tokenizer_shows_tokens_as_text(self):
        tokenizer = self.write("tokenizer.json", json.dumps({
            "model": {"type": "BPE", "vocab": {"Ġcat": 1, "åĮĹ": 2}, "merges": ["a b"]},
            "added_tokens": [{"id": 3, "content": "<|end|>", "special": True}]}))
        golden, problem = self.lines("a.jsonl", {"token_ids": [1, 2]}), self.lines("b.jsonl", {"token_ids": [1, 3]})
        request = self.only(self.diff(1, golden, problem, "--tokenizer", tokenizer))
        self.assertEqual((request["golden_text"], request["problem_text"]), ("北", "<|end|>"))


class Pairing(FirstTokenTest):
    def test_engine_ids_and_counters_pair_nothing(self):
        golden = self.lines("a.jsonl", {"id": 0, "prompt": "p", "token_ids": [1]}, {"id": 1, "prompt": "q", "token_ids": [2]})
        problem = self.lines("b.jsonl", {"id": 0, "prompt": "q", "token_ids": [2]}, {"id": 1, "prompt": "p", "token_ids": [1]})
        self.assertEqual(self.diff(0, golden, problem)["pairing"], "prompt")

    def test_ids_that_are_not_unique_pair_nothing(self):
        golden = self.lines("a.jsonl", {"id": "a", "prompt": "p", "token_ids": [1]}, {"id": "a", "prompt": "q", "token_ids": [2]})
        self.assertEqual(self.diff(0, golden, golden)["pairing"], "prompt")

    def test_nothing_in_common_is_no_comparison(self):
        golden = self.lines("a.jsonl", {"prompt_token_ids": [1], "token_ids": [1]})
        problem = self.lines("b.jsonl", {"prompt_token_ids": [2], "token_ids": [1]})
        run = self.check(3, "first-token-diff", golden, problem)
        self.assertIn("no output of the problem run belongs to one of the golden run (paired by prompt_token_ids)", run.err)

    def test_forced_pairing_needs_what_it_pairs_by(self):
        golden = self.lines("a.jsonl", {"token_ids": [1]})
        run = self.check(2, "first-token-diff", golden, golden, "--pair", "prompt")
        self.assertIn("option --pair: some outputs have no prompt, expected it in all", run.err)
        run = self.check(2, "first-token-diff", golden, golden, "--pair", "id")
        self.assertIn("option --pair: some outputs have no id, expected custom_id, id or key in all", run.err)


class Judgement(FirstTokenTest):
    def one(self, golden_logprobs, problem_token, *words, golden_token="b"):
        def output(token, logprobs):
            return {"id": "x", "choices": [{"text": "", "logprobs": {
                "tokens": ["a", token], "token_logprobs": [-0.1, logprobs.get(token, -1)], "top_logprobs": [{}, logprobs]}}]}
        golden = self.lines("a.jsonl", output(golden_token, golden_logprobs))
        problem = self.lines("b.jsonl", output(problem_token, {problem_token: -0.1}))
        return self.only(self.diff(1, golden, problem, *words))

    def test_a_token_that_golden_did_not_consider_is_hard(self):
        self.assertEqual(self.one({"b": -0.9, "c": -0.95}, "d")["kind"], "hard")

    def test_a_sure_golden_token_is_hard(self):
        self.assertEqual(self.one({"b": -0.1, "c": -3.0}, "c")["kind"], "hard")  # exp(-0.1) = 0.905

    def test_the_gap_decides_between_near_tie_and_soft(self):
        self.assertEqual(self.one({"b": -0.875, "c": -1.0}, "c")["kind"], "near_tie")  # 0.125 exactly
        self.assertEqual(self.one({"b": -0.8, "c": -1.0}, "c")["kind"], "soft")
        self.assertEqual(self.one({"b": -0.8, "c": -1.0}, "c", "--tie-gap", "0.2001")["kind"], "near_tie")

    def test_the_third_best_token_is_no_near_tie(self):
        self.assertEqual(self.one({"b": -0.90, "c": -0.95, "d": -1.0}, "d")["kind"], "soft")

    def test_without_log_probabilities_the_kind_is_null(self):
        golden, problem = self.lines("a.jsonl", {"token_ids": [1]}), self.lines("b.jsonl", {"token_ids": [2]})
        request = self.only(self.diff(1, golden, problem))
        self.assertIsNone(request["kind"])
        self.assertIsNone(request["golden_gap"])
        self.assertIn("dump the prefill", request["advice"][0])
        self.assertIn("c - 1 + 0", request["dump_step"])

    def test_clamped_and_not_finite_values_do_not_drift(self):
        golden = self.lines("a.jsonl", {"token_ids": [1, 2, 3, 4], "logprobs": [-9999.0, "NaN", -0.5, -0.5]})
        problem = self.lines("b.jsonl", {"token_ids": [1, 2, 3, 4], "logprobs": [-1.0, -1.0, -0.54, -0.56]})
        request = self.only(self.diff(0, golden, problem))
        self.assertEqual((request["first_logprob_drift"], request["logprobs_left_out"]), (3, 2))

    def test_neither_side_gave_anything_is_no_pass(self):
        golden = self.lines("a.jsonl", {"id": "x", "token_ids": []})
        request = self.only(self.diff(3, golden, golden))
        self.assertEqual(request["status"], "empty")

    def test_tokens_against_text_cannot_be_compared(self):
        golden, problem = self.lines("a.jsonl", {"id": "x", "token_ids": [1]}), self.lines("b.jsonl", {"id": "x", "text": "a"})
        self.assertEqual(self.only(self.diff(3, golden, problem))["status"], "not_comparable")


class Ledgers(FirstTokenTest):
    def test_draft_tokens_and_names_that_the_engine_makes(self):
        ledger = self.lines("l.jsonl",
                            {"step": 3, "rank": 0, "reqs": {"cmpl-x-0": {"prompt": 4, "computed": 0, "scheduled": 4}}},
                            {"step": 4, "rank": 0, "reqs": {"cmpl-x-0": {"prompt": 4, "computed": 4, "scheduled": 3}},
                             "spec": {"cmpl-x-0": 2}},
                            {"step": 5, "rank": 0, "reqs": {"cmpl-x-0": {"prompt": 4, "computed": 6, "scheduled": 3}},
                             "spec": {"cmpl-x-0": 2}})
        def output(ids):
            return {"id": "cmpl-x", "choices": [{"index": 0, "text": "", "token_ids": ids, "prompt_token_ids": [1] * 4}]}
        golden, problem = self.lines("a.jsonl", output([1, 2, 3])), self.lines("b.jsonl", output([1, 2, 4]))
        request = self.only(self.diff(1, golden, problem, "--golden-ledger", ledger))
        self.assertEqual(request["dump_step"], {"golden": 4, "problem": None})
        self.assertEqual(request["prefill_steps"], {"golden": [3], "problem": None})

    def test_of_several_runs_in_a_ledger_the_last_counts(self):
        line = lambda step, computed, scheduled: {"step": step, "rank": 0, "reqs": {"0": {"prompt": 4, "computed": computed, "scheduled": scheduled}}}
        golden = self.lines("g.jsonl", {"request_id": "0", "prompt_token_ids": [1, 2, 3, 4], "token_ids": [5, 6]})
        problem = self.lines("p.jsonl", {"request_id": "0", "prompt_token_ids": [1, 2, 3, 4], "token_ids": [5, 7]})
        ledger = self.lines("l.jsonl", line(0, 0, 4), line(1, 4, 1), line(0, 0, 2), line(1, 2, 2), line(2, 4, 1))
        request = self.only(self.diff(1, golden, problem, "--golden-ledger", ledger))
        self.assertEqual((request["dump_step"]["golden"], request["prefill_steps"]["golden"]), (2, [0, 1]))
        self.assertIn("from several runs: the last one counts", self.log)

    def test_a_line_that_is_no_ledger_is_told(self):
        ledger = self.lines("l.jsonl", {"a": 1})
        golden, problem = self.lines("a.jsonl", {"token_ids": [1]}), self.lines("b.jsonl", {"token_ids": [2]})
        self.diff(1, golden, problem, "--golden-ledger", ledger)
        self.assertIn("no line of a ledger, expected step and reqs", self.log)


class Repeats(FirstTokenTest):
    def test_runs_of_one_side(self):
        a = self.lines("a.jsonl", {"id": "x", "token_ids": [1, 2, 3]}, {"id": "y", "token_ids": [4]},
                       {"id": "z", "token_ids": [7], "temperature": 0.8})
        b = self.lines("b.jsonl", {"id": "x", "token_ids": [1, 2, 4]}, {"id": "y", "token_ids": [4]},
                       {"id": "z", "token_ids": [8], "temperature": 0.8})
        c = self.lines("c.jsonl", {"id": "x", "token_ids": [1, 9]}, {"id": "y", "token_ids": [4]},
                       {"id": "z", "token_ids": [7], "temperature": 0.8})
        result = self.diff(1, "--runs", a, b, c)
        found = {each["id"]: (each["status"], each["distinct"], each["first_divergence"]) for each in result["requests"]}
        self.assertEqual(found, {"x": ("inconsistent", 3, 1), "y": ("same", 1, None), "z": ("sampled", 2, 0)})

    def test_sampling_alone_is_no_finding(self):
        a = self.lines("a.jsonl", {"id": "z", "token_ids": [7], "temperature": 0.8})
        b = self.lines("b.jsonl", {"id": "z", "token_ids": [8], "temperature": 0.8})
        self.diff(0, "--runs", a, b)

    def test_one_run_is_none(self):
        a = self.lines("a.jsonl", {"token_ids": [7]})
        self.assertIn("one run, expected at least two", self.check(2, "first-token-diff", "--runs", a).err)


class Hostile(FirstTokenTest):
    def test_a_broken_line_costs_that_line_only(self):
        good = {"id": "a", "token_ids": [1]}
        golden = self.write("a.jsonl", '{"id": "b", "token_ids": [1, 2\n' + json.dumps(good) + "\n")
        problem = self.lines("b.jsonl", good)
        result = self.diff(3, golden, problem)
        self.assertEqual(result["summary"]["same"], 1)
        self.assertIn("byte 0", self.log)

    def test_deep_nesting_is_refused(self):
        golden = self.write("a.jsonl", '{"id": "b", "x": ' + "[" * 5000 + "]" * 5000 + "}\n" + '{"id": "a", "token_ids": [1]}\n')
        self.diff(3, golden, self.lines("b.jsonl", {"id": "a", "token_ids": [1]}))
        self.assertIn("nested deeper than 64 objects and lists", self.log)

    def test_deep_prints_are_refused(self):
        golden = self.write("a.log", "RequestOutput(a=" + "[" * 5000 + "]" * 5000 + ")\n")
        self.assertIn("nested too deeply", self.check(3, "first-token-diff", golden, golden).err)

    def test_a_print_that_is_cut_off(self):
        whole = "RequestOutput(request_id=1, prompt='p', outputs=[CompletionOutput(index=0, token_ids=[1])], finished=True)\n"
        golden = self.write("a.log", "RequestOutput(request_id=0, prompt='abc\nRequestOutput(request_id=0, outputs=[\n" + whole)
        result = self.diff(3, golden, self.write("b.log", whole))
        self.assertEqual(result["summary"]["same"], 1)
        self.assertIn("a printed RequestOutput is cut off, expected its closing bracket", self.log)

    def test_broken_text_becomes_replacement_characters(self):
        golden = self.write("a.jsonl", b'{"id": "x", "text": "a\xff\xfeb"}\n')
        problem = self.write("b.jsonl", b'{"id": "x", "text": "a\xff\xfec"}\n')
        self.assertEqual(self.only(self.diff(1, golden, problem))["char_position"], 3)

    def test_a_gigantic_line_is_passed_over(self):
        golden = self.path("a.jsonl")
        with open(golden, "wb") as file:
            file.write(b'{"id": "b", "text": "')
            for _ in range(70):
                file.write(b"x" * (1 << 20))
            file.write(b'"}\n{"id": "a", "token_ids": [1]}\n')
        result = self.diff(3, golden, self.lines("b.jsonl", {"id": "a", "token_ids": [1]}), "--input-format", "json")
        self.assertEqual(result["summary"]["same"], 1)
        self.assertIn("bytes is passed over", self.log)

    def test_an_unknown_format_is_named(self):
        golden = self.write("a.bin", "hello\n")
        run = self.check(3, "first-token-diff", golden, golden)
        self.assertIn("no known format of outputs", run.err)

    def test_an_empty_file(self):
        golden = self.write("a.jsonl", "")
        self.assertIn("the file is empty", self.check(3, "first-token-diff", golden, golden).err)

    def test_a_missing_file(self):
        self.assertIn("nothing.jsonl", self.check(3, "first-token-diff", "nothing.jsonl", "nothing.jsonl").err)


class Frame(FirstTokenTest):
    def test_files_of_the_answer(self):
        golden, problem = self.lines("a.jsonl", {"token_ids": [1]}), self.lines("b.jsonl", {"token_ids": [2]})
        run = self.check(1, "first-token-diff", golden, problem, "-o", self.path("out"), "--exact-output")
        self.assertEqual(self.read_json("out/first_token_diff_result.json")["summary"]["diverged"], 1)
        with open(self.path("out/first_token_diff_result.txt"), encoding="utf-8") as file:
            self.assertEqual(file.read(), run.out)

    def test_help_has_an_example(self):
        self.assertIn("ulpscope first-token-diff golden.jsonl", self.check(0, "first-token-diff", "--help").out)

    def test_wrong_options(self):
        run = self.check(2, "first-token-diff", "a", "b", "--tie-gap", "-1")
        self.assertIn("option --tie-gap: '-1', expected a number from 0 on", run.err)
        self.assertIn("PROBLEM", self.check(2, "first-token-diff", "a").err)
        run = self.check(2, "first-token-diff", "a", "--golden", "b")
        self.assertIn("expected GOLDEN PROBLEM, or both of --golden FILE… and --problem FILE…", run.err)


if __name__ == "__main__":
    unittest.main()
