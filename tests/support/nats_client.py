"""A small client of the NATS text protocol, and a broker of the test's own. Standard library only.

Nothing runs in the background: a client reads while it is waited for, so what a test sees depends on no thread.
"""

import json
import socket
import subprocess
import time
import uuid
from collections import deque
from pathlib import Path

from nats_broker import find_nats_server

SERVER = find_nats_server()


class NatsError(Exception):
    """What the broker said in `-ERR`, or that it has gone."""


class NoResponders(NatsError):
    """Nobody listens at the subject of a request."""


class Message:
    def __init__(self, subject, reply, headers, data, status=""):
        self.subject, self.reply, self.headers, self.data, self.status = subject, reply, headers, data, status

    def json(self):
        return json.loads(self.data)


def _parse_headers(block):
    first, *lines = block.decode().split("\r\n")
    pairs = (line.split(":", 1) for line in lines if line)
    return first.removeprefix("NATS/1.0").strip()[:3], {name.strip(): value.strip() for name, value in pairs}


class Subscription:
    def __init__(self, client, sid):
        self.client, self.sid, self.messages = client, sid, deque()

    def next(self, seconds=5):
        """The next message; fails when none comes in time."""
        self.client.pump(lambda: self.messages, seconds)
        return self.messages.popleft()

    def waiting(self):
        """How many messages the broker has sent so far."""
        self.client.flush()
        return len(self.messages)

    def end(self):
        self.client.send(f"UNSUB {self.sid}\r\n".encode())
        del self.client.subscriptions[self.sid]


class NatsClient:
    """One connection. Refusals of the broker gather in `errors`; `flush` makes sure that all have come."""

    def __init__(self, port, user=None, password=None, host="127.0.0.1", tls=None, inbox="_INBOX.test"):
        self.inbox = inbox  # before which the names of inboxes stand
        self.subscriptions, self.errors, self.pongs, self._sids = {}, [], 0, 0
        self.socket = socket.create_connection((host, port), timeout=10)
        self.input = self.socket.makefile("rb")
        self.info = json.loads(self.input.readline().split(b" ", 1)[1])
        if tls:
            self.input.close()
            self.socket = tls.wrap_socket(self.socket, server_hostname=host)
            self.input = self.socket.makefile("rb")
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "lang": "test",
                   "version": "1", "protocol": 1}
        if user is not None:
            options.update(user=user, **{"pass": password})
        self.send(b"CONNECT " + json.dumps(options).encode() + b"\r\n")
        try:
            self.flush()
        except (NatsError, OSError):
            self.close()
            raise NatsError(self.errors[0] if self.errors else "the broker has gone") from None

    @classmethod
    def of(cls, credentials, port, at_streams=False, **options):
        """With a file of `league bus-config`, at a broker of this machine; `at_streams`: as its user there."""
        who = json.loads(Path(credentials).read_text())
        user = who["streams"] if at_streams else who
        return cls(port, user["user"], user["password"], inbox="_INBOX." + who["session"], **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.input.close()
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def pub(self, subject, data=b"", reply="", headers=None):
        data = json.dumps(data).encode() if isinstance(data, (dict, list)) else data
        if headers:
            block = "NATS/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + "\r\n"
            head = f"HPUB {subject} {reply} {len(block)} {len(block) + len(data)}\r\n{block}"
        else:
            head = f"PUB {subject} {reply} {len(data)}\r\n"
        self.send(head.encode() + data + b"\r\n")

    def sub(self, subject, queue=""):
        self._sids += 1
        self.subscriptions[str(self._sids)] = subscription = Subscription(self, str(self._sids))
        self.send(f"SUB {subject} {queue} {self._sids}\r\n".encode())
        return subscription

    def request(self, subject, data=b"", headers=None, seconds=5):
        """The first answer. NoResponders if there is nobody, NatsError if the broker refuses."""
        inbox = f"{self.inbox}.{uuid.uuid4().hex}"
        answers, before = self.sub(inbox), len(self.errors)
        self.pub(subject, data, inbox, headers)
        self.pump(lambda: answers.messages or len(self.errors) > before, seconds)
        if not answers.messages:
            raise NatsError(self.errors[-1])
        answers.end()
        answer = answers.messages.popleft()
        if answer.status == "503":
            raise NoResponders(subject)
        return answer

    def flush(self, seconds=5):
        """Waits until the broker has done all that was asked of it, and said what it had to say."""
        wanted = self.pongs + 1
        self.send(b"PING\r\n")
        self.pump(lambda: self.pongs >= wanted, seconds)

    def refusals(self):
        """What the broker has refused since the last time."""
        self.flush()
        refused, self.errors = self.errors, []
        return refused

    def pump(self, condition, seconds):
        """Reads until `condition()`."""
        deadline = time.monotonic() + seconds
        while not condition():
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"nothing came from the broker within {seconds} s; it refused {self.errors}")
            self.socket.settimeout(left)
            try:
                self._read_one()
            except TimeoutError:
                continue

    def _read_one(self):
        line = self.input.readline()
        if not line:
            raise NatsError(self.errors[-1] if self.errors else "the broker has gone")
        word, *rest = line.decode().split()
        if word == "PING":
            self.send(b"PONG\r\n")
        elif word == "PONG":
            self.pongs += 1
        elif word == "-ERR":
            self.errors.append(line.decode()[5:].strip().strip("'"))
        elif word in ("MSG", "HMSG"):
            self._take(rest, word == "HMSG")

    def _take(self, words, has_headers):
        total = int(words[-1])
        data = self.input.read(total + 2)[:total]
        status, headers, named = "", {}, words[2:-1]
        if has_headers:
            size, named = int(words[-2]), words[2:-2]
            (status, headers), data = _parse_headers(data[:size]), data[size:]
        if words[1] in self.subscriptions:
            message = Message(words[0], named[0] if named else "", headers, data, status)
            self.subscriptions[words[1]].messages.append(message)


class Broker:
    """A nats-server of the test's own on a free port; `arguments` go behind those that choose the port."""

    def __init__(self, directory, *arguments, host="127.0.0.1"):
        self.directory = Path(directory)
        ports = self.directory / f"ports_{uuid.uuid4().hex}"
        ports.mkdir()
        self.log = self.directory / f"{ports.name}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([SERVER, "-a", host, "-p", "-1", "--ports_file_dir", ports,
                                             *map(str, arguments)], stdout=log, stderr=log)
        self.port = int(self._ports(ports)["nats"][0].rsplit(":", 1)[1])
        self.url = f"nats://{host}:{self.port}"

    def _ports(self, directory):
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and self.process.poll() is None:
            for path in directory.glob("*.ports"):
                try:
                    return json.loads(path.read_text())
                except ValueError:
                    pass  # half written
            time.sleep(0.01)
        self.stop()
        raise AssertionError(f"the broker does not start: {self.log.read_text(errors='replace')[-2000:]}")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(10)

    def kill(self):
        self.process.kill()
        self.process.wait(10)
