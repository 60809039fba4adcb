"""Hostile values in every key of every kind of line, and in every field of every message: the verifiers must not end in a
traceback, must agree, and say where the form is wrong."""


import log_builder
from cases import Case, MANAGER, add, chance, fault, made, new_league, own_file
from clean import asked, before_end, call_of
from resealing import reseal

TEXT = {"null": None, "number": 5, "list": [], "object": {}, "true": True}
NUMBER = {"null": None, "text": "5", "negative": -1, "fraction": 1.5, "huge": 2**64, "list": [1], "true": True}
LIST = {"null": None, "text": "x", "number": 5, "object": {}}
FLAG = {"null": None, "text": "true", "number": 1, "list": [True]}
KEYS = {"time": TEXT, "mono_ns": NUMBER, "dir": TEXT, "kind": TEXT, "call": NUMBER, "peer": TEXT, "said_by": TEXT, "transport": TEXT, "context": LIST,
        "conversation_id": TEXT, "message_type": TEXT, "match_id": TEXT, "http_status": NUMBER, "elapsed_us": NUMBER, "leniencies": LIST,
        "verdict": TEXT, "fault": TEXT, "raw": TEXT, "raw_base64": TEXT, "raw_bytes": NUMBER, "raw_sha256": TEXT, "raw_ref": NUMBER,
        "raw_keep": {"null": None, "text": "x", "one": [1], "three": [1, 2, 3], "negative": [-1, 1], "texts": ["1", "2"], "huge": [2**64, 0],
                     "fraction": [1.5, 2], "object": {}}, "broadcast": {"text": "yes", "number": 1, "null": None}}
PLACE = {"conversation_id": "convping001", "dir": "in", "kind": "request"}


def pinged(league):
    before_end(lambda league: asked(league, "P02", call_of("ping", {}), {"status": "ok"}, conversation="convping001"))(league)


def record_key(key, name, value):
    """A record that nothing else depends on, of a call that came in."""
    def change(league):
        record, = league.find("P02", **PLACE)
        record.frame.body = call_of("ping", {})
        if key in ("raw_keep", "raw_ref"):
            record["raw_ref"], record["raw_keep"] = 1, [0, 0]
        record.fields[key] = value
    lenient = key in ("context", "broadcast") and name == "object" or (key == "raw_ref" and name == "null")
    made("hostile", f"record-{key}-{name}", *([] if lenient else [fault("record.form")]), plan=pinged, agree_only=lenient,
         exact=key != "mono_ns",  # a wrong clock says that a seal is missing
         short=key == "raw_keep" and name == "text")(change)


for _key, _values in KEYS.items():
    for _name, _value in _values.items():
        record_key(_key, _name, _value)


def raw_text(name, raw, **more):
    def change(league):
        record, = league.find("P02", **PLACE)
        record["raw"] = raw
    made("hostile", f"raw-{name}", plan=pinged, **more)(change)


for _name, _raw in (("empty", ""), ("no-json", "}{"), ("list", "[1,2]"), ("deep", "[" * 50_000), ("deep-object", '{"params":' * 20_000),
                    ("deep-and-closed", "[" * 400 + "]" * 400), ("surrogate", '{"params":{"a":"\\ud800"}}'), ("nul", '{"params":{"a":"\\u0000"}}'),
                    ("huge-number", '{"params":{"round_id":1e400,"seq":%s}}' % ("9" * 5000)), ("infinite", '{"params":{"a":NaN,"b":Infinity}}'),
                    ("keys-twice", '{"params":{},"params":{"message_type":"GAME_OVER","match_id":"R1M1","draw_proof":"00"}}'),
                    ("params-text", '{"params":"x"}'), ("params-list", '{"params":[{"message_type":"GAME_OVER"}]}'), ("million", "x" * 1_000_000)):
    raw_text(_name, _raw, short=_name == "deep")


def header_key(key, name, value):
    """In a header that stands for itself: the log goes on as before behind it, under a right header."""
    def build(directory):
        league = new_league()
        league.play().write(directory)

        def change(lines):
            at = max(i for i, line in enumerate(lines) if "format" in line)
            good = type(lines[at])(lines[at])
            lines.insert(at, good)
            bad = lines[at]
            bad[key] = value
            bad.text = log_builder.compact({**bad, "first_seq": value if key == "first_seq" else lines[at + 1]["first_seq"]})
        reseal(directory / own_file("player:P02"), league.logs["player:P02"].signer, change)
        return league
    add(Case(f"hostile/header-{key}-{name}", "hostile", [fault("header.form")], build, exact=False))


for _key, _values in {"format": TEXT, "version": NUMBER, "agent": TEXT, "league_id": TEXT, "league_key": TEXT, "created": TEXT, "segment": NUMBER,
                      "first_seq": NUMBER, "public_key": TEXT, "seal_interval_ms": NUMBER, "starts": FLAG}.items():
    for _name, _value in _values.items():
        header_key(_key, _name, _value)


# --- Fields of messages ---------------------------------------------------------------------------------------------
VALUES = [None, 5, -1, 1.5, True, "", "x", "R1M1", [], [None], {}, {"x": {}}, 2**70, "9" * 400, ["P01"]]
OWNERS = {"LEAGUE_REGISTER_REQUEST": MANAGER, "LEAGUE_REGISTER_RESPONSE": "P02", "REFEREE_REGISTER_REQUEST": MANAGER,
          "REFEREE_REGISTER_RESPONSE": "REF01", "ROUND_ANNOUNCEMENT": "P02", "GAME_INVITATION": "P02", "GAME_JOIN_ACK": "REF01",
          "CHOOSE_PARITY_CALL": "P02", "CHOOSE_PARITY_RESPONSE": "REF01", "GAME_OVER": "P02", "MATCH_RESULT_REPORT": MANAGER,
          "LEAGUE_STANDINGS_UPDATE": "P02", "ROUND_COMPLETED": "REF01", "LEAGUE_COMPLETED": "P02"}


def paths_in(value, path=()):
    """Every place inside a message, but for what stands deep in lists."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key)
            yield from paths_in(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield (*path, 0)
        yield from paths_in(value[0], (*path, 0))


def put(message, path, value):
    for key in path[:-1]:
        message = message[key]
    message[path[-1]] = value


def register_messages():
    random = chance(1)
    example = new_league().play()
    for kind, owner in OWNERS.items():
        paths = [path for path in paths_in(example.find(owner, kind)[0].message) if path != ("log_head", "seq") and path != ("log_head", "hash")]
        for path in paths:
            for value in random.sample(VALUES, 2):
                name = "-".join(map(str, path))
                label = f"{kind.lower()}-{name}-{VALUES.index(value)}"

                def change(league, kind=kind, owner=owner, path=path, value=value):
                    put(league.find(owner, kind)[0].message, path, value)
                add(Case(f"hostile/{label}", "hostile", [], building(change), agree_only=True, exact=False))


def building(change):
    def build(directory):
        league = new_league().play()
        change(league)
        league.write(directory)
        return league
    return build


register_messages()
