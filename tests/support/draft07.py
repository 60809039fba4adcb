"""A validator of the part of JSON Schema draft-07 that schemas/ uses. It fails on any other keyword."""

import re

_TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and v.is_integer()),
}
_ANNOTATIONS = {"$schema", "$id", "title", "description", "examples", "default", "$comment"}


def _listed(value):
    return value if isinstance(value, list) else [value]


_CHECKS = {
    "type": lambda rule, v: any(_TYPES[name](v) for name in _listed(rule)),
    "const": lambda rule, v: v == rule,
    "enum": lambda rule, v: v in rule,
    "pattern": lambda rule, v: not isinstance(v, str) or re.search(rule, v) is not None,
    "minLength": lambda rule, v: not isinstance(v, str) or len(v) >= rule,
    "maxLength": lambda rule, v: not isinstance(v, str) or len(v) <= rule,
    "minimum": lambda rule, v: not _TYPES["number"](v) or v >= rule,
    "maximum": lambda rule, v: not _TYPES["number"](v) or v <= rule,
    "minItems": lambda rule, v: not isinstance(v, list) or len(v) >= rule,
    "maxItems": lambda rule, v: not isinstance(v, list) or len(v) <= rule,
    "minProperties": lambda rule, v: not isinstance(v, dict) or len(v) >= rule,
    "maxProperties": lambda rule, v: not isinstance(v, dict) or len(v) <= rule,
    "required": lambda rule, v: not isinstance(v, dict) or all(name in v for name in rule),
}


def violations(schema, value, pointer=""):
    """Texts "pointer: keyword rule" of everything that is wrong with `value`."""
    if schema is True or schema is False:
        return [] if schema else [f"{pointer}: nothing is allowed here"]
    found = []
    for keyword, rule in schema.items():
        if keyword in _ANNOTATIONS or keyword in ("properties", "items", "additionalProperties"):
            continue
        if keyword not in _CHECKS:
            raise ValueError(f"draft07.py does not know the keyword {keyword!r}")
        if not _CHECKS[keyword](rule, value):
            found.append(f"{pointer}: {keyword} {rule!r} against {value!r}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for name, inner in value.items():
            rule = properties.get(name, schema.get("additionalProperties", True))
            found += violations(rule, inner, f"{pointer}/{name}")
    if isinstance(value, list) and "items" in schema:
        for index, inner in enumerate(value):
            found += violations(schema["items"], inner, f"{pointer}/{index}")
    return found
