"""The server under attack: its configuration, its process, and what the kernel says of it."""

import glob, os, resource, shutil, signal, subprocess, sys, time

import wire

MEMORY = 256 << 20
DISK = 256 << 20
DELAY, DEADLINE = 1, 10
DESCRIPTORS = 4096
TMDB_RATE = 30                  # calls a second, as the manifest says


def configuration(room, port, origins, token, tls=False, more=""):
    """A small server with every kind of source: MEMORY for work, 2 workers, a cache that is soon full."""
    def api(host, path, rest=""):
        return f"""{{ type: rest, networks: [loopback], api: {{ baseURL: "http://{host}:{origins}/{path}", {rest}
      list: {{ get: "/list{{?page}}", items: /items, total: /total, pages: /pages, fields: &{path}{port} {{ id: /id, name: /name }} }},
      search: {{ get: "/search{{?query,page}}", items: /items, total: /total, perPage: 20, fields: {{ id: /id, name: /name, rank: /rank,
        metadata: {{ number: {{ at: /number, as: number }}, whole: {{ at: /whole, as: number }} }} }} }},
      title: {{ get: "/title{{?id}}", fields: {{ id: /id, name: /name, metadata: {{ number: {{ at: /number, as: number }} }} }} }},
      candidates: {{ get: "/pictures{{?id}}", items: /items, order: likeness, fields: {{ url: /url, width: /width, height: /height }} }} }} }}"""
    # Otherwise all of this machine's addresses are proxies that may take everything.
    clients = "" if "clients:" in more else "clients: { trustedProxies: [] }"
    others = ", ".join(f'"http://127.0.0.{n}:{origins}/"' for n in range(20, 40))
    text = f"""
listen: 127.0.0.1:{port}
cache: {{ memory: {{ bytes: 32MiB, expires: 1h }}, disk: {{ path: {room}/cache, bytes: {DISK}, free: 0 }} }}
admin: {{ token: {token} }}
limits: {{ memory: {MEMORY}, workers: 2 }}
dialects: [cloudflare, next, thumbor, iiif, tmdb, jellyfin, plex, {{ imgproxy: / }}, {{ rpdb: {{ keys: [{{ key: stress-key-of-all }}] }} }}]
shutdown: {{ delay: {DELAY}s, deadline: {DEADLINE}s }}
log: {{ level: notice }}
{clients}
{f"tls: {{ certificate: {room}/../certificate.pem, key: {room}/../key.pem }}" if tls else ""}
{more}
sources:
  sample: {{ type: sample }}
  web:
    type: remote
    networks: [loopback]
    allow: ["http://127.0.0.2:{origins}/", "http://127.0.0.3:{origins}/", "http://127.0.0.4:{origins}/", "http://127.0.0.5:{origins}/", {others}]
  outside:
    type: remote
    networks: [public]
    allow: ["http://localhost:*/", "http://127.0.0.9:*/", "http://[::1]:*/", "http://[::ffff:127.0.0.9]:*/", "http://10.0.0.1:*/",
      "http://169.254.169.254:*/", "http://nobody.invalid/", "https://localhost:*/", "https://127.0.0.9:*/", "https://[::1]:*/",
      "https://[::ffff:127.0.0.9]:*/", "https://10.0.0.1:*/", "https://169.254.169.254:*/"]
  honest: {api("127.0.0.2", "api")}
  films: {api("127.0.0.7", "api")}
  quota: {api("127.0.0.6", "quota", "quota: { perDay: 3000 },")}
  tmdb: {{ type: rest, manifest: tmdb, networks: [loopback], baseURL: "http://127.0.0.7:{origins}/tmdb", variables: {{ token: x, pictures: "http://127.0.0.2:{origins}/files" }} }}
  jellyfin: {{ type: rest, manifest: jellyfin, networks: [loopback], baseURL: "http://127.0.0.2:{origins}/media", variables: {{ token: x }} }}
  plex: {{ type: rest, manifest: plex, networks: [loopback], baseURL: "http://127.0.0.2:{origins}/media", headers: {{ X-Plex-Token: x }} }}
  program: {{ type: exec, networks: [loopback], command: [{sys.executable}, {os.path.dirname(os.path.abspath(__file__))}/films.py, honest, "127.0.0.2:{origins}"] }}
  liar: {{ type: exec, networks: [loopback], command: [{sys.executable}, {os.path.dirname(os.path.abspath(__file__))}/films.py, liar, "127.0.0.2:{origins}", {room}] }}
  korea: {{ type: boxoffice, key: x, networks: [loopback], baseURL: "http://127.0.0.7:{origins}/kobis", posters: {{ type: kakao, key: x, networks: [loopback], baseURL: "http://127.0.0.7:{origins}/kobis" }} }}
"""
    # No aliases are allowed, so that no anchors are needed.
    text = text.replace(f"&api{port} ", "").replace(f"&quota{port} ", "")
    path = f"{room}/onesheet.yaml"
    with open(path, "w") as file:
        file.write(text)
    return path


