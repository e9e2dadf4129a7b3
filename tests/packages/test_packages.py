"""What the checks of the packages themselves must notice."""

import unittest

from symbol_versions import LIMITS, newest_beyond

# As `objdump -T` prints them.
TABLE = """
DYNAMIC SYMBOL TABLE:
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.35) _dl_find_object
0000000000000000      DF *UND*  0000000000000000 (GLIBC_2.36) arc4random
0000000000000000      DF *UND*  0000000000000000  GLIBC_2.2.5 memcpy
0000000000000000      DF *UND*  0000000000000000 (GLIBCXX_3.4.31) _ZSt21__glibcxx_assert_failPKciS0_S0_
"""


class SymbolVersions(unittest.TestCase):
    def test_newer_symbols_are_named_with_their_version(self):
        self.assertEqual(newest_beyond(TABLE, LIMITS), [("GLIBCXX_3.4.31", "_ZSt21__glibcxx_assert_failPKciS0_S0_"),
                                                        ("GLIBC_2.36", "arc4random")])

    def test_what_ubuntu_has_is_fine(self):
        self.assertEqual(newest_beyond(TABLE, dict(LIMITS, GLIBC=(2, 36), GLIBCXX=(3, 4, 31))), [])


if __name__ == "__main__":
    unittest.main()
