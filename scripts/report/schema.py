"""Holds values against log.schema.json, as far as the keywords go that are used there."""
import json
import re
from pathlib import Path

SCHEMA = json.loads((Path(__file__).resolve().parent / "log.schema.json").read_text(encoding="utf-8"))
# What each class of findings is, by its name: the one list for all that reads logs.
CLASSES = {one["const"]: one["description"] for one in SCHEMA["$defs"]["finding"]["properties"]["class"]["oneOf"]}
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
KNOWN = {"$ref", "type", "const", "enum", "pattern", "minimum", "maximum", "minItems", "maxItems", "items", "required",
         "properties", "additionalProperties", "anyOf", "oneOf", "description", "title", "$schema", "$id", "$defs"}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def wrong_alternatives(value, schema, where, strict):
    """The alternatives are told apart by type, or, of events, by their name."""
    every = [list(wrong(value, one, where, strict)) for one in schema]
    if sum(not one for one in every) == 1:
        return []
    return min(every, key=lambda one: (sum("const" in line or line.startswith(where + ": ") for line in one), len(one)))


def wrong(value, schema, where, strict):
    if set(schema) - KNOWN:
        yield f"{where}: the schema uses {sorted(set(schema) - KNOWN)}, which this reader does not know"
    if "$ref" in schema:
        yield from wrong(value, SCHEMA["$defs"][schema["$ref"].split("/")[-1]], where, strict)
    for alternatives in ("oneOf", "anyOf"):
        if alternatives in schema:
            yield from wrong_alternatives(value, schema[alternatives], where, strict)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        yield f"{where}: {value!r} is no {' or '.join(types)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not the const {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{where}: {value!r} is not like {schema['pattern']}"
    if isinstance(value, int) and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{where}: {value} is out of range"
    if isinstance(value, list):
        yield from wrong_items(value, schema, where, strict)
    if isinstance(value, dict):
        yield from wrong_members(value, schema, where, strict)


def wrong_items(value, schema, where, strict):
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{where}: {len(value)} elements"
    for i, item in enumerate(value):
        yield from wrong(item, schema.get("items", {}), f"{where}[{i}]", strict)


def wrong_members(value, schema, where, strict):
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where}: {name} is missing"
    if "properties" not in schema and "additionalProperties" not in schema:
        return
    for name, member in value.items():
        if name in schema.get("properties", {}):
            yield from wrong(member, schema["properties"][name], f"{where}.{name}", strict)
        elif "additionalProperties" in schema:
            yield from wrong(member, schema["additionalProperties"], f"{where}.{name}", strict)
        elif strict:
            yield f"{where}: {name} is not in the schema"


def faults(line, strict):
    """What is wrong with a line of a log. strict: a member that the schema does not have, because it is not documented."""
    return list(wrong(line, SCHEMA, "line", strict))
