"""The frame of the command line: help, unknown words, exit codes, logging."""

import json
import os
import subprocess

import runs


class Frame(runs.RunTest):
    def test_help_of_the_program_groups_commands_and_ends_with_one_example(self):
        run = self.check(0, "--help")
        self.assertIn("look into a dump\n", run.out)
        self.assertIn("\n  list ", run.out)
        self.assertTrue(run.out.splitlines()[-2] == "example:", run.out)
        self.assertTrue(all(len(line) <= 80 for line in run.out.splitlines()), run.out)

    def test_help_of_every_command_fits_80_columns_and_ends_with_one_example(self):
        for command in ("list", "show", "convert", "overflow", "merge", "report", "plugins", "version"):
            with self.subTest(command):
                run = self.check(0, command, "--help")
                self.assertIn("usage: ulpscope " + command, run.out)
                self.assertTrue(all(len(line) <= 80 for line in run.out.splitlines()), run.out)
                self.assertTrue(run.out.splitlines()[-1].startswith("  ulpscope " + command), run.out)

    def test_help_wins_wherever_it_stands(self):
        self.assertIn("usage: ulpscope list", self.check(0, "list", "nowhere", "-h").out)
        self.assertIn("usage: ulpscope list", self.check(0, "-h", "list").out)

    def test_a_command_is_required(self):
        self.assertIn("usage: ulpscope COMMAND", self.check(2).err)
        self.assertIn("a command is missing", self.check(2, "-v").err)

    def test_an_unknown_command_suggests_the_nearest(self):
        run = self.check(2, "lits")
        self.assertIn("unknown command 'lits' (did you mean 'list'?)", run.err)
        self.assertEqual(run.out, "")

    def test_an_unknown_option_suggests_the_nearest(self):
        self.assertIn("unknown option '--fitler' (did you mean '--filter'?)", self.check(2, "list", "x", "--fitler", "a").err)

    def test_an_option_is_not_guessed_from_its_beginning(self):
        self.assertIn("unknown option '--fil'", self.check(2, "list", "x", "--fil", "a").err)

    def test_an_option_needs_its_value_and_takes_it_once(self):
        self.assertIn("option '--filter' needs a value", self.check(2, "list", "x", "--filter").err)
        self.assertIn("option '--filter' is given twice",
                      self.check(2, "list", "x", "--filter", "a", "--filter", "b").err)

    def test_a_flag_takes_no_value(self):
        self.assertIn("option '--ops' takes no value", self.check(2, "list", "x", "--ops=1").err)

    def test_underscore_and_dash_are_alike_in_long_names(self):
        for spelling in ("--log-format", "--log_format"):
            with self.subTest(spelling):
                run = self.check(3, "list", "nowhere", spelling, "json")
                line = json.loads(run.err.splitlines()[0])
                self.assertEqual(line["level"], "error")
                self.assertIn("nowhere: No such file or directory", line["text"])

    def test_a_wrong_number_names_the_range(self):
        self.assertIn("option --jobs: '0', expected a number from 1 to 4096", self.check(2, "list", ".", "-j0").err)
        self.assertIn("error: compare: option --jobs: '0'", self.check(2, "compare", ".", ".", "-j0").err)

    def test_a_surplus_argument_is_named(self):
        self.assertIn("unexpected argument 'b'", self.check(2, "list", "a", "b").err)

    def test_control_characters_of_an_argument_are_made_visible(self):
        run = self.check(2, "\x1b[31mred")
        self.assertIn("\\x1b[31mred", run.err)
        self.assertNotIn("\x1b", run.err)

    def test_words_behind_a_double_dash_are_no_options(self):
        self.assertIn("--filter: No such file", self.check(3, "list", "--", "--filter").err)

    def test_an_unwritable_stdout_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            process = __import__("subprocess").run([runs.PROGRAM, "version"], stdout=full,
                                                   stderr=-1, timeout=60)
        self.assertEqual(process.returncode, 3)
        self.assertIn(b"stdout: No space left on device", process.stderr)

    def test_a_closed_stdout_is_an_error_and_takes_nothing_from_files(self):
        for words in (["version"], ["plugins", "list"]):
            with self.subTest(words):
                process = __import__("subprocess").run(["sh", "-c", 'exec "$0" "$@" >&-', runs.PROGRAM, *words], stderr=-1,
                                                       timeout=60)
                self.assertEqual(process.returncode, 3)
                self.assertIn(b"stdout: Bad file descriptor", process.stderr)
                self.assertNotIn(b"plugin or library printed", process.stderr)

    def test_help_that_cannot_be_written_is_an_error(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["--help"], ["list", "--help"]):
            with self.subTest(words), open("/dev/full", "wb") as full:
                process = __import__("subprocess").run([runs.PROGRAM, *words], stdout=full, stderr=-1, timeout=60)
                self.assertEqual(process.returncode, 3)
                self.assertIn(b"stdout: No space left on device", process.stderr)

    def test_quiet_keeps_errors_and_drops_hints(self):
        run = self.check(3, "-q", "list", "nowhere")
        self.assertEqual(len(run.err.splitlines()), 1, run.err)


