"""Completions and the pages of the manual know every command and option that --help names."""

import os
import re
import shlex
import shutil
import subprocess
import unittest

import runs


def commands_of(help_text):
    """The commands of `ulpscope --help`, aliases included."""
    names = re.findall(r"(?m)^  ([a-z][a-z_-]*)(?=  )", help_text)
    aliases = re.findall(r"\(alias\s+([a-z_-]+)\)", help_text)
    return names, aliases


def options_of(help_text):
    """The options of `ulpscope COMMAND --help`, as documents spell them: --output-path, -o."""
    found = set()
    for line in help_text.splitlines():
        if line.startswith("  -"):
            for name in re.match(r"  ((?:-\S+, )*-\S+)", line).group(1).split(", "):
                found.add(name.replace("_", "-") if name.startswith("--") else name)
    return found


class Manual(runs.RunTest):
    def setUp(self):
        super().setUp()
        self.names, self.aliases = commands_of(self.check(0, "--help").out)

    def options(self, command):
        return options_of(self.check(0, command, "--help").out)

    def test_the_help_is_read_whole(self):
        self.assertGreaterEqual(len(self.names), 20)
        self.assertIn("api_precision_compare", self.aliases)
        self.assertLessEqual({"--target-path", "-tp", "--explain", "-o", "--output-path", "-h", "--log-format"},
                             self.options("compare"))

    def test_bash_completes_every_command_and_option(self):
        script = self.write("ulpscope.bash", self.check(0, "completion", "bash").out)

        def completed(*words):
            asked = f"source {script}; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _ulpscope; echo ${{COMPREPLY[@]}}"
            return set(subprocess.run(["bash", "-c", asked], stdout=subprocess.PIPE, check=True).stdout.decode().split())

        self.assertEqual(completed("ulpscope", "''"), {*self.names, *self.aliases})
        for name in self.names:
            with self.subTest(name):
                self.assertEqual(completed("ulpscope", name, "-"), self.options(name))

    # Command, the word before, the beginning of a word, and some of what is offered for it.
    OFFERED = (("list", "--format", "", ["table", "csv", "json"]), ("list", "--log_format", "j", ["json"]),
               ("acc_check", "--data", "", ["recorded", "random"]), ("compare", "--profile", "cann", ["cann_community"]),
               ("compare", "-m", "vllm", ["vllm_v0", "vllm_v1"]), ("compare", "--target-source", "tens", ["tensor_files"]),
               ("replay", "--executor", "npu", ["npu_reference"]), ("report", "--lang", "", ["en", "zh"]),
               ("compare", "--format", "json,c", ["json,csv"]), ("compare", "--judge", "similarity,ul", ["similarity,ulp"]),
               ("compare", "--metrics", "max_", ["max_rel_err", "max_ulp"]))
    SECOND = (("plugins", "", ["list", "show", "path", "check", "new"]), ("policy", "ex", ["explain"]),
              ("guide", "", ["symptoms", "checklist", "determinism", "collect", "flow"]), ("completion", "z", ["zsh"]))

    def cases(self):
        """The words of a command line up to the one that is begun, and what is offered for it."""
        yield from (((command, before, begun), words) for command, before, begun, words in self.OFFERED)
        yield from (((command, begun), words) for command, begun, words in self.SECOND)

    def test_bash_offers_the_values_of_options_and_second_words(self):
        script = self.write("ulpscope.bash", self.check(0, "completion", "bash").out)

        def completed(*words):
            line = " ".join(shlex.quote(word) for word in (runs.PROGRAM, *words))
            asked = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _ulpscope; echo ${{COMPREPLY[@]}}"
            return subprocess.run(["bash", "-c", asked], stdout=subprocess.PIPE, check=True).stdout.decode().split()

        for words, offered in self.cases():
            with self.subTest(words):
                self.assertEqual(completed(*words), offered)
        self.assertEqual(completed("list", "--format", "=", "t"), ["table"])
        self.assertEqual(completed("list", "--format", "="), ["table", "csv", "json"])
        self.assertEqual(completed("list", "--filter", ""), [])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_offers_the_values_of_options_and_second_words(self):
        script = self.write("_ulpscope", self.check(0, "completion", "zsh").out)
        stubs = ("compset() { [[ $PREFIX != *,* ]] || { IPREFIX=${PREFIX%,*},; PREFIX=${PREFIX##*,}; }; };"
                 "compadd() { local word; for word in ${(P)2}; do [[ $word != $PREFIX* ]] || print -r -- $IPREFIX$word; done; };"
                 "_describe() { :; }; _files() { :; };")
        for words, offered in self.cases():
            line = " ".join(shlex.quote(word) for word in (runs.PROGRAM, *words))
            asked = f"{stubs} complete() {{ source {script}; }}; words=({line}); CURRENT={len(words) + 1}; PREFIX={shlex.quote(words[-1])}; complete"
            done = subprocess.run(["zsh", "-f", "-c", asked], stdout=subprocess.PIPE, check=True)
            with self.subTest(words):
                self.assertEqual(done.stdout.decode().split(), offered)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_offers_the_values_of_options_and_second_words(self):
        script = self.write("ulpscope.fish", self.check(0, "completion", "fish").out)
        path = os.path.dirname(runs.PROGRAM) + os.pathsep + os.environ["PATH"]
        for words, offered in self.cases():
            if words[1].startswith("--"):
                words = (words[0], words[1].replace("_", "-"), *words[2:])  # fish knows one spelling
            done = subprocess.run(["fish", "-c", f"source {script}; complete -C {shlex.quote('ulpscope ' + ' '.join(words))}"],
                                  stdout=subprocess.PIPE, check=True, env=dict(os.environ, PATH=path, HOME=self.folder))
            with self.subTest(words):
                self.assertEqual(sorted(line.split("\t")[0] for line in done.stdout.decode().splitlines()), sorted(offered))

    def test_what_is_offered_is_what_the_commands_take(self):
        """A wrong word after each option that has fixed values is refused with the very words that are offered."""
        script = self.check(0, "completion", "bash").out
        dumps = os.path.join(os.path.dirname(os.path.dirname(runs.DATA)), "examples", "dumps")
        arguments = {"compare": [os.path.join(dumps, "target"), os.path.join(dumps, "golden")], "guide": ["--vllm-version", "0.9.1"], "list": ["a"], "convert": ["a"], "overflow": ["a"], "report": ["a"], "merge": ["a"],
                     "locate": ["--stages", "a"], "check": ["-api_info", "a"], "multi_acc_check": ["-api_info", "a"],
                     "precision-compare": ["-npu", "a", "-gpu", "b"], "policy": ["explain", "mul", "--dtype", "float32"],
                     "first-token-diff": ["a", "b"], "anomaly": ["a"], "badcase": ["--golden", "a", "--problem", "b"],
                     "instrument": ["--tree", "a"]}
        needed = {("compare", "--backend"): ["a", "b", "--consistent-check"], ("guide", "--phase"): ["--framework", "mindie"],
                  ("guide", "--format"): ["determinism"]}
        found = re.findall(r"(?m)^    '(\S+) (--\S+)'\S*(?:\|\S+ \S+)*\) words='([^']+)'( list=yes)? ;;$", script)
        self.assertGreater(len(found), 40)
        for command, option, words, _ in found:
            with self.subTest((command, option)):
                run = self.run_program(command, *needed.get((command, option), arguments.get(command, [])), option, "no-such-word")
                self.assertEqual(run.code, 2, run.err)
                if option != "--metrics":  # the message names the most common ones only
                    self.assertEqual([word for word in words.split() if word not in run.err], [])

    def test_zsh_completes_every_command_and_option(self):
        script = self.check(0, "completion", "zsh").out
        for name in (*self.names, *self.aliases):
            self.assertIn(f"    '{name}:", script)
        for name in self.names:
            body = re.search(rf"(?ms)^    {re.escape(name)}(?:\|[a-z_|-]+)?\) options=\($(.*?)^    \) ;;$", script).group(1)
            self.assertEqual(set(re.findall(r"(?m)^      '(-[^:]+):", body)), self.options(name), name)

    def test_fish_completes_every_command_and_option(self):
        script = self.check(0, "completion", "fish").out
        for name in (*self.names, *self.aliases):
            self.assertIn(f"-a {name} -d", script)
        for name in self.names:
            found = set()
            for line in script.splitlines():
                seen = re.match(r"complete -c ulpscope -n '__fish_seen_subcommand_from ([^']+)'(( -[lso] \S+)+)", line)
                if seen and name in seen.group(1).split():
                    for kind, word in re.findall(r" -([lso]) (\S+)", seen.group(2)):
                        found.add(("--" if kind == "l" else "-") + word)
            self.assertEqual(found, self.options(name), name)

    def test_the_shells_read_their_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            if not shutil.which(shell):
                continue
            with self.subTest(shell):
                script = self.write("script", self.check(0, "completion", shell).out)
                done = subprocess.run([shell, "-n", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual((done.returncode, done.stdout), (0, b""))

    def test_every_command_has_a_page_with_its_options(self):
        self.check(0, "manual_pages", "man1")
        overview = self.read("ulpscope.1")
        for name in self.names:
            page = self.read(f"ulpscope-{name}.1")
            for option in self.options(name):
                self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", page, name)
            self.assertIn("\\fB" + name.replace("-", "\\-") + "\\fR", overview)
        for alias in self.aliases:
            self.assertRegex(self.read(f"ulpscope-{alias}.1"), r"\A\.so man1/ulpscope-[a-z_-]+\.1\n\Z")

    def test_a_folder_that_cannot_be_made_is_reported(self):
        self.write("file", "")
        self.assertIn("file/man1", self.check(3, "manual_pages", "file/man1").err)

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_groff_has_nothing_to_say_of_the_pages(self):
        self.check(0, "manual_pages", "man1")
        for page in sorted(os.listdir(self.path("man1"))):
            if self.read(page).startswith(".so"):
                continue
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-rLL=100n", "-K", "utf8", self.path("man1", page)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.stderr.decode(), "", page)

    def read(self, page):
        with open(self.path("man1", page), encoding="utf-8") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main()
