"""Mutates pictures and the answers of origins, and holds the server to what it promises about each.

    python3 fuzz_http.py PROGRAM [--seconds 600] [--seed 1] [--from 0] [--only INPUT] [--findings FOLDER]

PROGRAM is a build under AddressSanitizer with WebP and AVIF (`.ci/fuzz-http` makes it). The same seed gives the same inputs: input 17 is
input 17 in every run, so that `--only 17` shows it again. One at a time, so that the CPU time is that of the input:

- it is answered: no connection is reset, the process lives, AddressSanitizer is silent;
- a bad picture is the picture's fault (4xx), never 5xx; an origin's own fault may be 502, 503 or 504, and nothing is 500;
- the CPU time is within FIXED + PER_BYTE × bytes + PER_PIXEL × pixels that the picture declares, as far as limits.pixels, and asks for;
- the memory that it takes, in the server and its render processes, is within FIXED_MEMORY + MEMORY_PER_BYTE × bytes + MEMORY_PER_PIXEL ×
  pixels;
- memory does not grow: what is resident stays within GROWTH of what it was after the first 200 inputs.

An input that breaks one of these is kept in the folder of findings, as the bytes that the origin sent and a line that says what was asked
for. Ends with 1 if there is one.
"""

import argparse, collections, json, os, random, shutil, signal, socket, sys, tempfile, threading, time

import mutation, pictures, server as servers, wire

LIMIT = 8_000_000               # limits.pixels
# Seconds of CPU that a release may take: for each request, for a byte that the origin sends, for a pixel. A build for AddressSanitizer
# without optimization takes some ten times as long (`--factor`).
FIXED, PER_BYTE, PER_PIXEL = 0.2, 4e-7, 4e-7
# A render process that is started for it, bytes that are inflated and copied, and pixels of four bytes in several steps. Freed memory stays
# with AddressSanitizer for a while.
FIXED_MEMORY, MEMORY_PER_BYTE, MEMORY_PER_PIXEL = 96 << 20, 8, 16
GROWTH = 384 << 20
HOSTS = 200


