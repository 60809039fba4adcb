"""Reads the conversation logs of the programs as a test sees them: records with the message that they carry."""

import json


class Log:
    """All records of one directory of logs, each a dictionary with `agent`, `body` and `message` added."""

    def __init__(self, directory):
        self.files = sorted(directory.rglob("*.log.jsonl*"))
        self.records = []
        for path in self.files:
            self.records += _read(path)

    def matching(self, **wanted):
        """The records whose fields have the wanted values."""
        return [r for r in self.records if all(r.get(name) == value for name, value in wanted.items())]

    def messages(self, message_type):
        """Every league message of this type, in either direction."""
        return [r["message"] for r in self.records if r["message"].get("message_type") == message_type]

    def leniencies(self, **wanted):
        """The names of all leniencies that the matching records took."""
        return {name for record in self.matching(**wanted) for name in record.get("leniencies", [])}

    def verdicts(self):
        """Every league code that stands as a verdict in the logs."""
        return {record["verdict"] for record in self.records if "verdict" in record}

    def accepted_reports(self):
        """match_id -> the accepted reports that the manager's log holds, repeats included."""
        reports = {}
        for record in self.matching(agent="league_manager", dir="in", kind="request"):
            if record["message"].get("message_type") == "MATCH_RESULT_REPORT" and "verdict" not in record:
                reports.setdefault(record["message"]["match_id"], []).append(record["message"])
        return reports

    def text(self):
        """Everything that the log files hold."""
        return "".join(path.read_text(errors="replace") for path in self.files)


def _read(path):
    records = []
    by_seq = {}
    agent = ""
    for line in path.read_text(errors="replace").splitlines():
        record = json.loads(line)
        if "format" in record:
            agent = record.get("agent", "")
            continue
        if "seq" not in record:
            continue  # a seal
        record["agent"] = agent
        record["body"] = _body(record, by_seq)
        record["message"] = league_message(record["body"])
        by_seq[record["seq"]] = record
        records.append(record)
    return records


def _body(record, by_seq):
    """The masked bytes; a broadcast's are put together from the first copy and what differs."""
    body = record.get("raw", "")
    if "raw_ref" not in record:
        return body
    whole = by_seq[record["raw_ref"]]["body"].encode()
    before, after = record["raw_keep"]
    return (whole[:before] + body.encode() + (whole[-after:] if after else b"")).decode()


def league_message(body):
    """The league message inside a JSON-RPC frame, or an empty dictionary."""
    try:
        frame = json.loads(body)
    except ValueError:
        return {}
    if not isinstance(frame, dict):
        return {}
    for part in (frame, frame.get("params"), frame.get("result")):
        if isinstance(part, dict) and "message_type" in part:
            return part
    for outer, inner in (("params", "arguments"), ("result", "structuredContent")):
        part = frame[outer].get(inner) if isinstance(frame.get(outer), dict) else None
        if isinstance(part, dict) and "message_type" in part:
            return part
    return {}
