"""The tarball in a bare system: bare_root.py SUITE TARBALL. A minimal root of a Debian or Ubuntu suite is made by debootstrap,
once, and kept in the user's cache; the tarball is unpacked there into a folder with a blank in its name, moved, and run by
chroot. Ends with 77 (skipped), and says why, where that cannot be done: no tarball, not root, no debootstrap, no mirror."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

# Where a suite comes from; debootstrap knows the scripts of all of them.
MIRRORS = {"bookworm": "http://deb.debian.org/debian", "trixie": "http://deb.debian.org/debian",
           "jammy": "http://archive.ubuntu.com/ubuntu", "noble": "http://archive.ubuntu.com/ubuntu"}
ANSWER_SECONDS, FETCH_SECONDS = 10, 600
UNPACKED = "/opt/a place"      # with a blank
MOVED = "/srv/another place"
DUMPS = "share/ulpscope/examples/dumps"
SDK = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "sdk")


class Skipped(Exception):
    pass


def bare_root(suite):
    """The folder with the root of suite. Raises Skipped where it cannot be had."""
    if os.geteuid() != 0:
        raise Skipped("needs root for debootstrap and chroot")
    if not shutil.which("debootstrap"):
        raise Skipped("debootstrap is not installed")
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ulpscope", "roots")
    root = os.path.join(cache, suite)
    if os.path.isdir(root):
        return root
    try:
        urllib.request.urlopen(f"{MIRRORS[suite]}/dists/{suite}/Release", timeout=ANSWER_SECONDS).close()
    except OSError as error:
        raise Skipped(f"no answer from {MIRRORS[suite]}: {error}") from error
    os.makedirs(cache, exist_ok=True)
    # A root appears under its name only when it is whole.
    made = tempfile.mkdtemp(prefix=suite + ".", dir=cache)
    os.chmod(made, 0o755)
    command = ["debootstrap", "--variant=minbase"]
    # The keys of Ubuntu are not a part of Debian. What is fetched runs in the chroot alone.
    if "ubuntu" in MIRRORS[suite] and not os.path.exists("/usr/share/keyrings/ubuntu-archive-keyring.gpg"):
        command.append("--no-check-gpg")
    try:
        done = subprocess.run([*command, suite, made, MIRRORS[suite]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=FETCH_SECONDS)
    except subprocess.TimeoutExpired as error:
        shutil.rmtree(made, True)
        raise Skipped(f"no root of {suite} from {MIRRORS[suite]} within {FETCH_SECONDS} s") from error
    if done.returncode != 0:
        shutil.rmtree(made, True)
        last = done.stdout.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise Skipped(f"no root of {suite} from {MIRRORS[suite]}: {' '.join(last)}")
    os.rename(made, root)
    return root


class BareRoot(unittest.TestCase):
    root = tarball = home = ""

    @classmethod
    def setUpClass(cls):
        for place in (UNPACKED, MOVED):
            shutil.rmtree(cls.root + place, True)
            cls.addClassCleanup(shutil.rmtree, cls.root + place, True)
        os.makedirs(cls.root + UNPACKED)
        subprocess.run(["tar", "-xzf", cls.tarball, "-C", cls.root + UNPACKED], check=True)
        os.rename(cls.root + UNPACKED, cls.root + MOVED)
        cls.home = MOVED + "/" + os.listdir(cls.root + MOVED)[0]

    def inside(self, *words, code=0):
        """Standard output of a command that runs in the root, in a mount space of its own that has /proc."""
        script = 'mount -t proc proc "$0/proc" 2>/dev/null; root=$0; exec chroot "$root" "$@"'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, self.root, "/usr/bin/env", "-i", "PATH=/usr/bin:/bin",
                               "LC_ALL=C.UTF-8", "HOME=/root", *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, code, f"{words}\n{out}\n{err}")
        return out

    def ulpscope(self, *words, code=0):
        return self.inside(self.home + "/bin/ulpscope", *words, code=code)

    def dump(self, name):
        return f"{self.home}/{DUMPS}/{name}"

    def write(self, name, text):
        with open(self.root + MOVED + "/" + name, "w", encoding="utf-8") as file:
            file.write(text)
        return MOVED + "/" + name

    def test_version_and_the_plugins_inside(self):
        self.assertIn("ABI", self.ulpscope("version"))
        listed = self.ulpscope("plugins", "list")
        for name in ("torch_api", "vllm_v0", "vllm_v1", "mindie_atb", "acl_om", "tensor_files", "npu_reference"):
            self.assertIn(name, listed)

    def test_the_bundled_example_and_every_report(self):
        out = self.ulpscope("compare", self.dump("target"), self.dump("golden"), "-o", MOVED + "/results",
                            "--format", "json,csv,xlsx,html,md,sqlite,junit", code=1)
        self.assertIn("COMPUTE FAULT  Torch.matmul.2.forward", out)
        folder = glob.glob(self.root + MOVED + "/results/compare_*")[0]
        written = {os.path.splitext(name)[1] for name in os.listdir(folder) if os.path.getsize(os.path.join(folder, name))}
        for ending in (".json", ".csv", ".xlsx", ".html", ".md"):
            self.assertIn(ending, written)
        with open(os.path.join(folder, "report.html"), encoding="utf-8") as page:
            self.assertIn("Torch.matmul.2.forward", page.read())

    def test_looking_into_a_dump(self):
        self.assertIn("Torch.matmul.2.forward", self.ulpscope("list", self.dump("target")))
        self.assertIn("float32", self.ulpscope("show", self.dump("target"), "Torch.matmul.2.forward", "output.0"))

    def test_rules_and_guide(self):
        rules = self.write("rules.yaml", self.ulpscope("policy", "show", "seed"))
        self.ulpscope("policy", "check", rules)
        self.assertTrue(self.ulpscope("guide", "symptoms").strip())

    def test_the_tables_of_characters_are_inside(self):
        garbled = "The answer is ЖЖЖ漢字かな한국어 " + "\ufffd" * 30
        lines = self.write("answers.jsonl", '{"id": "1", "response": "A plain answer in plain words."}\n'
                           '{"id": "2", "response": "%s"}\n' % garbled)
        self.assertIn("language_mix  by scripts", self.ulpscope("anomaly", lines, "-o", MOVED + "/anomaly", code=1))

    def test_manual_and_completions_are_in_place(self):
        for path in ("share/man/man1/ulpscope.1.gz", "share/man/man1/ulpscope-compare.1.gz", "share/zsh/vendor-completions/_ulpscope",
                     "share/fish/vendor_completions.d/ulpscope.fish"):
            self.assertTrue(os.path.getsize(f"{self.root}{self.home}/{path}"), path)
        words = self.inside("bash", "-c", 'source "$0"; COMP_WORDS=(ulpscope comp); COMP_CWORD=1; _ulpscope; echo "${COMPREPLY[*]}"',
                            self.home + "/share/bash-completion/completions/ulpscope")
        self.assertEqual(words.split(), ["compare", "completion"])

    def test_a_plugin_that_is_added_later_is_loaded(self):
        compiler = shutil.which("c++")
        if not compiler:
            self.skipTest("no compiler for the plugin")
        folder = f"{self.root}{self.home}/lib/ulpscope/plugins"
        os.makedirs(folder, exist_ok=True)
        subprocess.run([compiler, "-std=c++17", "-shared", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique",
                        "-I", f"{self.root}{self.home}/include", f"-Wl,--version-script={SDK}/cmake/plugin.map", "-o",
                        folder + "/sum_err.plugin.so", SDK + "/examples/sum_err/sum_err.cpp"], check=True)
        self.assertIn("sum_err.plugin.so", self.ulpscope("plugins", "list"))
        self.ulpscope("plugins", "check", f"{self.home}/lib/ulpscope/plugins/sum_err.plugin.so")


def main():
    suite, tarballs = sys.argv[1], glob.glob(sys.argv[2])
    try:
        if not tarballs:
            raise Skipped(f"no tarball {sys.argv[2]}: scripts/package.sh tarball makes it")
        BareRoot.root, BareRoot.tarball = bare_root(suite), tarballs[0]
    except Skipped as reason:
        print(f"skipped: {reason}")
        return 77
    ran = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    return 0 if ran.wasSuccessful() and ran.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
