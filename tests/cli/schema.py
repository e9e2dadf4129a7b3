"""Checks a JSON value against a schema of docs/schema: the keywords that those use."""

import json
import os

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schema")
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def has_kind(value, kind):
    if kind in ("number", "integer"):
        good = isinstance(value, (int, float) if kind == "number" else int) and not isinstance(value, bool)
        return good
    return isinstance(value, KINDS[kind])


def troubles(value, schema, root, place="$"):
    """What is wrong with the value, as texts with their places."""
    if "$ref" in schema:
        yield from troubles(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, place)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(has_kind(value, kind) for kind in kinds):
        yield f"{place}: {value!r} is no {' or '.join(kinds)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place}: {value!r}, expected {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        yield f"{place}: {value!r} is below {schema['minimum']}"
    if "anyOf" in schema and all(any(True for _ in troubles(value, each, root)) for each in schema["anyOf"]):
        yield f"{place}: {value!r} fits none of its forms"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}: no member {name}"
        for name, each in schema.get("properties", {}).items():
            if name in value:
                yield from troubles(value[name], each, root, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, each in enumerate(value):
            yield from troubles(each, schema["items"], root, f"{place}[{i}]")


def check(test, value, name):
    with open(os.path.join(FOLDER, name + ".schema.json"), encoding="utf-8") as file:
        root = json.load(file)
    test.assertEqual(list(troubles(value, root, root))[:5], [])
