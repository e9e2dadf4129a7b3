"""The .deb files in a bare system: deb_root.py FOLDER. Lintian finds no error in them, and apt installs them with what they
depend on into a minimal root of the release they were built on. With ULPSCOPE_TEST_SDK_PACKAGE=1 a plugin is built there too,
which brings in a compiler, and with ULPSCOPE_TEST_TORCH_PACKAGE=1 ulpscope-torch is installed and runs, which brings in LibTorch
(deb_torch.py runs the unpacked package every time). Skipped (77) where that cannot be done."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from bare_root import MIRRORS, Skipped, bare_root

DUMPS = "/usr/share/ulpscope/examples/dumps"


def release_of_this_system():
    with open("/etc/os-release", encoding="utf-8") as file:
        fields = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    return fields.get("VERSION_CODENAME", "").strip('"')


class DebPackages(unittest.TestCase):
    root = ""
    packages = {}

    @classmethod
    def setUpClass(cls):
        # A root that is thrown away: what is installed stays out of the one that is kept.
        work = tempfile.mkdtemp(prefix="ulpscope_deb_")
        cls.addClassCleanup(shutil.rmtree, work, True)
        kept, cls.root = cls.root, work + "/root"
        subprocess.run(["cp", "-a", kept, cls.root], check=True)
        shutil.copy("/etc/resolv.conf", cls.root + "/etc/resolv.conf")
        os.mkdir(cls.root + "/packages")
        for path in cls.packages.values():
            shutil.copy(path, cls.root + "/packages")
        try:
            cls.inside("apt-get", "update", "-qq", "-o", "APT::Update::Error-Mode=any", "-o", "Acquire::Retries=2")
        except AssertionError as reason:
            raise unittest.SkipTest(f"no mirror answers: {reason}") from None
        cls.install("ulpscope")

    @classmethod
    def install(cls, *names):
        cls.inside("apt-get", "install", "-qq", "-y", "--no-install-recommends", *names_or_files(cls.packages, names))

    @classmethod
    def inside(cls, *words, code=0):
        script = 'mount -t proc proc "$0/proc" 2>/dev/null; root=$0; exec chroot "$root" "$@"'
        proxies = [f"{name}={value}" for name, value in os.environ.items() if name.lower().endswith("_proxy")]
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, cls.root, "/usr/bin/env", "-i", *proxies,
                               "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=900)
        out = done.stdout.decode("utf-8", "replace")
        if done.returncode != code:
            raise AssertionError(f"{words}: exit code {done.returncode}, expected {code}\n{out[-3000:]}")
        return out

    def test_the_installed_program_finds_the_fault(self):
        self.assertIn("torch_api", self.inside("ulpscope", "plugins", "list"))
        out = self.inside("ulpscope", "compare", DUMPS + "/target", DUMPS + "/golden", "-o", "/tmp/results", code=1)
        self.assertIn("COMPUTE FAULT  Torch.matmul.2.forward", out)

    def test_lintian_finds_no_error(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        done = subprocess.run(["lintian", "--fail-on", "error", *self.packages.values()], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    @unittest.skipUnless(os.environ.get("ULPSCOPE_TEST_SDK_PACKAGE"), "ULPSCOPE_TEST_SDK_PACKAGE is not set")
    def test_the_sdk_package_builds_a_plugin(self):
        self.install("libulpscope-dev", "g++", "cmake", "make")
        self.inside("sh", "-ec", "cd /tmp; ulpscope plugins new source my_framework; cmake -S my_framework -B built >/dev/null;"
                    "cmake --build built; ulpscope plugins check built/my_framework.plugin.so --dump my_framework/sample")

    @unittest.skipUnless(os.environ.get("ULPSCOPE_TEST_TORCH_PACKAGE"), "ULPSCOPE_TEST_TORCH_PACKAGE is not set")
    def test_the_torch_package_runs_recorded_apis(self):
        self.install("ulpscope-torch")
        out = self.inside("ulpscope", "check", "-api_info", DUMPS + "/golden", "-d", "cpu", "-o", "/tmp/check")
        self.assertIn("error 0", out)
        out = self.inside("ulpscope", "replay", DUMPS + "/target", "--op", "Torch.matmul.2.forward", "--against", DUMPS + "/golden",
                          code=1)
        self.assertIn("off: " + DUMPS + "/target", out)


def names_or_files(packages, names):
    return ["/packages/" + os.path.basename(packages[name]) if name in packages else name for name in names]


def main():
    packages = {os.path.basename(path).split("_")[0]: path for path in glob.glob(sys.argv[1] + "/*.deb")}
    suite = release_of_this_system()
    try:
        if "ulpscope" not in packages:
            raise Skipped(f"no packages in {sys.argv[1]}: scripts/package.sh deb makes them")
        if suite not in MIRRORS:
            raise Skipped(f"no mirror is known for '{suite}', expected one of {', '.join(MIRRORS)}")
        DebPackages.root, DebPackages.packages = bare_root(suite), packages
    except Skipped as reason:
        print(f"skipped: {reason}")
        return 77
    ran = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    if ran.wasSuccessful() and not ran.testsRun:
        return 77 if ran.skipped else 1
    return 0 if ran.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
