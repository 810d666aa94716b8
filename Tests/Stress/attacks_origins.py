"""Origins that hang, lie, drip and lead elsewhere."""

import re, urllib.parse

import pictures
from attack import Attack, attack


class Origin(Attack):
    """Asks for pictures of an origin that behaves in one way."""
    path = ""
    expect = (502, 503, 504)

    def host(self, random): return self.scene.other(random)

    def turn(self, random):
        self.get(self.scene.image(f"http://{self.host(random)}{self.path}/{self.next()}.jpg"), random, self.expect)


@attack
class Drip(Origin):
    name = "origin-drip"
    what = "answers that declare 32 MiB and send a byte a second, 24 at a time"
    path = "/drip"
    threads = 24

    def host(self, random): return self.scene.slow


@attack
class Hung(Origin):
    name = "origin-hung"
    what = "an origin that accepts connections and says nothing, 24 requests at a time"
    path = "/hung"
    threads = 24

    def host(self, random): return self.scene.slow


@attack
class HungBesideGood(Origin):
    name = "origin-hung-shared"
    what = "answers that never come, 24 at a time, from a host that serves good pictures too"
    path = "/hung"
    threads = 24

    def host(self, random): return self.scene.shared


@attack
class Cut(Origin):
    name = "origin-cut"
    what = "bodies that end in the middle, from a host that serves good pictures too"
    path = "/cut"
    pause = 0.06

    def host(self, random): return self.scene.shared


@attack
class Retry(Origin):
    name = "origin-retry-after"
    what = "503 with Retry-After: 600, from a host that serves good pictures too"
    path = "/retry"
    pause = 0.5

    def host(self, random): return self.scene.shared


@attack
class Failing(Origin):
    name = "origin-errors"
    what = "500 and empty answers, from a host that serves good pictures too"
    pause = 0.1

    def host(self, random): return self.scene.shared

    def turn(self, random):
        path = random.choice(["/error", "/empty"])
        self.get(self.scene.image(f"http://{self.host(random)}{path}/{self.next()}.jpg"), random, self.expect)


@attack
class Closing(Attack):
    name = "origin-closing"
    what = "an origin that closes idle connections 0 to 60 ms after an answer: all its pictures are good and have to be served"
    pause = 0.03

    def turn(self, random):
        word = self.next()
        url = f"http://{self.scene.shared}/closing/{random.choice([0, 5, 20, 30, 60])}/{word}.jpg"
        answer = self.get(self.scene.image(url), random, (200,))
        if answer and answer.status == 200 and not pictures.is_near(pictures.first_pixel(answer.body)[0], pictures.color_of(word)):
            self.wrong("another picture")


@attack
class Redirects(Attack):
    name = "redirects-inside"
    what = "redirects to addresses of this machine and of its network"
    threads = 3

    def turn(self, random):
        inside = random.choice([
            f"http://127.0.0.9:{self.scene.canary}/x", f"http://localhost:{self.scene.canary}/x", f"http://[::1]:{self.scene.canary}/x",
            f"http://[::ffff:127.0.0.9]:{self.scene.canary}/x", f"http://2130706441:{self.scene.canary}/x",
            f"http://127.9:{self.scene.canary}/x", f"http://0:{self.scene.canary}/x", "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd",
            "gopher://127.0.0.1/", f"https://localhost:{self.scene.canary}/x", "//127.0.0.9/x", "http://"])
        url = f"http://{self.scene.other(random)}/to/{urllib.parse.quote(inside, safe='')}"
        answer = self.get(self.scene.image(f"{url}?{self.next()}"), random, (400, 403, 404, 502))
        if answer and answer.status == 200:
            self.wrong("a redirect to the inside was followed")


@attack
class Names(Attack):
    name = "names-inside"
    what = "allowed names that point at this machine: refused, never connected to, and an open port looks like a closed one"
    threads = 3

    def prepare(self):
        self.texts = {}

    def turn(self, random):
        host = random.choice(["localhost", "127.0.0.9", "[::1]", "[::ffff:127.0.0.9]", "10.0.0.1", "169.254.169.254"])
        scheme = random.choice(["http", "https"])
        port = random.choice([self.scene.canary, self.scene.closed])
        answer = self.get(self.scene.image(f"{scheme}://{host}:{port}/{self.next()}.jpg"), random, (400, 403, 404, 502))
        if not answer or answer.status in (429, 503):
            return
        text = re.sub(rb'"request":"[^"]*"', b"", answer.body).decode("utf-8", "replace")
        text = re.sub(r"\d+-\d+-\d+|:\d{4,5}\b", "", text)
        if host == "localhost" and re.search(r"127\.0\.0\.1|::1", text):
            self.wrong(f"the text names the inside address: {text[:200]}")
        known = self.texts.setdefault((scheme, host), (answer.status, text))
        if known != (answer.status, text):
            self.wrong(f"open and closed ports differ: {known[0]} {known[1][:160]} | {answer.status} {text[:160]}")


@attack
class Gzip(Origin):
    name = "gzip-bombs"
    what = "a gigabyte that deflates to a megabyte as Content-Encoding"
    path = "/gzip-bomb"
    expect = (413, 415, 422, 502, 504)


@attack
class Endless(Origin):
    name = "origin-endless"
    what = "heads, bodies, chunks of one byte and 1xx answers without an end"
    threads = 4
    expect = (413, 415, 422, 502, 504)

    def turn(self, random):
        path = random.choice(["/endless-head", "/endless-body", "/interim", "/chunks"])
        self.get(self.scene.image(f"http://{self.host(random)}{path}/{self.next()}.jpg"), random, self.expect)


@attack
class Statuses(Origin):
    name = "origin-statuses"
    what = "status lines such as 099, 1000, 101 and none, with and without a body"
    expect = (404, 422, 502, 504)

    def turn(self, random):
        status = f"/status/{random.randrange(42)}"
        self.get(self.scene.image(f"http://{self.host(random)}{status}/{self.next()}.jpg"), random, self.expect)
