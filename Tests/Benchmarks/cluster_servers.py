"""The servers that bench_cluster.py measures: ours with and without what several servers share, thumbor with thumbor-aws, the origin that
counts, and a proxy that counts requests to the store."""

import collections, http.client, http.server, importlib.util, pathlib, socket, subprocess, sys, threading, time, urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples/cluster"))
sys.dont_write_bytecode = True
import cluster  # noqa: E402
from http_servers import Server, write  # noqa: E402


class Posters(cluster.Origin):
    """A site whose posters are all the same picture, until the edition changes."""

    kind = "jpeg"
    editions = [b""]

    def draw(self, film):
        return self.editions[self.edition % len(self.editions)]


class CountingProxy(http.server.ThreadingHTTPServer):
    """Forwards to a store and counts the requests by method; a GET that lists counts as LIST."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port):
        self.store, self.counts, self.lock = port, collections.Counter(), threading.Lock()
        super().__init__(("127.0.0.1", 0), Forwarding)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def take(self):
        """The counts since the last time."""
        with self.lock:
            counts, self.counts = self.counts, collections.Counter()
        return counts


class Forwarding(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.upstream = http.client.HTTPConnection("127.0.0.1", self.server.store, timeout=30)

    def forward(self):
        query = urllib.parse.urlsplit(self.path).query
        with self.server.lock:
            self.server.counts["LIST" if "list-type=" in query else self.command] += 1
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        # The signature covers the fields, the proxy's own host and port among them.
        self.upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            self.upstream.putheader(name, value)
        self.upstream.endheaders(body)
        answer = self.upstream.getresponse()
        data = answer.read()
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        # The length of an answer to HEAD is that of the object.
        self.send_header("Content-Length", answer.getheader("Content-Length", "0") if self.command == "HEAD" else str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = forward

    def finish(self):
        self.upstream.close()
        super().finish()

    def log_message(self, *_):
        pass


def ours(program, room, name, origin, store=None, redis=None, memory="256MiB", prefix="bench"):
    """One of our servers: with a store and a coordinator if their addresses are given."""
    port = cluster.free_port(set())
    lines = [
        f"listen: 127.0.0.1:{port}", f"cache: {{ memory: {{ bytes: {memory}, expires: 1h }}, disk: {{ path: {room}/{name} }} }}",
        "clients: { perAddress: { misses: 0 } }", "limits: { queueTime: 60s }", f"admin: {{ token: {cluster.TOKEN} }}",
        "sources:", "  sample: { type: sample }",
        f"  films: {{ type: remote, allow: ['{origin}/'], networks: [loopback] }}",
    ]
    if store or redis:
        lines += ["shared:", f"  prefix: {prefix}"]
    if store:
        lines.append(f"  store: {{ type: s3, endpoint: '{store}', bucket: onesheet, accessKey: {cluster.ACCESS}, secretKey: {cluster.SECRET} }}")
    if redis:
        lines.append(f"  coordinator: {{ type: valkey, addresses: ['127.0.0.1:{redis}'] }}")
    write(f"{room}/{name}.yaml", "\n".join(lines) + "\n")
    server = Server([program, "serve", "--config", f"{room}/{name}.yaml"], port, open(f"{room}/{name}.log", "w"))
    cluster.wait(f"{name} is ready", lambda: cluster.ask(port, "/ready").status == 200)
    return server


def thumbor(room, name, store):
    """thumbor with results in the bucket; `None` if it or thumbor-aws is not installed."""
    if not importlib.util.find_spec("thumbor") or not importlib.util.find_spec("thumbor_aws"):
        return None
    port = cluster.free_port(set())
    write(f"{room}/{name}.conf", f"""
LOADER = "thumbor.loaders.http_loader"
STORAGE = "thumbor.storages.no_storage"
RESULT_STORAGE = "thumbor_aws.result_storage"
RESULT_STORAGE_STORES_UNSAFE = True
AWS_RESULT_STORAGE_BUCKET_NAME = "onesheet"
AWS_RESULT_STORAGE_ROOT_PATH = "thumbor"
AWS_RESULT_STORAGE_S3_ENDPOINT_URL = "{store}"
AWS_RESULT_STORAGE_S3_ACCESS_KEY_ID = "{cluster.ACCESS}"
AWS_RESULT_STORAGE_S3_SECRET_ACCESS_KEY = "{cluster.SECRET}"
""")
    command = [sys.executable, "-m", "thumbor.server", "-c", f"{room}/{name}.conf", "-i", "127.0.0.1", "-p", str(port), "-l", "error"]
    return Server(command, port, open(f"{room}/{name}.log", "w"))


class Client:
    """A connection that stays open, and times what it asks."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get(self, path, method="GET", **fields):
        """Seconds, fields in lower case and body of an answer, which must be a success."""
        begun = time.perf_counter()
        self.connection.request(method, path, headers=fields)
        answer = self.connection.getresponse()
        body = answer.read()
        seconds = time.perf_counter() - begun
        if answer.status >= 300:
            sys.exit(f"{answer.status} for {path}: {body[:300]}")
        return seconds, {name.lower(): value for name, value in answer.getheaders()}, body

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()


def h2load_times(port, paths, room):
    """Seconds of the answers for paths, one after the other on one connection, as a client in C sees them."""
    addresses, log = pathlib.Path(room, "addresses"), pathlib.Path(room, "times")
    addresses.write_text("".join(f"http://127.0.0.1:{port}{path}\n" for path in paths))
    log.unlink(missing_ok=True)
    subprocess.run(
        ["h2load", "--h1", "-c", "1", "-n", str(len(paths)), "-i", addresses, f"--log-file={log}"], check=True, stdout=subprocess.DEVNULL)
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    if [status for _, status, _ in lines] != ["200"] * len(paths):
        sys.exit(f"not all of {len(paths)} answers are pictures")
    return [int(microseconds) / 1e6 for _, _, microseconds in lines]


def redis_times(port, count):
    """Seconds of round trips that take a lease."""
    times = []
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(count):
            words = ["SET", f"bench-{number}", "me", "NX", "PX", "5000"]
            text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
            begun = time.perf_counter()
            connection.sendall(text.encode())
            if connection.recv(100) != b"+OK\r\n":
                sys.exit("Redis refuses a lease")
            times.append(time.perf_counter() - begun)
    return times
