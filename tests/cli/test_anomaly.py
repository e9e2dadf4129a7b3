"""anomaly: every rule at its limit, repeats, thresholds, and what must get no label."""

import json
import os
import unittest

import runs

FOLDER = os.path.join(runs.DATA, "outputs", "anomaly")


class AnomalyTest(runs.RunTest):
    def anomaly(self, code, *words):
        run = self.check(code, "anomaly", *words, "--format", "json")
        result = json.loads(run.out, parse_constant=runs.refuse_constant)
        self.assertEqual(result["schema"], "ulpscope.anomaly/1")
        self.log = run.err
        return result

    def one(self, text, prompt="Tell me.", finish="stop", code=None, words=(), **members):
        """The labels of one output."""
        output = dict({"id": "x", "prompt": prompt, "text": text, "finish_reason": finish}, **members)
        path = self.write("one.jsonl", json.dumps(output) + "\n")
        run = self.run_program("anomaly", path, "--format", "json", *words)
        self.assertIn(run.code, (0, 1), run.err)
        result = json.loads(run.out)["outputs"][0]
        self.assertEqual(run.code, 1 if set(result["labels"]) - {"truncated"} else 0)
        self.hits = result["hits"]
        self.info = result["info"]
        return result["labels"]


class Samples(AnomalyTest):
    def test_every_sample_has_the_labels_of_its_answer(self):
        with open(os.path.join(FOLDER, "expected.json"), encoding="utf-8") as file:
            expected = json.load(file)
        result = self.anomaly(1, os.path.join(FOLDER, "responses.jsonl"))
        self.assertEqual({each["id"]: each["labels"] for each in result["outputs"]}, expected)

    def test_repeats(self):
        with open(os.path.join(FOLDER, "repeats.expected.json"), encoding="utf-8") as file:
            expected = json.load(file)
        result = self.anomaly(1, os.path.join(FOLDER, "repeats.jsonl"), "--repeats")
        self.assertEqual(set(result["repeats"]), set(expected))
        for prompt, answer in expected.items():
            for name, value in answer.items():
                if name != "note":
                    self.assertEqual(result["repeats"][prompt][name], value, (prompt, name))
        self.assertEqual(result["repeats"]["C?"]["info"], ["inconsistent"])


class Garbled(AnomalyTest):
    LINE = "The baker on the corner keeps his lamp lit until dawn. "

    def test_half_a_character_at_the_end_of_a_cut_output_is_none(self):
        self.assertEqual(self.one("Bei\ufffd", finish="length"), ["truncated"])
        self.assertEqual(self.one("Bei\ufffd", finish=None), [])
        self.assertEqual(self.one("Bei\ufffd", finish="stop"), ["garbled"])

    def test_one_in_a_hundred_is_the_limit(self):
        self.assertEqual(self.one("\ufffd" + "aB3 d" * 19 + "efgh"), ["garbled"])  # 1 of 100
        self.assertEqual(self.one("\ufffd" + self.LINE * 2 + "x" * 20), [])  # 1 of 131

    def test_three_replacement_characters_anywhere(self):
        text = " ".join("word%d" % i for i in range(200))
        self.assertEqual(self.one(text[:100] + "\ufffd" + text[100:500] + "\ufffd" + text[500:900] + "\ufffd."), ["garbled"])

    def test_one_unknown_token_is_none(self):
        self.assertEqual(self.one("The <unk> runs past the mill."), [])
        self.assertEqual(self.one("The <unk> runs past [UNK]."), ["garbled"])
        self.assertEqual(self.one("A <|unk|> and <0xe5>."), ["garbled"])

    def test_mojibake_needs_three_groups(self):
        apostrophe = "\u00e2\u20ac\u2122"
        self.assertEqual(self.one("it%ss he%ss x" % (apostrophe, apostrophe)), [])
        self.assertEqual(self.one("it%ss he%ss x%s" % (apostrophe, apostrophe, "\u00c3\u00a9")), ["garbled"])
        self.assertEqual(self.hits[0]["rule"], "mojibake")

    def test_accents_are_no_mojibake(self):
        self.assertEqual(self.one("L\u2019\u00e9t\u00e9 \u00e0 la Cr\u00e8te, na\u00eft\u00ef, c\u0153ur, \u00e2me, \u00c2ge."), [])

    def test_control_characters_need_their_share(self):
        self.assertEqual(self.one("\x01\x02\x03 " + self.LINE * 2), ["garbled"])  # 3 of 112
        self.assertEqual(self.one("\x01\x02\x03 " + "word one two. " * 1 + " ".join("w%d" % i for i in range(60))), [])
        self.assertEqual(self.one("private \ue000\ue001\ue002 use"), ["garbled"])
        self.assertEqual(self.one("a\r\n\tb\r\n\tc\r\n\td"), [])

    def test_bytes_that_are_no_text_become_replacement_characters(self):
        path = self.write("b.jsonl", b'{"id": "x", "prompt": "p", "text": "a \xff\xfe\xfd b", "finish_reason": "stop"}\n')
        self.assertEqual(self.anomaly(1, path)["outputs"][0]["labels"], ["garbled"])


