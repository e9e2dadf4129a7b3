"""plugins check: each planted fault is found by its check, and nothing else is; plugins new: what it makes is sound."""

import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MODULES = sys.argv[1:3]

# Kind and fault of a bad plugin, the check that must find it, and words of the finding.
FAULTS = {
    "source_loud": ("library.quiet", "prints while it is loaded"),
    "source_thread": ("library.quiet", "starts 1 thread(s) while it is loaded"),
    "source_exit": ("source.probe_foreign", "the check ended the process with exit code 3"),
    "source_greedy": ("source.probe_foreign", "probe of a text file scored 50, expected 0"),
    "source_slow": ("source.probe_foreign", "expected 50 at most"),
    "source_crash": ("source.open_foreign", "the check crashed (SIGABRT)"),
    "source_silent": ("source.open_foreign", "open of random bytes gave no error, and its scan no diagnosis"),
    "source_unstable": ("source.scan_twice", "two scans of the sample differ, first at record 0"),
    "source_order": ("source.records", "a tensor of op 1 came before the op"),
    "source_parent": ("source.records", "op 'call' has parent 9"),
    "source_escape": ("source.ranges", "path leaves the dump"),
    "source_range": ("source.ranges", "bytes 32 to 96 of data, which has 64"),
    "source_size": ("source.ranges", "64 bytes of data, expected 80 by shape and element type"),
    "source_deaf": ("source.sink_fails", "the sink refused record 2"),
    "source_cancel": ("source.cancel", "after it was cancelled"),
    "source_stream": ("source.streams", "reading 7 bytes at a time gives other data"),
    "source_kind": ("source.numbers", "op 'call': kind 99, expected 1 to 5"),
    "source_phase": ("source.numbers", "op 'call': phase 77, expected 0 to 2"),
    "source_role": ("source.numbers", "role 9, expected 1 to 5"),
    "source_dtype": ("source.numbers", "element type 99, expected 0 to 24"),
    "source_overflow": ("source.shapes", "shape [4611686018427387904, 4] has more elements than can be counted"),
    "source_utf8": ("source.texts", "the name is not UTF-8: 'call\\xff'"),
    "source_json": ("source.attributes", "op 'call': attributes: not JSON at byte 1"),
    "source_twice": ("source.given_twice", "call, role 3, path 0 is given twice"),
    "source_samecall": ("source.calls", "op 1 has name 'call' and call 0, as an earlier one of step -1, rank -1 has"),
    "source_locate": ("source.locate", "locate: 2 of 2 fail, the first with: call, role 3, path 0: source 'bad_source': "
                                       "locate: nothing is where it was"),
    "source_race": ("source.locate_threads", "locate answers otherwise when eight threads ask at once"),
    "source_greedystream": ("source.streams", "stream_read gave 1048676 bytes, expected at most 1048576"),
    "source_empty": ("source.empty", "call, role 3, path 0 is empty, and reading it gives bytes"),
    "source_scanloud": ("source.quiet", "prints while it reads the sample ('hello from a scan"),
    "source_readloud": ("source.quiet", "prints while it reads the sample ('hello from a stream"),
    "source_damage": ("source.damage", "data, cut to 0 bytes: crashed (SIGABRT)"),
    "judgement_crash": ("judgement.edges", "the check crashed (SIGABRT)"),
    "judgement_chunks": ("judgement.chunks", "in chunks of 1024"),
    "judgement_merge": ("judgement.merge", "when two parts are merged"),
    "judgement_equal": ("judgement.equal", "equal sides do not pass"),
    "judgement_missing": ("judgement.missing", "every metric unavailable, and it passes"),
    "judgement_nan": ("judgement.missing", "every metric NaN, and it passes"),
    "judgement_options": ("judgement.options", 'takes the options {"there_is_no_such_option": 1}'),
    "judgement_twice": ("judgement.twice", "judges the same numbers in two ways"),
    "judgement_loud": ("judgement.quiet", "prints while it measures and judges ('hello from a judgement"),
    "executor_loud": ("executor.quiet", "prints while it runs ('hello from an executor"),
    "executor_unknown": ("executor.unknown_op", "says that it supports an operation that does not exist"),
    "executor_crash": ("executor.wrong_inputs", "the check crashed (SIGABRT)"),
    "executor_inputs": ("executor.inputs_unchanged", "abs changes its inputs"),
    "executor_twice": ("executor.run_twice", "abs gives other numbers the second time"),
}


