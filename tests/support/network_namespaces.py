"""Two hosts on one machine: network namespaces with a link between them that can be cut. Needs root and iproute2."""

import contextlib
import ctypes
import os
import shutil
import subprocess
import uuid


class Namespaces:
    """Both namespaces, with one address each; `close` removes them, with the link."""

    def __init__(self):
        self.ip = shutil.which("ip", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
        name = uuid.uuid4().hex[:6]  # interfaces have names of 15 characters at most
        self.names = [f"lg{name}{side}" for side in "ab"]
        self.addresses = ["10.213.77.1", "10.213.77.2"]  # seen in these namespaces only
        try:
            self._make()
        except (OSError, subprocess.SubprocessError):
            self.close()
            raise

    @classmethod
    def are_possible(cls):
        """Tries it, since containers have the command but often not the right."""
        if os.geteuid() != 0:
            return False
        try:
            cls().close()
        except (OSError, TypeError, subprocess.SubprocessError):
            return False
        return True

    def inside(self, host):
        """The command that runs another on a host; it becomes that other, so its process id is the same."""
        return [self.ip, "netns", "exec", self.names[host]]

    @contextlib.contextmanager
    def entered(self, host):
        """Meanwhile this thread is on a host, with all threads and programs that it starts."""
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{self.names[host]}") as there:
            self._enter(there)
            try:
                yield
            finally:
                self._enter(home)

    @staticmethod
    def _enter(namespace):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(namespace.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns")

    def cut(self):
        self._run("-n", self.names[1], "link", "set", self.names[1], "down")

    def heal(self):
        self._run("-n", self.names[1], "link", "set", self.names[1], "up")

    def close(self):
        for name in self.names:
            subprocess.run([self.ip, "netns", "del", name], capture_output=True, check=False)

    def _make(self):
        for name in self.names:
            self._run("netns", "add", name)
        first, second = self.names
        self._run("-n", first, "link", "add", first, "type", "veth", "peer", "name", second, "netns", second)
        for name, address in zip(self.names, self.addresses):
            self._run("-n", name, "address", "add", address + "/24", "dev", name)
            self._run("-n", name, "link", "set", name, "up")
            self._run("-n", name, "link", "set", "lo", "up")

    def _run(self, *arguments):
        subprocess.run([self.ip, *arguments], check=True, capture_output=True, timeout=10)
