"""HTTP/1.1 and HTTP/2 by hand: clients that behave, and sockets for those that do not."""

import functools, random, re, select, socket, ssl, struct, time
from dataclasses import dataclass


@functools.cache
def tls_context(protocols):
    """The TLS settings of a client. They are made once: that takes about as long as a handshake."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(list(protocols))
    return context


@dataclass
class Target:
    """Where the server is."""
    port: int
    tls: bool = False
    host: str = "127.0.0.1"

    def connect(self, source=None, timeout=10, receive=None, protocols=("http/1.1",), raw=False):
        """A connected socket, from a loopback address of one's own, with TLS where the server has it."""
        plain = socket.socket()
        try:
            plain.settimeout(timeout)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if receive:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
            if source:
                plain.bind((source, 0))
            plain.connect((self.host, self.port))
            if not self.tls or raw:
                return plain
            return tls_context(protocols).wrap_socket(plain, server_hostname="localhost")
        except BaseException:
            plain.close()
            raise


@dataclass
class Answer:
    status: int
    fields: dict
    body: bytes


    @property
    def text(self):
        """The beginning of the body, without what differs from request to request."""
        text = re.sub(r',?"request":"[^"]*"', "", self.body[:400].decode("utf-8", "replace"))
        return re.sub(r"\b\d+-\d+-\d+\b|\b[0-9a-f]{16,}\b", "…", re.sub(r"x{20,}", "x…", text))[:220]


class Broken(OSError):
    """The connection ended before the answer did."""


class Connection:
    """One HTTP/1.1 connection that is kept open from request to request."""

    def __init__(self, target, source=None, timeout=10):
        self.target, self.source, self.timeout = target, source, timeout
        self.socket, self.rest = None, b""

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket, self.rest = None, b""

    def request(self, path, method="GET", fields=None, body=b""):
        """The answer, all of it, within the time-out.
        A connection that the server closed while it was idle is opened anew: RFC 9112 §9.3.1."""
        used = self.socket is not None
        try:
            return self.exchange(path, method, fields, body)
        except (Broken, ConnectionError, ssl.SSLError) as error:
            self.close()
            if not used or getattr(error, "begun", False):
                raise
            return self.exchange(path, method, fields, body)
        except BaseException:
            self.close()
            raise

    def exchange(self, path, method, fields, body):
        deadline = time.monotonic() + self.timeout
        if self.socket is None:
            self.socket = self.target.connect(self.source, self.timeout)
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
        for name, value in (fields or {}).items():
            head += f"{name}: {value}\r\n"
        if body or method in ("POST", "PUT"):
            head += f"Content-Length: {len(body)}\r\n"
        self.socket.settimeout(self.timeout)
        self.socket.sendall(head.encode() + b"\r\n" + body)
        return self.answer(deadline, method)

    def more(self, deadline, begun):
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        self.socket.settimeout(left)
        data = self.socket.recv(262144)
        if not data:
            error = Broken("closed" + (" in the middle of an answer" if begun else ""))
            error.begun = begun
            raise error
        self.rest += data

    def answer(self, deadline, method="GET"):
        while True:
            while b"\r\n\r\n" not in self.rest:
                self.more(deadline, bool(self.rest))
            head, self.rest = self.rest.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            status = int(lines[0].split(" ", 2)[1])
            if status >= 200:
                break
        fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            fields[name.strip().lower()] = value.strip()
        if method == "HEAD" or status in (204, 304):
            body = b""
        elif "chunked" in fields.get("transfer-encoding", ""):
            body = b""
            while True:
                while b"\r\n" not in self.rest:
                    self.more(deadline, True)
                size, self.rest = self.rest.split(b"\r\n", 1)
                size = int(size.split(b";")[0], 16)
                while len(self.rest) < size + 2:
                    self.more(deadline, True)
                body, self.rest = body + self.rest[:size], self.rest[size + 2:]
                if size == 0:
                    break
        elif "content-length" in fields:
            size = int(fields["content-length"])
            while len(self.rest) < size:
                self.more(deadline, True)
            body, self.rest = self.rest[:size], self.rest[size:]
        else:
            try:
                while True:
                    self.more(deadline, True)
            except Broken:
                body, self.rest = self.rest, b""
        if fields.get("connection", "").lower() == "close":
            self.close()
        return Answer(status, fields, body)


def once(target, path, source=None, timeout=10, method="GET", fields=None, body=b""):
    """One request on a connection of its own."""
    connection = Connection(target, source, timeout)
    try:
        return connection.request(path, method, {"Connection": "close", **(fields or {})}, body)
    finally:
        connection.close()


def status(target, path, source=None, timeout=10, fields=None):
    """The status of one request on a connection of its own, whose body is read and kept nowhere."""
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in (fields or {}).items())
    with target.connect(source, timeout) as connection:
        connection.sendall(head.encode() + b"\r\n")
        start, room = b"", bytearray(65536)
        while count := connection.recv_into(room):
            if len(start) < 64:
                start += bytes(room[:min(count, 64)])
    if not start:
        raise Broken("closed")
    return int(start.split(b" ", 2)[1])


# --- HTTP/2 (RFC 9113), as much as an attacker needs -----------------------------------------------------------------------------

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)


def frame(kind, flags=0, stream=0, body=b""):
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + body


def fields_block(*pairs):
    """Literals without indexing and without Huffman's code (RFC 7541 §6.2.2)."""
    def text(value):
        value = value.encode() if isinstance(value, str) else value
        if len(value) < 127:
            return bytes([len(value)]) + value
        rest, size = len(value) - 127, b"\x7f"
        while rest >= 128:
            size, rest = size + bytes([rest % 128 + 128]), rest // 128
        return size + bytes([rest]) + value
    return b"".join(b"\0" + text(name) + text(value) for name, value in pairs)


def get_block(path):
    return fields_block((":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", path))


class HTTP2:
    """A connection that has said hello; its frames are the caller's."""

    def __init__(self, target, source=None, window=None, timeout=10):
        self.socket = target.connect(source, timeout, protocols=("h2",))
        if self.socket.selected_alpn_protocol() != "h2":
            self.socket.close()
            raise Broken("the server does not speak HTTP/2")
        settings = struct.pack(">HI", 4, window) if window is not None else b""
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0, settings))
        self.rest, self.stream = b"", 1

    def send(self, *frames):
        self.socket.sendall(b"".join(frames))

    def open(self, path, end=True):
        """Asks for `path`; returns the stream and the frame to send."""
        stream, self.stream = self.stream, self.stream + 2
        return stream, frame(HEADERS, 4 | (1 if end else 0), stream, get_block(path))

    def drain(self, seconds=0.0):
        """Reads what is there; returns the kinds of frames, and raises when the server ended the connection."""
        kinds, deadline = [], time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            self.socket.settimeout(max(left, 0.001))
            try:
                data = self.socket.recv(65536)
            except (TimeoutError, ssl.SSLWantReadError):
                data = None
            if data == b"":
                raise Broken("closed")
            self.rest += data or b""
            while len(self.rest) >= 9:
                size = int.from_bytes(self.rest[:3], "big")
                if len(self.rest) < 9 + size:
                    break
                kinds.append(self.rest[3])
                if self.rest[3] == SETTINGS and not self.rest[4] & 1:
                    self.socket.settimeout(5)
                    self.send(frame(SETTINGS, 1))
                self.rest = self.rest[9 + size:]
            if data is None or left <= 0:
                return kinds

    def close(self):
        self.socket.close()