class Kit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.sample = os.path.join(self.folder, "sample")
        os.mkdir(self.sample)
        for name, content in (("bad_source", b""), ("data", bytes(range(64)))):
            with open(os.path.join(self.sample, name), "wb") as file:
                file.write(content)

    def run_program(self, *words, fault="none"):
        environment = dict(os.environ, ULPSCOPE_TEST_FAULT=fault)
        return subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=300, universal_newlines=True, env=environment)

    @staticmethod
    def module(kind):
        return os.path.join(MODULES, f"bad_{kind}.plugin.so")

    def check(self, name, *words):
        kind, fault = name.split("_")
        sample = ["--dump", self.sample] if kind == "source" else []
        run = self.run_program("plugins", "check", self.module(kind), "--json", *sample, *words, fault=fault)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        result = json.loads(run.stdout)
        findings = [(check["id"], finding["level"], finding["text"]) for check in result["checks"]
                    for finding in check["findings"]]
        self.assertEqual(run.returncode, 1 if result["errors"] else 0)
        return findings

    def test_each_planted_fault_is_found_by_its_check(self):
        for name, (check, words) in FAULTS.items():
            with self.subTest(name):
                findings = self.check(name, "--only", check)
                self.assertTrue(any(words in text for _, _, text in findings), findings)

    def test_a_sound_plugin_has_no_finding(self):
        for name in ("source_none", "judgement_none", "executor_none"):
            with self.subTest(name):
                # A loaded machine may be slow, which is a warning.
                self.assertEqual([f for f in self.check(name) if f[1] != "warning"], [])

    def test_a_source_without_a_sample_is_told_what_could_not_run(self):
        run = self.run_program("plugins", "check", self.module("source"))
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertRegex(run.stdout, r"note: \d+ checks could not run without a sample of a dump \(--dump")
        self.assertIn("scan_twice", run.stdout)
        self.assertTrue(run.stdout.rstrip().endswith("0 errors, 0 warnings, 1 note"), run.stdout)

    def test_the_program_names_the_plugin_that_breaks_its_contract(self):
        """Fault, exit codes of list and compare, words of what is told."""
        at = re.escape(os.path.realpath(self.module("source")))
        source = f"source 'bad_source' \\({at}\\)"
        cases = (
            ("crashscan", 4, 4, f"the plugin crashed: {source} in scan \\(SIGABRT\\)"),
            ("exitscan", 4, 4, f"{source} in scan ended the process"),
            ("throwscan", 4, 4, f"{source}: scan: what it threw"),
            ("scanloud", 0, 0, f"{source}: printed \\d+ B to the standard output: 'hello from a scan"),
            ("kind", 0, 0, f"call: kind 99, expected 1 to 5, by {source}"),
            ("json", 0, 0, f"call: attributes: not JSON at byte 1, by {source}"),
            ("utf8", 0, 0, f"the name is not UTF-8: .*, by {source}"),
            ("twice", 0, 0, f"call: tensor output.0 is given twice, by {source}"),
            ("overflow", 3, 3, f"has more elements than can be counted, by {source}"),
            ("dtype", 3, 3, f"call output.0: element type 99, expected 0 to 24, by {source}"),
            ("locate", 0, 3, f"{source}: locate: nothing is where it was"),
            ("greedystream", 0, 3, f"{source}: stream_read gave 164 bytes, expected at most 64"),
        )
        for fault, listed, compared, words in cases:
            with self.subTest(fault):
                run = self.run_program("list", self.sample, "--plugin-path", MODULES, fault=fault)
                self.assertEqual(run.returncode, listed, run.stderr)
                if compared == listed:
                    self.assertRegex(run.stderr, words)
                run = self.run_program("compare", self.sample, self.sample, "--plugin-path", MODULES, "-o",
                                       os.path.join(self.folder, fault), fault=fault)
                self.assertEqual(run.returncode, compared, run.stderr)
                self.assertRegex(run.stdout + run.stderr, words)

    def test_what_a_plugin_prints_stays_out_of_the_answer(self):
        for fault in ("scanloud", "readloud"):
            with self.subTest(fault):
                run = self.run_program("list", self.sample, "--plugin-path", MODULES, "--format", "json", fault=fault)
                self.assertEqual(run.returncode, 0, run.stderr)
                json.loads(run.stdout)
        run = self.run_program("compare", self.sample, self.sample, "--plugin-path", MODULES, "-o", self.folder, fault="readloud")
        self.assertNotIn("hello", run.stdout)
        self.assertIn("a plugin or library printed", run.stderr)

    def run_calls(self, fault, *words):
        return self.run_program(*words, "--executor", "bad_executor", "--plugin-path", MODULES, fault=fault)

    def test_check_runs_the_calls_of_a_source_of_a_plugin(self):
        run = self.run_calls("calls", "check", "-api_info", self.sample, "-d", "recorded", "-o", self.folder)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("pass 3   warning 0   error 0   skip 0", run.stdout)

    def test_replay_runs_a_call_of_a_source_of_a_plugin(self):
        run = self.run_calls("calls", "replay", self.sample, "--op", "abs.2", "--against", self.sample)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("output.0  float32 (4, 4)  fine", run.stdout)
        self.assertIn("neither side is off", run.stdout)
        run = self.run_calls("calls", "replay", self.sample, "--op", "abs.7")
        self.assertEqual(run.returncode, 2)
        self.assertRegex(run.stderr, "has no API call 'abs.7'")
        run = self.run_program("replay", self.sample, "--op", "abs", "--plugin-path", MODULES, fault="calls")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("LibTorch", run.stderr)
        run = self.run_calls("calls", "replay", self.sample, "--op", "abs", "-m", "torch_api")
        self.assertEqual(run.returncode, 3, run.stderr)

    def test_a_dump_without_inputs_has_no_call_to_run(self):
        run = self.run_calls("none", "check", "-api_info", self.sample, "-o", self.folder)
        self.assertEqual(run.returncode, 3)
        self.assertIn("bad_source gives no operation with inputs, expected calls to run again", run.stderr)

    def test_an_executor_that_crashes_costs_one_call_of_a_check_and_is_named(self):
        run = self.run_calls("callscrash", "check", "-api_info", self.sample, "-d", "recorded", "-o", self.folder)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("pass 2   warning 0   error 0   skip 1", run.stdout)
        with open(glob.glob(os.path.join(self.folder, "check_*", "check_result.json"))[0]) as file:
            apis = {api["api"]: api for api in json.load(file)["apis"]}
        self.assertEqual([apis[name]["forward"] for name in ("abs", "abs.1", "abs.2")], ["pass", "SKIP", "pass"])
        at = re.escape(os.path.realpath(self.module("executor")))
        self.assertRegex(apis["abs.1"]["message"], f"signal 6 .* by executor 'bad_executor' \\({at}\\) in run")
        self.assertRegex(run.stdout + run.stderr, "executor 'bad_executor' .* in run")

    def test_the_elements_that_a_judgement_names_are_told(self):
        for name, value in (("a.npy", 1), ("b.npy", 2)):
            with open(os.path.join(self.folder, name), "wb") as file:
                header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }"
                header += b" " * (118 - 1 - len(header)) + b"\n"
                file.write(b"\x93NUMPY\x01\x00\x76\x00" + header + struct.pack("<8f", *[value] * 8))
        words = ("compare", os.path.join(self.folder, "a.npy"), os.path.join(self.folder, "b.npy"), "--judge", "bad_judgement",
                 "--plugin-path", MODULES, "-o")
        run = self.run_program(*words, os.path.join(self.folder, "out"), "--exact-output", fault="worst")
        self.assertEqual(run.returncode, 1, run.stderr)
        with open(os.path.join(self.folder, "out", "compare_result.json")) as file:
            row = json.load(file)["rows"][0]
        self.assertEqual((row["judged"], row["message"].split("; ")[-1]), ("fail", "worst: [1,1] 2.5 against 2"))
        run = self.run_program(*words, os.path.join(self.folder, "far"), fault="worstfar")
        self.assertEqual(run.returncode, 4, run.stdout)
        self.assertIn("names element 1099511627776 as the worst of 8, expected one of the tensor", run.stderr)

    def test_what_is_no_plugin_gets_the_checks_that_say_why(self):
        with open(os.path.join(self.folder, "text.plugin.so"), "w") as file:
            file.write("no library")
        run = self.run_program("plugins", "check", file.name)
        self.assertEqual(run.returncode, 1)
        self.assertIn("not a loadable library", run.stdout)
        self.assertNotIn("source.", run.stdout)

    def test_wrong_words(self):
        self.assertEqual(self.run_program("plugins", "check").returncode, 2)
        self.assertEqual(self.run_program("plugins", "check", "there_is_none").returncode, 2)
        run = self.run_program("plugins", "check", self.module("source"), "--only", "source.scan")
        self.assertEqual(run.returncode, 2)
        self.assertIn("there is no check 'source.scan'", run.stderr)
        self.assertIn("source.scan_twice", self.run_program("plugins", "check", "--list").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
