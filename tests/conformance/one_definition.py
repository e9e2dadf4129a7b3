"""One definition for each name: no two headers of the program define a type of the same name in the same namespace. A linker takes
one of their functions for both without a word, and only an optimiser that inlines them hides it."""

import os
import re
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OPENED = re.compile(r"^namespace ([\w:]+) \{$")
DEFINED = re.compile(r"^(?:enum class|enum|class|struct) (\w+)(?!\w|::)(?: final)?(?: ?: ?[^;{]*)? ?\{")


def definitions(text):
    """The full names of the types that a header defines, outside of other types; the code is formatted, so they start a line."""
    names, space = [], ""
    for line in text.splitlines():
        opened, defined = OPENED.match(line), DEFINED.match(line)
        if opened:
            space = opened.group(1) + "::"
        elif re.match(r"^\}  // namespace", line):
            space = ""
        elif defined:
            names.append(space + defined.group(1))
    return names


class OneDefinition(unittest.TestCase):
    def test_definitions_are_seen_with_their_namespace(self):
        text = "namespace a::b {\nstruct One {\n};\nenum class Two : int { x };\nstruct Three;\n}  // namespace a::b\nclass Four final : A {\n"
        self.assertEqual(definitions(text), ["a::b::One", "a::b::Two", "Four"])

    def test_no_type_is_defined_by_two_headers(self):
        places = {}
        for part in ("core", "plugins"):
            for folder, _, files in os.walk(os.path.join(TOP, part)):
                for name in files:
                    path = os.path.join(folder, name)
                    if name.endswith(".hpp"):
                        with open(path, encoding="utf-8") as file:
                            for defined in definitions(file.read()):
                                places.setdefault(defined, []).append(os.path.relpath(path, TOP))
        self.assertGreater(len(places), 200)
        self.assertEqual({name: where for name, where in places.items() if len(where) > 1}, {})


if __name__ == "__main__":
    sys.exit(unittest.main())