class Version(runs.RunTest):
    def test_version_names_product_abi_compiler_and_kernels(self):
        lines = self.check(0, "version").out.splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["ulpscope", "plugins", "compiler", "kernels"])
        self.assertEqual(self.check(0, "--version").out.splitlines(), lines)

    def test_a_kernel_set_that_is_not_there_is_reported(self):
        run = self.check(0, "version", environment={"ULPSCOPE_KERNELS": "abacus"})
        self.assertIn("abacus", run.err)


class Plugins(runs.RunTest):
    def test_list_shows_the_sources_with_version(self):
        run = self.check(0, "plugins", "list")
        self.assertRegex(run.out, r"(?m)^source +torch_api +\d+\.\d+")
        self.assertEqual(self.check(0, "plugins").out, run.out)

    def test_show_prints_the_options_of_a_source(self):
        run = self.check(0, "plugins", "show", "torch_api")
        self.assertIn("source torch_api", run.out)
        self.assertIn("DEFAULT", run.out)

    def test_show_of_an_unknown_name_suggests_the_nearest(self):
        self.assertIn("(did you mean 'torch_api'?)", self.check(2, "plugins", "show", "torch_pai").err)
        self.assertIn("argument NAME is missing", self.check(2, "plugins", "show").err)

    def test_completions_know_the_commands_and_their_options(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.check(0, "completion", shell).out
            self.assertIn("precision-compare", script)
            self.assertIn("golden-path", script)
            self.assertNotIn("check-worker", script)  # the program's own
        bash = self.write("ulpscope.bash", self.check(0, "completion", "bash").out)
        answer = subprocess.run(["bash", "-c", f"source {bash}; COMP_WORDS=(ulpscope compare --gold); COMP_CWORD=2; "
                                 "_ulpscope; echo ${COMPREPLY[@]}"], stdout=subprocess.PIPE, check=True)
        self.assertEqual(answer.stdout.split(), [b"--golden-path", b"--golden-source"])
        self.assertIn("expected bash, zsh or fish", self.check(2, "completion", "tcsh").err)

    def test_an_unknown_action_is_a_usage_error(self):
        self.assertIn("expected list, show, path, check or new (did you mean 'path'?)", self.check(2, "plugins", "paht").err)

    def test_path_prints_the_search_order(self):
        run = self.check(0, "plugins", "path", "--plugin-path", self.folder)
        self.assertRegex(run.out, r"(?m)^ +1  " + self.folder + r" +--plugin-path$")

    def test_a_file_that_is_no_plugin_is_refused_with_the_reason(self):
        self.write("junk.plugin.so", "no library")
        run = self.check(0, "plugins", "list", "--plugin-path", self.folder)
        self.assertRegex(run.out, r"junk\.plugin\.so +not a loadable library")
        self.assertIn("torch_api", run.out)


if __name__ == "__main__":
    runs.main()
