"""Runs the code blocks of one document as its reader would, in a scratch folder with the program on PATH: run_blocks.py PAGE.

bash      each command runs; it ends with 0, or with 1 where it answers "something was found"
console   commands stand behind "$ "; what follows them must be in the output, line by line, … for anything
cmake cpp a file of the page, which later commands build; a file without a name is compiled against the SDK
json yaml toml   parsed; policies with "ulpscope policy check"
sql       runs on the SQLite report of the bundled example
python    compiled; run unless the page says otherwise
text      nothing to run: the page must say why

A comment before the block, which the reader of the page does not see, says more:

<!-- block: file NAME -->       the block is that file of the scratch folder
<!-- block: synopsis -->        each option in it is one that the command's --help knows
<!-- block: output -->          lines of the output of the commands before it
<!-- block: check COMMAND -->   COMMAND accepts the block, whose file is $BLOCK
<!-- block: not run, REASON --> what it needs cannot be here
<!-- run: COMMAND -->           done before the block, where a reader would have something of his own
<!-- needs: COMMAND -->         the block is left out where COMMAND fails: a part of the program that is not built

A block that none of this fits is an error, so that no document can promise what nobody tries."""

import ast
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import world

FOUND = re.compile(r"\bulpscope\s+(-\S+\s+)*(compare|overflow|check|multi_acc_check|precision-compare|config-check|"
                   r"first-token-diff|anomaly|badcase|plugins check|replay|instrument|guide|flow)\b")


class Block:
    def __init__(self, line, language, text, notes):
        self.line, self.language, self.text, self.notes = line, language, text, notes


