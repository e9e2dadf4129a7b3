"""The package of the executor on LibTorch, unpacked: deb_torch.py FOLDER. ulpscope and ulpscope-torch are unpacked by dpkg-deb into
one folder, side by side as an installation puts them, and the program there runs a check and a replay on the LibTorch of this
system: to install that one in a bare root takes some hundred packages (deb_root.py does it with ULPSCOPE_TEST_TORCH_PACKAGE=1).
Needs no root. Skipped (77) without the packages, dpkg-deb or the LibTorch that ulpscope-torch depends on."""

import csv
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

EXECUTOR = "usr/lib/ulpscope/executors/torch_executor.plugin.so"


def field(package, name):
    return subprocess.run(["dpkg-deb", "--field", package, name], stdout=subprocess.PIPE, check=True).stdout.decode().strip()


def missing_dependency(package):
    """The name of the LibTorch that the package depends on and this system does not have; empty: it has it."""
    for name in re.findall(r"libtorch[0-9.]+", field(package, "Depends")):
        found = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", name], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL).stdout.decode()
        if found != "installed":
            return name
    return ""


class UnpackedTorchPackage(unittest.TestCase):
    packages = {}
    place = ""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="ulpscope_deb_torch_")
        cls.addClassCleanup(shutil.rmtree, cls.place, True)
        for name in ("ulpscope", "ulpscope-torch"):
            subprocess.run(["dpkg-deb", "-x", cls.packages[name], cls.place], check=True)

    def ulpscope(self, *words, code=0):
        done = subprocess.run([self.place + "/usr/bin/ulpscope", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=600)
        out = done.stdout.decode()
        self.assertEqual(done.returncode, code, f"{words}\n{out}")
        return out

    def dump(self, name):
        return f"{self.place}/usr/share/ulpscope/examples/dumps/{name}"

    def test_the_package_depends_on_the_program_and_on_libtorch(self):
        depends = field(self.packages["ulpscope-torch"], "Depends")
        self.assertIn("ulpscope", [entry.split()[0] for entry in depends.split(",")])
        self.assertRegex(depends, r"libtorch[0-9.]+")

    def test_check_runs_every_api_on_the_cpu(self):
        self.ulpscope("check", "-api_info", self.dump("golden"), "-d", "cpu", "-o", self.place + "/check", "--exact-output")
        with open(glob.glob(self.place + "/check/accuracy_checking_result_*.csv")[0], encoding="utf-8-sig", newline="") as file:
            statuses = {row["API Name"]: row["Forward Test Success"] for row in csv.DictReader(file)}
        self.assertEqual(statuses["Torch.matmul.2"], "pass")

    def test_replay_finds_the_side_that_is_off(self):
        out = self.ulpscope("replay", self.dump("target"), "--op", "Torch.matmul.2.forward", "--against", self.dump("golden"),
                            code=1)
        self.assertIn("off: " + self.dump("target"), out)

    def test_the_executor_is_no_plugin_of_the_search_path(self):
        self.assertTrue(os.path.isfile(f"{self.place}/{EXECUTOR}"))
        self.ulpscope("plugins", "check", f"{self.place}/{EXECUTOR}", "--only", "library.symbols")


def main():
    packages = {os.path.basename(path).split("_")[0]: path for path in glob.glob(sys.argv[1] + "/*.deb")}
    reason = ""
    if not {"ulpscope", "ulpscope-torch"} <= set(packages):
        reason = f"no packages ulpscope and ulpscope-torch in {sys.argv[1]}: scripts/package.sh deb makes them where LibTorch is"
    elif not shutil.which("dpkg-deb"):
        reason = "dpkg-deb is not installed"
    elif missing_dependency(packages["ulpscope-torch"]):
        reason = missing_dependency(packages["ulpscope-torch"]) + " is not installed"
    if reason:
        print("skipped: " + reason)
        return 77
    UnpackedTorchPackage.packages = packages
    ran = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    return 0 if ran.wasSuccessful() and ran.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
