"""A headless Chromium, driven by the DevTools protocol over a WebSocket, with the standard library alone."""

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


def chromium():
    """The browser's program; None where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class WebSocket:
    """The client's side, texts only."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        if b" 101 " not in self.file.readline():
            raise ConnectionError("the browser takes no WebSocket")
        while self.file.readline().strip():
            pass

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = b"\x81" + (bytes([0x80 | size]) if size < 126 else
                          b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size))
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self):
        text = b""
        while True:
            first, second = self.file.read(2)
            size = second & 0x7F
            if size == 126:
                size = struct.unpack(">H", self.file.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.file.read(8))[0]
            text += self.file.read(size)
            if first & 0x80:
                return text.decode()


class Tab:
    """One page of a browser. `problems` are its errors, `requests` the addresses that it asked for."""

    def __init__(self, address):
        self.web_socket = WebSocket(address)
        self.last_id = 0
        self.problems, self.requests = [], []
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(domain + ".enable")

    @staticmethod
    def _wait(condition, seconds, what):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := condition():
                return found
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {what}")

    def call(self, method, **params):
        self.last_id += 1
        self.web_socket.send(json.dumps({"id": self.last_id, "method": method, "params": params}))
        while True:
            message = json.loads(self.web_socket.receive())
            if message.get("id") == self.last_id:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def _note(self, event):
        method, params = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, script, seconds=20):
        """Until `script` is true in the page."""
        self._wait(lambda: self.evaluate(f"Boolean({script})"), seconds, script)

    def choose_files(self, selector, files):
        """As a reader does in the dialogue of a file input."""
        page = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=page, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])

    def view(self, width, height, theme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def screenshot(self, file):
        picture = self.call("Page.captureScreenshot", format="png")
        with open(file, "wb") as out:
            out.write(base64.b64decode(picture["data"]))

    def close(self):
        self.web_socket.file.close()
        self.web_socket.socket.close()


class Browser(Tab):
    """A browser with one page; `new_tab` opens another one."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="browser")
        self.process = subprocess.Popen(
            [chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={self.directory}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = self._wait(lambda: self._port(), 60, "the browser has a port")
        targets = self._wait(lambda: self._pages(port), 30, "the browser has a page")
        self.port, self.tabs = port, []
        super().__init__(targets[0]["webSocketDebuggerUrl"])

    def _port(self):
        try:
            with open(os.path.join(self.directory, "DevToolsActivePort"), encoding="ascii") as file:
                return int(file.readline())
        except (OSError, ValueError):
            return None

    @staticmethod
    def _pages(port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=10) as answer:
            return [page for page in json.load(answer) if page["type"] == "page"]

    def new_tab(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.tabs.append(Tab(f"ws://127.0.0.1:{self.port}/devtools/page/{target}"))
        return self.tabs[-1]

    def close(self):
        for tab in self.tabs:
            tab.close()
        super().close()
        self.process.terminate()
        self.process.wait(timeout=20)
        shutil.rmtree(self.directory, ignore_errors=True)
