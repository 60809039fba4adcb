"""A link to a server on the loopback that can be cut: nothing gets through any more, and nothing is closed."""

import contextlib
import socket
import threading


class Relay:
    """Passes connections to `port` on, from its own `port`. `url` is where a NATS broker behind it seems to be."""

    def __init__(self, port):
        self._to = ("127.0.0.1", port)
        self._whole = threading.Event()
        self._whole.set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self):
        return self._listener.getsockname()[1]

    @property
    def url(self):
        return f"nats://127.0.0.1:{self.port}"

    @contextlib.contextmanager
    def cut(self):
        self.cut_off()
        try:
            yield
        finally:
            self.heal()

    def cut_off(self):
        self._whole.clear()

    def heal(self):
        self._whole.set()

    @property
    def is_cut(self):
        return not self._whole.is_set()

    def close(self):
        self._whole.set()
        for one in [self._listener, *self._sockets]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._whole.wait()
                try:
                    far = socket.create_connection(self._to, 5)
                except OSError:
                    near.close()
                    continue
                self._sockets += [near, far]
                for source, target in ((near, far), (far, near)):
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    source.settimeout(None)
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self._whole.wait()
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