def blocks_of(page):
    """The fenced blocks of a page, each with the comments right before it."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    found, notes, i = [], [], 0
    while i < len(lines):
        fence = re.match(r"^( *)(`{3,})\s*(\S*)", lines[i])
        comment = re.match(r"^ *<!-- (block|run|needs): (.*?) -->$", lines[i])
        if fence:
            end = i + 1
            while end < len(lines) and lines[end].strip() != fence[2]:
                end += 1
            if end == len(lines):
                raise SystemExit(f"{page}:{i + 1}: the block does not end")
            indent = len(fence[1])
            text = "".join(line[indent:] + "\n" for line in lines[i + 1:end])
            found.append(Block(i + 1, fence[3], text, notes))
            notes, i = [], end
        elif comment:
            notes.append((comment[1], comment[2]))
        elif lines[i].strip():
            if notes:
                raise SystemExit(f"{page}:{i + 1}: a comment for a block that does not follow")
        i += 1
    return found


class Page:
    def __init__(self, page, scratch):
        self.page, self.scratch = page, scratch
        self.folder = world.build(page, scratch)
        self.output = ""

    def fail(self, block, text):
        raise SystemExit(f"{self.page}:{block.line}: {text}")

    def run(self, block, command, allowed):
        done = subprocess.run(["bash", "-c", world.local(command, self.scratch)], cwd=self.folder, env=world.environment(self.scratch),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600,
                              encoding="utf-8", errors="replace")
        if done.returncode not in allowed:
            self.fail(block, f"'{command}' ended with {done.returncode}, expected {sorted(allowed)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return world.shown(done.stdout, self.scratch)

    def succeeds(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.folder, env=world.environment(self.scratch), stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False).returncode == 0

    def run_commands(self, block, commands):
        self.output = ""
        for command in commands:
            self.output += self.run(block, command, {0, 1} if FOUND.search(command) else {0})

    def do_bash(self, block):
        self.run_commands(block, commands_of(block.text))

    def do_console(self, block):
        parts = re.split(r"^\$ ", block.text, flags=re.M)
        if parts[0].strip() or len(parts) < 2:
            self.fail(block, "expected a line that begins with '$ '")
        for part in parts[1:]:
            command, _, expected = part.partition("\n")
            self.run_commands(block, [command])
            self.compare_output(block, expected)

    def compare_output(self, block, expected):
        lines = iter(self.output.split("\n"))
        for wanted in expected.split("\n"):
            if wanted.strip() in ("", "…"):
                continue
            pattern = re.compile(r".*".join(re.escape(part) for part in re.split("…", wanted.rstrip())) + r"\s*\Z")
            if not any(pattern.match(line) for line in lines):
                self.fail(block, f"the output does not have, in this order, the line\n{wanted}\nbut is\n{self.output}")

    def do_file(self, block, name):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(block.text)
        return path

    def do_cpp(self, block):
        path = self.do_file(block, f"block_{block.line}.cpp")
        self.run(block, f"{world.COMPILER} -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I{world.INCLUDE} {shlex.quote(path)}", {0})

    def do_cmake(self, block):
        self.fail(block, "a cmake block is a file of a project: <!-- block: file NAME/CMakeLists.txt -->")

    def do_json(self, block):
        try:
            json.loads(block.text)
        except ValueError as error:
            self.fail(block, f"no JSON: {error}")

    def do_yaml(self, block):
        try:
            import yaml
        except ImportError:
            return print(f"{self.page}:{block.line}: not parsed, there is no PyYAML")
        try:
            yaml.safe_load(block.text)
        except yaml.YAMLError as error:
            self.fail(block, f"no YAML: {error}")

    def do_toml(self, block):
        import tomllib
        tomllib.loads(block.text)

    def do_sql(self, block):
        database = sqlite3.connect(world.database(self.scratch))
        try:
            database.executescript("".join(f"EXPLAIN {query};" for query in block.text.split(";") if query.strip()))
        except sqlite3.Error as error:
            self.fail(block, str(error))
        finally:
            database.close()

    def do_python(self, block):
        path = self.do_file(block, f"block_{block.line}.py")
        self.run(block, f"{shlex.quote(sys.executable)} {shlex.quote(path)}", {0})

    def do_synopsis(self, block):
        """Each option of a usage is one that the command has."""
        help_text = ""
        for line in block.text.split("\n"):
            words = re.match(r"ulpscope ([a-z_-]+)", line)
            if words:
                help_text = self.run(block, f"ulpscope {words[1]} --help", {0})
            for option in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", line):
                names = {option, option.replace("-", "_").replace("__", "--", 1), "--" + option[2:].replace("_", "-")}
                if not any(re.search(r"(?<![\w-])" + re.escape(name) + r"(?![\w-])", help_text) for name in names):
                    self.fail(block, f"--help does not know {option} in: {line}")

    def do(self, block):
        actions = [note for kind, note in block.notes if kind == "block"]
        for kind, note in block.notes:
            if kind == "needs" and not self.succeeds(note):
                return print(f"{self.page}:{block.line}: left out, '{note}' fails")
            if kind == "run":
                self.run(block, note, {0, 1})
        if len(actions) > 1:
            self.fail(block, "more than one comment says what the block is")
        action = actions[0] if actions else ""
        if action.startswith("not run, "):
            return "not run"
        if action == "synopsis":
            return self.do_synopsis(block)
        if action == "output":
            return self.compare_output(block, block.text)
        if action.startswith("file "):
            return self.do_file(block, action[5:])
        if action.startswith("check "):
            path = self.do_file(block, f"block_{block.line}.{block.language}")
            return self.run_commands(block, [f"BLOCK={shlex.quote(path)}; {action[6:]}"])
        if action:
            self.fail(block, f"'{action}' is not known, expected file, synopsis, output, check or not run")
        if block.language == "python":
            ast.parse(block.text)
        do = getattr(self, "do_" + block.language, None) if block.language else None
        if do is None:
            self.fail(block, f"a block of language '{block.language}' that nothing runs: see tests/documents/run_blocks.py")
        return do(block)


def commands_of(text):
    """The commands of a bash block: a line each, unless it goes on; a comment alone is none."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [line for line in joined.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def main():
    page = sys.argv[1]
    blocks = blocks_of(os.path.join(world.PROJECT, page))
    if not blocks:
        return
    scratch = tempfile.mkdtemp(prefix="ulpscope_documents_")
    try:
        runner = Page(page, scratch)
        for block in blocks:
            runner.do(block)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
