"""Requests that are too many, too long or malformed."""

import json, os, re, time, urllib.parse

import attacks_connections, wire
from attack import Attack, attack


@attack
class Versions(Attack):
    name = "version-flood"
    what = "the ladder of an allowed picture with ?v=1, ?v=2 …: each is another original for the disk"
    threads = 3

    def turn(self, random):
        url = f"http://{self.scene.honest}/file/medium.png/same?v={self.next()}"
        for size in ["w92", "w154", "w185", "w342", "w500", "w780", "original"]:
            self.get(f"/t/p/{size}/web/{urllib.parse.quote(url, safe='')}.png", random, (200, 400, 403, 404, 413))


@attack
class LongPaths(Attack):
    name = "long-paths"
    what = "paths of 8 KB that fail: what each costs in log"
    threads = 2

    def turn(self, random):
        word = self.next()
        filler = "x" * 7900
        self.get(random.choice([
            f"/i/unsafe/{filler}{word}/plain/sample://1", f"/t/p/w92/sample/{filler}{word}.jpg", f"/t/p/{filler}{word}/sample/1.jpg",
            f"/sources/{filler}{word}/titles", f"/sources/films/titles?query=unknown-{filler}{word}", f"/{filler}{word}",
            f"/i/unsafe/rs:fit:60:0/plain/http://{self.scene.shared}/cut/{filler}{word}@jpg",
            f"/i/unsafe/rs:fit:60:0/plain/http://{self.scene.hostile}/file/text.txt/{filler}{word}@jpg",
            f"/i/unsafe/rs:fit:60:0/plain/http://{self.scene.hostile}/error/{word}?token={filler}@jpg",
            f"/i/unsafe/rs:fit:60:0/plain/http://nobody.invalid/{filler}{word}@jpg",
        ]), random, (400, 403, 404, 413, 414, 415, 422, 431, 502, 504))


@attack
class Malformed(Attack):
    name = "malformed"
    what = "heads that are cut, doubled, contradict themselves, are noise, or take long to compare"
    threads = 2

    def turn(self, random):
        good = b"GET /t/p/w92/sample/1.jpg HTTP/1.1\r\nHost: localhost\r\n\r\n"
        kind = random.randrange(10)
        if kind == 0:
            data = random.randbytes(random.randrange(1, 5000))
        elif kind == 1:
            data = good[:random.randrange(1, len(good))]
        elif kind == 2:
            data = bytearray(good)
            for _ in range(random.randrange(1, 6)):
                data[random.randrange(len(data))] = random.randrange(256)
        elif kind == 3:
            data = good.replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")
        elif kind == 4:
            data = good.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\nffffffffffffffffff\r\n")
        elif kind == 5:
            data = good.replace(b"Host", b"X: " + b"a" * random.randrange(100_000) + b"\r\nHost")
        elif kind == 6:
            data = b"GET /" + b"a" * random.randrange(200_000)
        elif kind == 7:
            data = b"".join(b"X%d: y\r\n" % n for n in range(5000)).join([b"GET / HTTP/1.1\r\n", b"\r\n"])
        elif kind == 8:
            # Combining marks in the wrong order, which a comparison of texts sorts.
            marks = ("\u0301" * 3500 + "\u0316" * 3500).encode()
            data = good.replace(b"Host", random.choice((b"Connection", b"If-Modified-Since", b"X")) + b": " + marks + b"\r\nHost")
        else:
            ranges = ",".join(f"{n}-{n}" for n in range(1500))
            data = good.replace(b"\r\n\r\n", f"\r\nRange: bytes={ranges}\r\n\r\n".encode())
        connection = self.target.connect(self.address(random), 5)
        try:
            connection.sendall(bytes(data))
            connection.settimeout(1)
            try:
                answer = connection.recv(4096)
            except TimeoutError:
                return self.count("waits for the rest")
            status = answer.split(b" ", 2)[1].decode("latin-1") if answer.startswith(b"HTTP/1.1 ") else "closed" if not answer else "noise"
            self.count(status)
            if status == "500":
                self.wrong("500")
        finally:
            connection.close()


