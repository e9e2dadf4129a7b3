"""Completions and the pages of the manual know every command and option that --help names."""

import os
import re
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