class WhiteSpace(AnomalyTest):
    def test_white_space_alone(self):
        self.assertEqual(self.one(" " * 31), ["empty"])
        self.assertEqual(self.one(" " * 32), ["whitespace_flood"])
        self.assertEqual(self.one(""), ["empty"])

    def test_short_outputs_may_be_mostly_blank(self):
        self.assertEqual(self.one("a" + " " * 37 + "b"), [])  # 39
        self.assertEqual(self.one("a" + " " * 38 + "b"), ["whitespace_flood"])  # 40, 95 %

    def test_a_run_of_64_blanks_or_line_feeds(self):
        words = " ".join("word%d" % i for i in range(40))
        self.assertEqual(self.one(words + " " * 63 + "b"), [])
        self.assertEqual(self.one(words + " " * 64 + "b"), ["whitespace_flood"])
        self.assertEqual(self.one(words + "\n" * 64 + "b"), ["whitespace_flood"])

    def test_tables_and_indentation_are_layout(self):
        row = "| a" + " " * 70 + "| b" + " " * 70 + "|\n"
        self.assertEqual(self.one(row.replace("a", "x") + row + row), [])
        deep = "".join(" " * 60 + "call_%d(x)\n" % i for i in range(6))
        self.assertEqual(self.one(deep), [])


class Repetition(AnomalyTest):
    START = "Nobody remembers who built it, but every map shows where:"

    def tail(self, unit, times, finish):
        return self.one(self.START + unit * times, finish=finish)

    def test_four_repeats_of_sixty_characters_where_it_was_cut_off(self):
        unit = "It is said so. "  # 15: four are 60, and the last blank is cut off
        self.assertEqual(self.tail(unit, 4, "length"), ["truncated"])
        self.assertEqual(self.tail(unit, 5, "length"), ["repetition", "truncated"])
        self.assertEqual(self.hits[0]["values"], {"period": 15, "span": 74, "repeats": 4})

    def test_eight_repeats_where_it_ended_by_itself(self):
        unit = "It is said. Or so? "
        self.assertEqual(self.tail(unit, 7, "stop"), [])
        self.assertEqual(self.tail(unit, 9, "stop"), ["repetition"])

    def test_an_unknown_reason_counts_as_cut_off(self):
        self.assertEqual(self.tail("It is said so. ", 5, None), ["repetition"])

    def test_rules_across_the_page_are_layout(self):
        self.assertEqual(self.one("Title\n" + "-" * 180, finish="length"), ["truncated"])
        self.assertEqual(self.one("Title\n" + "-" * 201, finish="length"), ["repetition", "truncated"])
        self.assertEqual(self.one("Title\n" + "- * " * 40, finish="length"), ["truncated"])

    def test_token_loops_that_the_text_does_not_show(self):
        loop = list(range(100, 130))
        self.assertEqual(self.one("x", finish="length", token_ids=[1, 2, 3] + loop * 3), ["truncated"])
        self.assertEqual(self.one("x", finish="length", token_ids=[1, 2, 3] + loop * 4), ["repetition", "truncated"])
        self.assertEqual(self.hits[0]["where"], {"token": 3})

    def test_the_end_token_does_not_hide_a_loop(self):
        loop = list(range(100, 110))
        self.assertEqual(self.one("x", token_ids=loop * 7 + [2]), [])
        self.assertEqual(self.one("x", token_ids=loop * 8 + [2]), ["repetition"])

    def test_lines(self):
        self.assertEqual(self.one("Check it now.\n" * 4 + "Done."), [])
        other = "\n".join("Line %d is another one, quite long too." % i for i in range(4))
        self.assertEqual(self.one("Check it once more, please, and again.\n" * 5 + other), ["repetition"])
        self.assertEqual(self.hits[0]["rule"], "lines")

    def test_lines_of_punctuation_do_not_count(self):
        self.assertEqual(self.one("}\n----------\nabc def\n----------\nq\n----------\nr\n----------\ns\n----------\nt"), [])

    def test_ngrams_see_loops_with_small_changes(self):
        text = " ".join("The answer is not %d, since the answer is not known." % (i % 3) for i in range(20)) + " End of it."
        self.assertEqual(self.one(text), ["repetition"])
        self.assertIn("ngrams", [hit["rule"] for hit in self.hits])

    def test_a_long_text_is_linear(self):
        self.assertEqual(self.one("a" * 2000000 + "b", finish="stop"), [])