def prepare():
    """In the child: a limit of descriptors, and a process group of its own."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def cpu(pid):
    """Seconds of processor time of a process so far; zero when it is gone."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


class Server:
    """A running server; `start` again after a death."""

    def __init__(self, program, path, room, target):
        self.program, self.path, self.room, self.target = program, path, room, target
        self.process, self.log = None, f"{room}/server.log"

    def start(self, seconds=20, quiet=False):
        """Begins it and waits until it is ready; returns how long that took, or `None` when it ended or is not ready in time."""
        begun = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([self.program, "serve", "--config", self.path], stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            process_group=0, preexec_fn=prepare, cwd=self.room,
                                            env={"SWIFT_BACKTRACE": "enable=no", **os.environ})
        while time.monotonic() - begun < seconds:
            if self.process.poll() is not None:
                return None
            try:
                if wire.once(self.target, "/ready", timeout=2).status == 200:
                    return time.monotonic() - begun
            except OSError:
                pass
            time.sleep(0.02)
        return None

    @property
    def pid(self): return self.process.pid

    def is_alive(self): return self.process is not None and self.process.poll() is None

    def kill(self):
        """The process and those that it started."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def last_lines(self, count=3):
        with open(self.log, "rb") as file:
            file.seek(max(os.path.getsize(self.log) - 100_000, 0))
            lines = [line[:300].decode("utf-8", "replace") for line in file.read().splitlines()]
        # What a trap said stands before its backtrace.
        return [line for line in lines if "Fatal error" in line or "crashed:" in line][:2] + lines[-count:]

    # What the kernel says; zero when there is no process.

    def resident(self):
        """Its memory, and what its render processes do not share with it."""
        return self.status("VmRSS") + self.processes()

    def peak(self):
        """The most of its memory, without its render processes, that was resident since the last `forget_peak`."""
        return self.status("VmHWM")

    def forget_peaks(self):
        """Forgets the peaks of it and its render processes. Returns what each holds now, for `taken_since`."""
        resident = {}
        for pid in [self.pid, *self.render_processes()]:
            try:
                with open(f"/proc/{pid}/clear_refs", "w") as file:
                    file.write("5")
            except OSError:
                continue    # It has ended.
            resident[str(pid)] = self.status("VmRSS", pid)
        return resident

    def taken_since(self, resident):
        """The most that it and its render processes have taken beyond what they held. A new process counts with what it has of its own."""
        taken = 0
        for pid in map(str, [self.pid, *self.render_processes()]):
            if pid in resident:
                taken += max(self.status("VmHWM", pid) - resident[pid], 0)
            else:
                taken += self.status("RssAnon", pid) + self.status("RssShmem", pid)
        return taken

    def render_processes(self):
        # The kernel lists a process with the thread that started it.
        children = " ".join(self.read(path) for path in glob.glob(f"/proc/{self.pid}/task/*/children")).split()
        # They are the program itself, started as /proc/self/exe; those of sources have other names.
        return [child for child in children if self.read(f"/proc/{child}/comm") == "exe\n"]

    def processes(self):
        """The memory of its render processes."""
        return sum(self.status("RssAnon", child) + self.status("RssShmem", child) for child in self.render_processes())

    def status(self, name, pid=None):
        lines = self.read(f"/proc/{pid or self.pid}/status").splitlines()
        return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name + ":")), 0)

    def read(self, path):
        """A file of the kernel; empty when its process is gone."""
        try:
            with open(path) as file:
                return file.read()
        except OSError:
            return ""

    def forget_peak(self):
        try:
            with open(f"/proc/{self.pid}/clear_refs", "w") as file:
                file.write("5")
        except OSError:
            pass

    def descriptors(self):
        try:
            return len(os.listdir(f"/proc/{self.pid}/fd"))
        except OSError:
            return 0

    def cpu(self): return cpu(self.pid)

    def log_bytes(self): return os.path.getsize(self.log) if os.path.exists(self.log) else 0

    def disk_bytes(self):
        total = 0
        for folder, _, files in os.walk(f"{self.room}/cache"):
            for name in files:
                try:
                    total += os.lstat(os.path.join(folder, name)).st_blocks * 512
                except OSError:
                    pass
        return total


def certificate(room):
    """A self-signed certificate for `localhost`."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-keyout", f"{room}/key.pem", "-out", f"{room}/certificate.pem"], check=True, capture_output=True)
