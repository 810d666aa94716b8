"""A server under test, and the small things that every check needs."""

import http.client
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path


class Missing(Exception):
    """A tool that is not installed."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ipv6():
    """Whether this machine listens on ::1."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def run(*command, **options):
    """Runs a command and returns what it printed; its errors are part of that."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, **options)
    return done.returncode, done.stdout.decode(errors="replace")


def wait_until_open(address, process):
    """Waits until a host and port, or the path of a Unix socket, takes connections."""
    family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"{process.args[0]} ended with {process.returncode} before it listened")
        with socket.socket(family) as probe:
            if probe.connect_ex(address) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on {address}")


def get(url, **fields):
    """Status, header fields in lower case, and body of an answer, as it was sent."""
    return ask(url, "GET", **fields)


def ask(url, method, **fields):
    """The answer to a request with this method."""
    parts = urllib.request.urlparse(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        path = url.split(parts.netloc, 1)[1] or "/"
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


class Program:
    """A program that listens, in a folder of its own, until the check is over."""

    def __init__(self, command, port, folder):
        self.log = open(Path(folder) / "log", "wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)
        self.port = port
        self.address = ("127.0.0.1", port)

    def __enter__(self):
        try:
            wait_until_open(self.address, self.process)
        except AssertionError as error:
            self.__exit__()
            raise AssertionError(f"{error}\n{Path(self.log.name).read_text(errors='replace')[-2000:]}") from None
        return self

    def terminate(self):
        self.process.terminate()

    def __exit__(self, *_):
        self.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Server(Program):
    """An Onesheet with the sample source and the dialects of other image servers, on a port or on a Unix socket."""

    def __init__(
        self, program, folder, keys="", sources="sample: { type: sample }", socket=None, dialects="thumbor, cloudflare, iiif, next",
        has_clock=False
    ):
        """`has_clock`: whether the check sets its clock forward, by faketime, which leaves the time of timers alone."""
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self.program = program
        self.socket = socket
        port = None if socket else free_port()
        self.configuration = self.folder / "onesheet.yaml"
        self.configuration.write_text(
            f"listen: {f'unix:{socket}' if socket else f'127.0.0.1:{port}'}\n"
            f"cache: {{ memory: {{ bytes: 64MiB }}, disk: {{ path: {self.folder / 'cache'}, bytes: 256MiB, free: 1MiB }} }}\n"
            f"dialects: [{dialects}]\n{keys}\nsources: {{ {sources} }}\n"
        )
        self.url = f"http://127.0.0.1:{port}"
        self.clock = self.folder / "clock" if has_clock else None
        launcher = []
        if self.clock:
            self.set_clock(0)
            launcher = [
                tool("faketime"), "-m", "--exclude-monotonic", "-f", "+0", "env", "-u", "FAKETIME", f"FAKETIME_TIMESTAMP_FILE={self.clock}",
                "FAKETIME_NO_CACHE=1"]
        super().__init__([*launcher, program, "serve", "--config", str(self.configuration)], port, self.folder)
        if socket:
            self.address = str(socket)

    def set_clock(self, hours):
        """Sets the server's clock forward, by hours from the real time."""
        new = self.clock.with_suffix(".new")
        new.write_text(f"+{hours * 3600}")
        new.replace(self.clock)

    def terminate(self):
        # faketime ends with the server.
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if self.clock and self.process.poll() is None else []
        for child in children:
            os.kill(int(child), signal.SIGTERM)
        if not children:
            super().terminate()


def tool(name, *places):
    """Where a program is; `Missing` if it is nowhere."""
    for folder in list(places) + os.environ["PATH"].split(":") + ["/usr/sbin", "/usr/local/sbin"]:
        path = Path(folder) / name
        if path.exists():
            return str(path)
    raise Missing(name)