class Languages(AnomalyTest):
    EN = "The river runs past the old mill and under the bridge. "

    def test_greek_letters_in_formulas(self):
        self.assertEqual(self.one("\u03b1 = 0.5, \u03b2 = 2, \u0394x and \u03c0/4"), [])

    def test_two_letters_are_none_three_in_runs_are(self):
        self.assertEqual(self.one(self.EN + "\u0434\u0430."), [])
        self.assertEqual(self.one(self.EN + "\u0434\u0430\u043c."), ["language_mix"])
        self.assertEqual(self.one(self.EN + "\u0434\u0430 x \u0434\u0430"), ["language_mix"])

    def test_one_character_between_does_not_end_a_run(self):
        self.assertEqual(self.one(self.EN + "\u0434.\u0430.\u043c"), ["language_mix"])
        self.assertEqual(self.one(self.EN + "\u0434..\u0430..\u043c"), [])

    def test_kana_brings_han(self):
        self.assertEqual(self.one("\u6771\u4eac\u306f\u9996\u90fd\u3067\u3059\u3002", prompt="\u306b\u3064\u3044\u3066"), [])

    def test_half_of_the_letters_are_a_switch(self):
        self.assertEqual(self.one("\u041c\u043e\u0441\u0442 ok", prompt="Tell me."), ["language_switch"])

    def test_a_language_that_the_prompt_asks_for(self):
        russian = "\u041c\u043e\u0441\u0442 \u0438\u0437 \u043a\u0430\u043c\u043d\u044f."
        for prompt in ("Translate this.", "Answer in Russian.", "Say it in the Russian language", "\u8bf7\u7ffb\u8bd1\u3002",
                       "\u8bd1\u6210\u4fc4\u8bed", "\u7528\u4fc4\u8bed\u56de\u7b54"):
            self.assertEqual(self.one(russian, prompt=prompt), [], prompt)
        for prompt in ("Tell me about Russian rivers.", "\u5176\u4e2d\u6587\u5316\u5982\u4f55\uff1f", "\u4eca\u65e5\u6587\u7ae0"):
            self.assertNotEqual(self.one(russian, prompt=prompt), [], prompt)

    def test_without_a_prompt_the_script_of_most_letters_is_expected(self):
        self.assertEqual(self.one("\u5317\u4eac\u662f\u9996\u90fd\u3002", prompt=None), [])
        self.assertEqual(self.one("\u5317\u4eac\u662f\u9996\u90fd\u3002\uadf8\ub9ac\uace0", prompt=None), ["language_mix"])