class Origin:
    """Answers each connection's requests with the bytes that are laid down for the path."""

    def __init__(self):
        self.answers = {}
        self.listener = socket.create_server(("0.0.0.0", 0), backlog=200)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            connection.settimeout(30)
            rest = b""
            with connection:
                while True:
                    while b"\r\n\r\n" not in rest:
                        data = connection.recv(65536)
                        if not data:
                            return
                        rest += data
                    head, rest = rest.split(b"\r\n\r\n", 1)
                    data, close = self.answers.get(head.split(b" ")[1].decode("latin-1"), (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", False))
                    connection.sendall(data)
                    if close:
                        return
        except (OSError, IndexError):
            pass


def configuration(room, port, origin):
    hosts = ", ".join(f'"http://127.0.20.{n}:{origin}/"' for n in range(1, HOSTS + 1))
    path = f"{room}/onesheet.yaml"
    with open(path, "w") as file:
        file.write(f"""
listen: 127.0.0.1:{port}
cache: {{ memory: {{ bytes: 8MiB }}, disk: {{ path: {room}/cache, bytes: 64MiB, free: 0 }} }}
limits: {{ pixels: {LIMIT}, outputPixels: {LIMIT}, originBytes: 16MiB, memory: 256MiB, workers: 2, originTimeout: 4s, originIdleTimeout: 2s }}
# Where AddressSanitizer watches, and where time is counted.
rendering: {{ isolation: thread }}
sources:
  sample: {{ type: sample }}
  web: {{ type: remote, networks: [loopback], allow: ["http://127.0.21.1:{origin}/", {hosts}] }}
""")
    return path


def seeds(target, formats):
    """Good pictures of every format: drawn here, or made by the server."""
    yield "flat.png", pictures.flat_png(60, 90)
    yield "gray.png", pictures.png(40, 50, bytes(41 * 50), color=0)
    yield "palette.png", pictures.palette_png(index=1)
    yield "deep.png", pictures.png(20, 20, bytes(121 * 20), color=2, depth=16)
    yield "alpha.png", pictures.png(30, 30, bytes(121 * 30), color=6)
    yield "bits.png", pictures.png(33, 20, bytes(6 * 20), color=0, depth=1)
    yield "profile.png", pictures.iccp_png(pictures.grid_profile(1, 9))
    yield "noise.png", pictures.noise_png(50, 50)
    yield "flat.jpg", pictures.flat_jpeg(120, 160)
    yield "profile.jpg", pictures.flat_jpeg(64, 64, segments=pictures.icc_segments(pictures.grid_profile(2, 9)) + pictures.exif(6, 3))
    yield "scans.jpg", pictures.scans_jpeg(200, 200, 12)
    for extension in formats:
        answer = wire.once(target, f"/i/unsafe/rs:fit:90:0/plain/sample://1@{extension}", timeout=60)
        if answer.status != 200:
            sys.exit(f"fuzz-http: the server does not make {extension} ({answer.status} {answer.body[:200]}); build it with --traits WebP,AVIF")
        yield f"sample.{extension}", answer.body


def build(index, seed, originals, formats):
    """Input `index`: the bytes of the picture, how the origin sends it, and what is asked for."""
    choice = random.Random(f"{seed} {index}")
    names = sorted(originals)
    name = choice.choice(names)
    picture = originals[name]
    for _ in range(choice.choice((0, 1, 1, 1, 2))):
        picture = mutation.mutate(picture, originals[choice.choice(names)], choice)
    bad_http = choice.random() < 0.35
    if bad_http:
        answer, close = mutation.hostile(picture, choice)
    else:
        answer, close = b"HTTP/1.1 200 OK\r\nContent-Type: image/%s\r\nContent-Length: %d\r\n\r\n" % (choice.choice((b"jpeg", b"png", b"x")), len(picture)) + picture, False
    options = choice.choice(("rs:fit:60:0", "rs:fill:90:120", "rs:fit:300:300/rot:90", "rs:force:50:50/q:10", "w:20/bl:2", "rs:fill:64:64/g:sm", "rs:fit:0:0", "c:10:10/rs:fit:40:0"))
    return name, picture, bad_http, answer, close, options, choice.choice([*formats, "png", "jpg"])


def asked(options):
    return LIMIT if options == "rs:fit:0:0" else 300 * 300


class Fuzzing:
    def __init__(self, options, room):
        self.options, self.origin = options, Origin()
        target = wire.Target(int(os.environ.get("ONESHEET_FUZZ_PORT", 0)) or free_port())
        self.server = servers.Server(os.path.abspath(options.program), configuration(room, target.port, self.origin.port), room, target)
        self.findings, self.statuses, self.worst, self.widest = [], collections.Counter(), (0, ""), (0, "")
        self.connection = wire.Connection(target, timeout=90)

    def start(self):
        if self.server.start(60) is None:
            sys.exit("fuzz-http: the server does not start: " + " | ".join(self.server.last_lines(10)))

    def find(self, index, what, input, detail=""):
        name, _, _, answer, _, options, extension = input
        folder = self.options.findings
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/{self.options.seed}-{index}.answer", "wb") as file:
            file.write(answer)
        with open(f"{folder}/{self.options.seed}-{index}.txt", "w") as file:
            file.write(f"{what}\nseed {self.options.seed}, input {index}, of {name}, asked for {options} as {extension}\n{detail}\n")
        self.findings.append((index, what))
        print(f"input {index} ({name}, {options}@{extension}): {what}", flush=True)

    def one(self, index, input):
        name, picture, bad_http, answer, close, options, extension = input
        path = f"/{self.options.seed}/{index}"
        # An origin that misbehaves is another host each time: what one did is not held against the next.
        host = f"127.0.20.{index % HOSTS + 1}" if bad_http else "127.0.21.1"
        self.origin.answers[path] = answer, close
        resident = self.server.forget_peaks()
        before, begun = self.server.cpu(), time.monotonic()
        try:
            reply = self.connection.request(f"/i/unsafe/{options}/plain/http://{host}:{self.origin.port}{path}@{extension}")
            status = reply.status
        except Exception as error:
            status, reply = type(error).__name__, None
            self.connection.close()
        used, took = self.server.cpu() - before, time.monotonic() - begun
        del self.origin.answers[path]
        self.statuses[f"{status}{' (hostile HTTP)' if bad_http else ''}"] += 1
        time.sleep(0 if self.server.is_alive() and reply else 0.5)
        if not self.server.is_alive():
            lines = self.server.last_lines(60)
            self.find(index, f"the server died with {self.server.process.returncode}: {next((l for l in lines if 'ERROR' in l or 'Fatal' in l), lines[-1] if lines else '')}", input, "\n".join(lines))
            self.connection.close()
            return self.start()
        if reply is None:
            self.find(index, f"no answer: {status} after {took:.1f} s", input)
        elif status == 502 and not picture:
            pass    # An origin that answers with nothing is at fault.
        elif status == 500 or (status >= 500 and not bad_http and not (status in (503, 504) and took > 3)):
            self.find(index, f"{status} for a picture: {reply.text}", input)
        elif status not in (200, 400, 403, 404, 410, 413, 415, 422, 429, 502, 503, 504):
            self.find(index, f"{status}: {reply.text}", input)
        size = len(answer)
        pixels = mutation.pixels(picture, LIMIT) + asked(options)
        taken = self.server.taken_since(resident)
        room = FIXED_MEMORY + MEMORY_PER_BYTE * size + MEMORY_PER_PIXEL * pixels
        self.widest = max(self.widest, (taken / room, f"input {index}: {taken >> 20} of {room >> 20} MiB"))
        if taken > room:
            self.find(index, f"{taken >> 20} MiB; {size} bytes and {pixels} pixels may take {room >> 20} MiB", input)
        bound = (FIXED + PER_BYTE * (size + (50 << 20 if b"Content-Encoding" in answer[:200_000] else 0))
                 + PER_PIXEL * pixels) * self.options.factor
        self.worst = max(self.worst, (used / bound, f"input {index}: {used:.2f} s of {bound:.2f} s CPU"))
        if used > bound:
            self.find(index, f"{used:.2f} s of CPU; {size} bytes and {mutation.pixels(picture, LIMIT)} pixels may take {bound:.2f} s", input)

    def run(self):
        self.start()
        formats = self.options.formats.split(",")
        originals = dict(seeds(self.server.target, formats))
        begun, index, base = time.monotonic(), self.options.start, 0
        if self.options.only is not None:
            self.one(self.options.only, build(self.options.only, self.options.seed, originals, formats))
            return
        while time.monotonic() - begun < self.options.seconds and len(self.findings) < 50:
            self.one(index, build(index, self.options.seed, originals, formats))
            index += 1
            if index - self.options.start == 200:
                base = self.server.resident()
            if base and index % 100 == 0 and self.server.resident() > base + GROWTH:
                self.find(index, f"{self.server.resident() >> 20} MiB are resident; it was {base >> 20} MiB after 200 inputs", build(index, self.options.seed, originals, formats))
                base = self.server.resident()
            if index % 500 == 0:
                print(f"{index} inputs, {self.server.resident() >> 20} MiB", file=sys.stderr, flush=True)
        self.count = index - self.options.start
        print(f"{self.count} inputs of seed {self.options.seed}; {len(self.findings)} findings")
        print("answers: " + ", ".join(f"{status} × {many}" for status, many in self.statuses.most_common()))
        print(f"CPU time nearest to its bound: {self.worst[1]}; memory nearest to its bound: {self.widest[1]}; memory at the end {self.server.resident() >> 20} MiB, peak of the server alone {self.server.peak() >> 20} MiB")

    def end(self):
        """SIGTERM, so that what AddressSanitizer has to say at the end is said."""
        self.connection.close()
        if self.server.is_alive():
            self.server.process.send_signal(signal.SIGTERM)
            try:
                self.server.process.wait(40)
            except Exception:
                self.findings.append((-1, "SIGTERM does not end it"))
                print("SIGTERM does not end it")
        self.server.kill()
        with open(self.server.log, "rb") as file:
            log = file.read()
        if b"AddressSanitizer" in log and not self.findings:
            self.findings.append((-1, "AddressSanitizer"))
            print(log[log.find(b"AddressSanitizer") - 100:][:4000].decode("utf-8", "replace"))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--from", dest="start", type=int, default=0, help="the first input (0)")
    parser.add_argument("--only", type=int, help="this input alone")
    parser.add_argument("--factor", type=float, default=10, help="how many times the CPU time of a release this build may take (10); 1 for a release")
    parser.add_argument("--formats", default="jpg,png,webp,avif", help="formats that the program makes (all four)")
    parser.add_argument("--findings", default="findings")
    options = parser.parse_args()
    # Nothing is looked for that leaks: Swift's runtime keeps the metadata of types for ever. What is freed is kept apart for a while, but
    # not so much that it hides growth.
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1:quarantine_size_mb=32:malloc_context_size=10")
    room = tempfile.mkdtemp(prefix="onesheet-fuzz-http-")
    fuzzing = Fuzzing(options, room)
    try:
        fuzzing.run()
    finally:
        fuzzing.end()
        shutil.rmtree(room, ignore_errors=True)
    return 1 if fuzzing.findings else 0


if __name__ == "__main__":
    sys.exit(main())