@attack
class Stale(Attack):
    name = "stale-hits"
    what = "hits on pictures that are stale after a second and whose origin takes a second and a half"
    threads = 3
    pause = 0

    def prepare(self):
        self.connections = {}
        self.paths = [self.scene.image(f"http://{self.scene.honest}/stale/1500/stale-{n}.jpg") for n in range(8)]

    def turn(self, random):
        source = self.address(random)
        connection = wire.Connection(self.target, source, 30)
        try:
            for _ in range(200):
                answer = connection.request(random.choice(self.paths))
                self.count(str(answer.status))
                if answer.status not in (200, 503, 429):
                    self.wrong(f"{answer.status} for a stale picture: {answer.text}")
        finally:
            connection.close()


@attack
class Descriptions(Attack):
    name = "descriptions"
    what = "explanations, candidates and their pages for originals of 30 MB, 8 at a time: what is said of them needs few of their bytes"
    threads = 8

    def turn(self, random):
        path = attacks_connections.large(self.scene, random.randrange(4))
        title = path.removeprefix("/t/p/original/web/").removesuffix(".png")
        self.get(random.choice([
            f"/explain?url={urllib.parse.quote(path, safe='')}", f"/sources/web/titles/{title}/posters",
            f"/?plain&source=web&posters={title}"]), random, (200, 404))


@attack
class Routes(Attack):
    name = "every-route"
    what = "each route of the router for originals of 30 MB, over 256 connections at once, a second for each route"
    threads = 256
    pause = 0

    def prepare(self):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "routes.json")) as file:
            self.routes = [paths for paths in json.load(file).values() if paths]
        console = re.search(r"/console/[^\"]+\.js", wire.once(self.target, "/", timeout=20).text)
        self.replaced = {"console": console.group() if console else "/"}
        self.statuses = {}

    def turn(self, random):
        number = random.randrange(4)
        title = attacks_connections.large(self.scene, number).removeprefix("/t/p/original/web/").removesuffix(".png")
        example = random.choice(self.routes[int(time.monotonic()) % len(self.routes)])
        path = example
        for name, text in {"title": title, "twice": urllib.parse.quote(title, safe=""), "width": str(40 + number), **self.replaced}.items():
            path = path.replace("{" + name + "}", text)
        fields = {"Authorization": f"Bearer {self.scene.token}", **({"Range": "bytes=0-0"} if random.randrange(3) == 0 else {})}
        try:
            status = wire.status(self.target, path, self.address(random), self.timeout, fields)
        except TimeoutError:
            return self.count("no answer in time")
        except (OSError, ValueError) as error:
            return self.count(f"broken off ({type(error).__name__})")
        self.count(str(status))
        if status == 500:
            self.wrong(f"500 for {path.split('?')[0][:20]}")
        with self.lock:
            self.statuses.setdefault(example, set()).add(status)

    def finish(self):
        """A route that has nothing at its example is not attacked. Overload and too many misses are expected."""
        for example, statuses in self.statuses.items():
            if statuses <= {400, 403, 404, 405}:
                self.wrong(f"{sorted(statuses)} only for {example[:40]}")


@attack
class StaleRanges(Attack):
    name = "stale-ranges"
    what = "one byte of a picture of 30 MB that is stale after a second and whose origin then fails, 16 at a time"
    threads = 16

    def prepare(self):
        url = urllib.parse.quote(f"http://{self.scene.honest}/passing/large.png/{self.started}", safe="")
        self.path = f"/t/p/original/web/{url}.png"

    def turn(self, random):
        place = random.randrange(1 << 20)
        # Once the full disk has given it up, it is gone.
        answer = self.get(self.path, random, (206, 502), fields={"Range": f"bytes={place}-{place}"})
        if answer and answer.status == 206 and len(answer.body) != 1:
            self.wrong(f"{len(answer.body)} bytes instead of one")


@attack
class Ranges(Attack):
    name = "ranges"
    what = "one byte of pictures of 30 MB, 16 at a time: no more is read than is sent"
    threads = 16

    def turn(self, random):
        place = random.randrange(1 << 20)
        path = attacks_connections.large(self.scene, random.randrange(4))
        answer = self.get(path, random, (206,), fields={"Range": f"bytes={place}-{place}"})
        if answer and answer.status == 206 and len(answer.body) != 1:
            self.wrong(f"{len(answer.body)} bytes instead of one")