class Tokens(AnomalyTest):
    def test_impossible_log_probabilities(self):
        self.assertEqual(self.one("ok", logprobs=[-0.1, "NaN"]), ["bad_logprob"])
        self.assertEqual(self.one("ok", logprobs=[-0.1, "Infinity"]), ["bad_logprob"])
        self.assertEqual(self.one("ok", logprobs=[0.000002]), ["bad_logprob"])
        self.assertEqual(self.one("ok", logprobs=[0.0000005, None, "-Infinity", -9999.0]), [])

    def unsure(self, share):
        positions = 128
        wide = [{"a%d" % k: -4.0 for k in range(5)} for _ in range(positions)]  # 5 exp(-4) = 0.09
        sure = [{"a": -0.1, "b": -3.0}] * positions
        return [wide[i] if i < share else sure[i] for i in range(positions)]

    def test_low_confidence_is_info(self):
        self.assertEqual(self.one("ok", logprobs=self.unsure(26)), [])  # 20.3 %
        self.assertEqual(self.info, ["low_confidence"])
        self.assertEqual(self.one("ok", logprobs=self.unsure(25)), [])  # 19.5 %
        self.assertEqual(self.info, [])

    def test_categories_narrow_low_confidence(self):
        positions = [{"token_id:%d" % k: -4.0 for k in range(5)}] * 128
        few = self.write("few.json", json.dumps({"Latin": [0, 1, 2], "Han": [3, 4]}))
        many = self.write("many.json", json.dumps({"0": "Latin", "1": "Han", "2": "Thai", "3": "punctuation"}))
        self.one("ok", logprobs=positions, words=["--categories", few])
        self.assertEqual(self.info, [])
        self.one("ok", logprobs=positions, words=["--categories", many])
        self.assertEqual(self.info, ["low_confidence"])

    def test_an_early_stop_needs_golden(self):
        golden = self.write("g.jsonl", json.dumps({"id": "x", "token_ids": list(range(100))}) + "\n")
        self.assertEqual(self.one(None, token_ids=list(range(29)), words=["--golden", golden]), ["early_stop"])
        self.assertEqual(self.one(None, token_ids=list(range(30)), words=["--golden", golden]), [])
        self.assertEqual(self.one(None, finish="length", token_ids=[1], words=["--golden", golden]), ["truncated"])


class Settings(AnomalyTest):
    def test_thresholds(self):
        limits = self.write("t.yaml", "garbled_unknown_count: 1\n")
        self.assertEqual(self.one("The <unk> runs.", words=["--thresholds", limits]), ["garbled"])

    def test_wrong_thresholds_are_named(self):
        path = self.write("a.jsonl", '{"text": "x"}\n')
        for text, message in (("tail_spam: 3", "t.yaml:1: unknown threshold 'tail_spam' (did you mean 'tail_span'?)"),
                              ("tail_span: x", "t.yaml:1: tail_span: expected a number from 0 on"),
                              ("- 1", "expected names and numbers, one a line")):
            run = self.check(2, "anomaly", path, "--thresholds", self.write("t.yaml", text))
            self.assertIn(message, run.err)

    def test_wrong_categories_are_named(self):
        path = self.write("a.jsonl", '{"text": "x"}\n')
        run = self.check(3, "anomaly", path, "--categories", self.write("c.json", "[1]"))
        self.assertIn("expected token numbers and categories", run.err)


class Frame(AnomalyTest):
    def test_text_and_files(self):
        path = os.path.join(FOLDER, "responses.jsonl")
        run = self.check(1, "anomaly", path, "-o", self.path("out"), "--exact-output")
        self.assertIn("rep-lines\n    repetition  by lines, from character 0 on: count 9", run.out)
        self.assertIn("look here first\n", run.out)
        self.assertEqual(self.read_json("out/anomaly_result.json")["summary"]["outputs"], 42)
        self.assertTrue(os.path.exists(self.path("out/anomaly_result.txt")))

    def test_nothing_found(self):
        path = self.write("a.jsonl", '{"id": "x", "prompt": "p", "text": "All is well.", "finish_reason": "stop"}\n')
        self.assertIn("nothing found", self.check(0, "anomaly", path).out)

    def test_a_plain_text_is_one_output(self):
        path = self.write("reply.txt", "The <unk> runs past [UNK].\n")
        self.assertEqual(self.anomaly(1, path)["outputs"][0]["labels"], ["garbled"])

    def test_server_responses_are_read_too(self):
        path = self.write("a.json", json.dumps({"id": "chatcmpl-7", "choices": [
            {"index": 0, "message": {"content": "Fine."}, "finish_reason": "stop"},
            {"index": 1, "message": {"content": " "}, "finish_reason": "stop"}]}, indent=1))
        result = self.anomaly(1, path)
        self.assertEqual([(e["id"], e["index"], e["labels"]) for e in result["outputs"]],
                         [("chatcmpl-7", 0, []), ("chatcmpl-7", 1, ["empty"])])

    def test_a_broken_line_is_told_and_the_rest_inspected(self):
        path = self.write("a.jsonl", '{"text": "ok"}\n{"text": "x\n{"text": "fine"}\n')
        self.assertEqual(len(self.anomaly(3, path)["outputs"]), 2)
        self.assertIn("byte 15", self.log)

    def test_no_file(self):
        self.assertIn("FILE", self.check(2, "anomaly").err)


if __name__ == "__main__":
    unittest.main()
