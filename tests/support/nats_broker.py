"""A NATS broker of the test's own: started at a free port, killed, and started again at the same one."""

import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time


def find_nats_server():
    """The path of nats-server, or None: $LEAGUE_NATS_SERVER, else the distribution's, which is where daemons are and
    not in everybody's PATH, else another one."""
    return (os.environ.get("LEAGUE_NATS_SERVER") or shutil.which("nats-server", path="/usr/sbin")
            or shutil.which("nats-server", path=os.environ.get("PATH", "") + ":/usr/local/sbin"))


def why_no_bus(bin_dir):
    """Why leagues over a bus cannot be tried here: no broker, or programs that were built without NATS. Else None."""
    if find_nats_server() is None:
        return "nats-server is not installed"
    # Programs that speak NATS end too: that is no broker's address.
    asked = subprocess.run([os.path.join(bin_dir, "player"), "--bus", "nowhere:"], capture_output=True, text=True,
                           timeout=10, check=False)
    return "the programs are built without NATS" if "cannot speak NATS" in asked.stderr else None


class NatsBroker:
    """A broker on the loopback. With `jetstream_dir` it keeps streams there, also over restarts; `config` is the path
    of a configuration file; `arguments` are further ones of nats-server. With `address` and `prefix`, a command that
    runs another, it is elsewhere than on the loopback. Also a context manager."""

    def __init__(self, jetstream_dir=None, config=None, arguments=(), port=None, log=None, address="127.0.0.1",
                 prefix=()):
        self.address, self._prefix = address, list(prefix)
        self.port = port
        self._own_dir = tempfile.mkdtemp(prefix="league_broker_")
        self.log = log or os.path.join(self._own_dir, "broker.log")
        self._more = list(arguments)
        if jetstream_dir is not None:
            self._more += ["-js", "-sd", str(jetstream_dir)]
        if config is not None:
            self._more += ["-c", str(config)]
        self._process = None

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()

    @property
    def url(self):
        return f"nats://{self.address}:{self.port}"

    @property
    def pid(self):
        return self._process.pid if self._process else None

    def is_running(self):
        return self._process is not None and self._process.poll() is None

    def start(self, seconds=10):
        """Starts it, at the port that it had before, and waits until it answers. RuntimeError with the end of its log."""
        program = find_nats_server()
        if program is None:
            raise RuntimeError("nats-server is not installed")
        if self.is_running():
            return self
        command = [*self._prefix, program, "-a", self.address, "-p", str(self.port or -1), "-l", self.log] + self._more
        if self.port is None:
            command += ["--ports_file_dir", self._own_dir]
        # As scripts/bus and `league up` start it.
        environment = {"GOGC": "400", **os.environ}
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, env=environment)
        deadline = time.monotonic() + seconds
        while not self._is_answering():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the broker did not start: {self._end_of_log()}")
            time.sleep(0.002)
        return self

    def kill(self):
        """Ends it at once, like a loss of power."""
        self._end(signal.SIGKILL)

    def stop(self):
        """Lets it end in order."""
        self._end(signal.SIGTERM)

    def restart(self):
        self.kill()
        return self.start()

    def freeze(self):
        """It keeps its connections and answers nobody, until `thaw`."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self._process.send_signal(signal.SIGCONT)

    def close(self):
        """Ends it and removes what it wrote, except for streams."""
        self.kill()
        shutil.rmtree(self._own_dir, ignore_errors=True)

    def _end(self, how):
        if self._process is None:
            return
        process, self._process = self._process, None
        if process.poll() is None:
            process.send_signal(how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _is_answering(self):
        if self.port is None:
            self.port = self._written_port()
        if self.port is None:
            return False
        if self._prefix:  # it may be where this process cannot reach it
            return "Server is ready" in self._end_of_log()
        try:
            with socket.create_connection((self.address, self.port), timeout=1) as connection:
                return connection.recv(4) == b"INFO"
        except OSError:
            return False

    def _written_port(self):
        for path in glob.glob(os.path.join(self._own_dir, "*.ports")):
            try:
                with open(path, encoding="utf-8") as file:
                    return int(json.load(file)["nats"][0].rsplit(":", 1)[1])
            except (ValueError, KeyError, IndexError):
                pass  # half-written
        return None

    def _end_of_log(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                return file.read()[-1000:]
        except OSError:
            return "it wrote no log"
