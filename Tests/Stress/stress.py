"""Attacks a server beside an honest load, and says what that cost.

    python3 stress.py PROGRAM [options]        (or: make stress [SECONDS=600] [ATTACKS=a,b])

PROGRAM is a release build of `onesheet`. Everything happens on 127.0.0.0/8 and in a folder that is gone afterwards. There are
two rounds, over plain HTTP and over TLS; in each, attacks come one after the other, and then all at once until SIGTERM ends the server
in the midst of them.

How to read what it prints. The first table has a line for each attack alone: what its requests were answered, honest requests lost
meanwhile, the 99th percentile and the worst time of a hit and of `/ready` in milliseconds, the most memory, the most descriptors, and
what log and disk grew by. `floor` is how long an exchange with a program took that does nothing, at the same moments: where it is high,
the machine was busy, whatever the server did. Attackers run only when the server leaves a processor idle (SCHED_IDLE), and
origins at a low priority (nice 10): in reality they have machines of their own.
Then come the rounds as a whole, and last the bounds, each `ok` or `BROKEN`. The program
ends with 1 if a bound is broken, with 2 if the harness itself failed.
"""

import argparse, collections, json, multiprocessing, os, random, shutil, signal, socket, subprocess, sys, tempfile, threading, time

import attacks_connections, attacks_origins, attacks_pictures, attacks_requests, attacks_sources
import damage, honest, pictures, server as servers, wire
from attack import ORIGIN, Scene, attacks, perform
from origin import WINDOW

HERE = os.path.dirname(os.path.abspath(__file__))
MIB = 1 << 20
HIT, READY = 0.010, 1.0         # seconds: 99th percentile of a hit, worst /ready
MOST = 4 << 30                  # bytes; a server that takes more is ended, before the machine is full
HUNG = 10                       # seconds without an answer to /ready after which the server counts as dead
SLACK = 128 * MIB               # beside limits.memory
LOAD = ("hit", "hit, new connection", "new picture", "new picture, shared host", "new poster", "new film, shared rate", "known title",
        "known list", "known title, spent quota")
# Printed, and not among the lost: what is new at a service whose quota strangers spend may be put off until the next day.
ALSO = ("new search, spent quota",)

processes = multiprocessing.get_context("fork")


def free_port(hosts=("127.0.0.1",)):
    """A port that is free on all of `hosts`."""
    for _ in range(100):
        port = random.randrange(20000, 30000)
        try:
            for host in hosts:
                with socket.create_server((host, port)):
                    pass
            return port
        except OSError:
            continue
    sys.exit("stress: no port is free")


def percentile(values, part):
    values = sorted(values)
    return values[min(int(len(values) * part), len(values) - 1)] if values else 0


def ms(seconds): return f"{seconds * 1000:.1f}"


def in_child(function, *arguments):
    """Runs `function` in a process of its own. SIGTERM ends it at once. The parent cleans up."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    function(*arguments)


class Canary:
    """A listener that nobody may ever connect to, on each address of the inside that attacks name."""

    def __init__(self):
        self.hosts, self.sockets, self.touched = ["127.0.0.1", "127.0.0.9"], [], collections.Counter()
        self.port = free_port(self.hosts)
        for host in self.hosts:
            self.listen(socket.create_server((host, self.port)), host)
        try:
            self.listen(socket.create_server(("::1", self.port), family=socket.AF_INET6), "::1")
        except OSError:
            pass

    def listen(self, listener, host):
        self.sockets.append(listener)
        threading.Thread(target=self.accept, args=(listener, host), daemon=True).start()

    def accept(self, listener, host):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.touched[host] += 1
            connection.close()


class Watch:
    """Looks at the server ten times a second, and begins it again when it has died or hangs: when `/ready` has no answer for HUNG seconds."""

    def __init__(self, server, note):
        self.server, self.note = server, note
        self.samples, self.deaths, self.lock = [], [], threading.Lock()
        self.highest, self.ending, self.over, self.why = 0, False, False, None
        self.threads = [threading.Thread(target=work, daemon=True) for work in (self.run, self.ask)]
        for thread in self.threads:
            thread.start()

    def end(self):
        """Nothing is begun again after this."""
        self.ending = self.over = True
        self.threads[0].join()

    def run(self):
        while not self.over:
            self.look()
            time.sleep(0.1)

    def ask(self):
        while not self.over:
            pid = self.server.pid
            try:
                wire.once(self.server.target, "/ready", "127.0.1.6", HUNG)
            except TimeoutError:
                if not self.ending and self.server.is_alive() and self.server.pid == pid:
                    self.why = f"hung: no answer to /ready for {HUNG} s"
                    self.server.kill()
            except OSError:
                pass
            time.sleep(0.5)

    def look(self):
        server = self.server
        if not server.is_alive():
            if self.ending:
                return
            lines = server.last_lines()
            code, self.why = self.why or f"died with status {server.process.returncode}", None
            self.deaths.append((time.time(), code, lines))
            self.note(f"THE SERVER {code.upper()}: {' | '.join(lines)[:600]}")
            if not self.ending and server.start() is None:
                self.note("it does not start again; once more")
                server.kill()
            return
        resident = server.resident()
        self.highest = max(self.highest, server.peak(), resident)
        if resident > MOST:
            self.why = f"took more than {MOST >> 30} GiB of memory and was ended"
            server.kill()
            return
        self.samples.append((time.time(), resident, server.descriptors(), server.log_bytes()))

    def between(self, since, until):
        return [sample for sample in self.samples if since <= sample[0] <= until]


class Round:
    """One round: a server, honest load, and attacks."""

    def __init__(self, options, room, origins, canary, tls):
        self.options, self.canary, self.tls = options, canary, tls
        self.name = "TLS" if tls else "plain HTTP"
        self.room = f"{room}/{'tls' if tls else 'plain'}"
        os.makedirs(self.room)
        target = wire.Target(free_port(), tls)
        token = "%032x" % random.getrandbits(128)
        path = servers.configuration(self.room, target.port, origins, token, tls, options.configuration)
        self.server = servers.Server(options.program, path, self.room, target)
        self.scene = Scene(target, origins, self.room, token, canary.port, free_port(("127.0.0.1", "127.0.0.9")), options.seed)
        self.sink = processes.Queue()
        self.events, self.results, self.rows = [], [], []
        self.broken, self.facts = [], {}
        self.children, self.started, self.watch = [], time.time(), None

    def note(self, text):
        print(f"[{time.time() - self.started:6.1f}] {self.name}: {text}", file=sys.stderr, flush=True)

    def collect(self):
        while True:
            item = self.sink.get()
            if item is None:
                return
            if item[0] == "honest":
                self.events += item[1]
            else:
                self.results.append(item[1:])

    def child(self, function, *arguments):
        process = processes.Process(target=in_child, args=(function, *arguments), daemon=True)
        process.start()
        self.children.append(process)
        return process

    # --- the course of a round

    def run(self, seconds, chosen, alone, solo):
        if not self.tls and self.options.damage != 0:
            self.note("damaged caches")
            faults, count = damage.check(self.server, self.scene, self.options.damage, self.options.seed, lambda name, way: None)
            self.facts["damaged caches"] = f"{count} starts, {len(faults)} faults"
            self.broken += [f"a damaged cache: {fault}" for fault in faults]
        took = self.server.start()
        if took is None:
            raise RuntimeError(f"the server does not start: {' | '.join(self.server.last_lines())}")
        self.note(f"ready after {took:.1f} s; {len(chosen)} attacks, {seconds:.0f} s")
        try:
            self.load(seconds, chosen, alone if solo else [], solo)
        finally:
            if self.watch:
                self.watch.end()
            for child in self.children:
                if child.is_alive():
                    child.kill()
            self.server.kill()
            self.sink.put(None)

    def warm(self):
        paths = [f"/t/p/{size}/sample/{n}.jpg" for n in range(1, 9) for size in ("w92", "w342")]
        paths += [self.scene.image(f"http://{self.scene.honest}/good/600x900/warm-{n}.jpg") for n in range(8)]
        paths += [f"/t/p/w185/honest/{n}.jpg" for n in range(1, 9)]
        # Clients of TMDB, of rating posters and of media servers.
        paths += ["/3/movie/552?language=de", "/t/p/w342/known-warm.jpg", "/stress-key-of-all/tmdb/poster-default/movie-552.jpg",
                  "/Items/552/Images/Primary?maxWidth=64&tag=1", "/photo/:/transcode?url=/library/metadata/552/thumb/1&width=64&height=96"]
        for n in range(1, 4):
            self.expect(f"/sources/quota/titles/{n}")
        # What the slow readers ask for is there when they come.
        for n in range(4):
            self.expect(attacks_connections.large(self.scene, n))
        return {path: honest.hashlib.sha256(self.expect(path).body).digest() for path in paths}

    def expect(self, path):
        for _ in range(20):
            answer = wire.once(self.server.target, path, "127.0.1.1", 30)
            if answer.status == 200:
                return answer
            time.sleep(0.5)
        raise RuntimeError(f"{path} cannot be had before any attack: {answer.status} {answer.body[:200]}")

    def load(self, seconds, chosen, alone, solo):
        self.watch = Watch(self.server, self.note)
        warm = self.warm()
        threading.Thread(target=self.collect, daemon=True).start()
        receiver, sender = processes.Pipe(False)
        self.child(honest.serve_echo, sender)
        stop = processes.Event()
        target = self.server.target
        self.child(honest.hits, target, warm, receiver.recv(), stop, self.sink)
        self.child(honest.ready, target, stop, self.sink)
        self.child(honest.news, self.scene, stop, self.sink)
        time.sleep(1)
        self.calm = time.time()
        self.server.forget_peak()
        self.begun, self.started = time.time(), time.time()
        quiet = min(5, seconds / 10)
        self.window("(no attack)", [], quiet)
        for name in alone:
            self.window(name, [name], solo)
        rest = max(seconds - (time.time() - self.begun), 5)
        self.note(f"all at once for {rest:.0f} s")
        self.together(chosen, rest)
        stop.set()

    def attack(self, names):
        stop = processes.Event()
        return stop, [self.child(perform, attacks[name], self.scene, stop, self.sink) for name in names]

    def end(self, stop, children):
        stop.set()
        deadline = time.monotonic() + 3
        for child in children:
            child.join(max(deadline - time.monotonic(), 0.05))
            if child.is_alive():
                child.kill()
                child.join()

    def settle(self):
        """Until the server makes new pictures again, if an attack left it without breath: the next one is to have figures of its own."""
        deadline = time.monotonic() + 2 * HUNG
        while time.monotonic() < deadline:
            path = self.scene.image(f"http://{self.scene.honest}/good/60x90/settled-{time.time_ns()}.png")
            try:
                if wire.once(self.server.target, path, "127.0.1.7", 2).status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.2)

    def window(self, name, names, seconds):
        self.settle()
        self.note(name)
        before = self.server.log_bytes(), self.server.disk_bytes(), self.server.cpu(), len(self.watch.deaths), self.counts()
        self.server.forget_peak()
        since = time.time()
        stop, children = self.attack(names)
        time.sleep(seconds)
        self.end(stop, children)
        until = time.time()
        samples = self.watch.between(since, until)
        after = self.server.log_bytes(), self.server.disk_bytes(), self.server.cpu(), len(self.watch.deaths), self.counts()
        calls = sum(after[4].get(key, 0) - before[4].get(key, 0) for key in after[4] if key.startswith("quota/"))
        self.rows.append({
            "name": name, "since": since, "until": until, "memory": max([self.server.peak()] + [sample[1] for sample in samples]),
            "left": self.server.resident(), "descriptors": max([sample[2] for sample in samples] or [0]), "log": after[0] - before[0],
            "disk": after[1] - before[1], "cpu": after[2] - before[2], "deaths": after[3] - before[3], "calls": calls})

    def counts(self): return self.scene.counts("127.0.0.6", "127.0.0.7")

    def together(self, chosen, seconds):
        self.settle()
        self.window_start = time.time()
        before = self.server.log_bytes(), self.server.disk_bytes()
        stop, children = self.attack(chosen)
        deadline = time.monotonic() + seconds
        disk = 0
        while time.monotonic() < deadline:
            time.sleep(min(max(deadline - time.monotonic(), 0.1), 5))
            disk = max(disk, self.server.disk_bytes())
        self.facts["log while all attack"] = f"{(self.server.log_bytes() - before[0]) / 1024:.0f} KiB"
        took = sum(servers.cpu(child.pid) for child in children)
        self.facts["attackers' processor time while all attack"] = f"{took:.0f} of {seconds * os.cpu_count():.0f} s"
        self.facts["disk, most"] = f"{disk / MIB:.0f} MiB of {servers.DISK / MIB:.0f}"
        if disk > servers.DISK + 64 * MIB:
            self.broken.append(f"the cache takes {disk / MIB:.0f} MiB of disk; it may have {servers.DISK / MIB:.0f} and 64 more")
        self.over = time.time()
        self.terminate()
        self.watch.ending = True
        self.end(stop, children)
        time.sleep(0.5)

    def terminate(self):
        """SIGTERM while the attacks go on: `/ready` has to say 503 meanwhile, and the process has to end in time."""
        self.note("SIGTERM")
        self.watch.ending = True
        if not self.server.is_alive():
            self.broken.append("the server was dead at the end")
            return
        begun = time.monotonic()
        self.server.process.send_signal(signal.SIGTERM)
        said = []
        while time.monotonic() - begun < servers.DELAY * 0.8:
            try:
                said.append(wire.once(self.server.target, "/ready", "127.0.1.5", 1).status)
            except OSError as error:
                said.append(type(error).__name__)
            time.sleep(0.05)
        bound = servers.DELAY + servers.DEADLINE + 1
        try:
            code = self.server.process.wait(bound + 10 - (time.monotonic() - begun))
            took = time.monotonic() - begun
            self.facts["end after SIGTERM"] = f"{took:.1f} s (delay {servers.DELAY} s, deadline {servers.DEADLINE} s), status {code}"
            if took > bound:
                self.broken.append(f"it took {took:.1f} s to end; shutdown.delay and shutdown.deadline are {servers.DELAY} and {servers.DEADLINE} s")
            if code != 0:
                self.broken.append(f"it ended with status {code}")
        except subprocess.TimeoutExpired:
            self.facts["end after SIGTERM"] = f"not within {bound + 10} s"
            self.broken.append("SIGTERM did not end it")
        self.facts["/ready after SIGTERM"] = ", ".join(f"{status} × {many}" for status, many in collections.Counter(said).items())
        if 503 not in said or said[-1] == 200:
            self.broken.append(f"/ready after SIGTERM: {self.facts['/ready after SIGTERM']}")

    # --- what it came to

    def honest_between(self, since, until, kinds):
        return [event for event in self.events if since <= event[1] <= until and event[0] in kinds]

    def figures(self, since, until):
        hits = self.honest_between(since, until, ("hit", "hit, new connection"))
        ready = self.honest_between(since, until, ("/ready",))
        floor = self.honest_between(since, until, ("floor",))
        # A request that was put off may be tried again after SIGTERM, when nobody listens any more.
        lost = [event for event in self.honest_between(since, until, LOAD)
                if event[3] != "ok" and not (event[3] == "ConnectionRefusedError" and event[1] + event[2] > self.over)]
        return {"hit": percentile([event[2] for event in hits], 0.99), "hit worst": max([event[2] for event in hits] or [0]),
                "ready": percentile([event[2] for event in ready], 0.99), "ready worst": max([event[2] for event in ready] or [0]),
                "floor": percentile([event[2] for event in floor], 0.99), "lost": lost, "all": len(self.honest_between(since, until, LOAD))}

    def tally(self, name=None):
        total = collections.Counter()
        for each, _, more in self.results:
            if name in (None, each):
                total.update(more)
        return total

    def table(self):
        print(f"\n## {self.name}: each attack alone\n")
        print("| attack | answers | lost | hit p99 | worst | /ready p99 | worst | floor p99 | memory MiB | left | descriptors | log KiB | disk MiB | CPU s |")
        print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        for row in self.rows:
            figures = self.figures(row["since"], row["until"])
            answers = collections.Counter()
            for name, moment, more in self.results:
                if name == row["name"] and moment <= row["until"] + 1:
                    answers.update(more)
            said = ", ".join(f"{kind} × {many}" for kind, many in answers.most_common(5) if not kind.startswith("wrong")) or "-"
            wrong = sum(many for kind, many in answers.items() if kind.startswith("wrong"))
            said += f", **wrong × {wrong}**" if wrong else ""
            said += f", {row['calls']} calls at the service" if row["calls"] else ""
            said += f", **died or hung × {row['deaths']}**" if row["deaths"] else ""
            print(f"| {row['name']} | {said} | {len(figures['lost'])} of {figures['all'] or 'none answered'} | {ms(figures['hit'])} | {ms(figures['hit worst'])} "
                  f"| {ms(figures['ready'])} | {ms(figures['ready worst'])} | {ms(figures['floor'])} | {row['memory'] / MIB:.0f} | {row['left'] / MIB:.0f} "
                  f"| {row['descriptors']} | {row['log'] / 1024:.0f} | {row['disk'] / MIB:.0f} | {row['cpu']:.1f} |")

    def report(self):
        if len(self.rows) > 1:
            self.table()
        print(f"\n## {self.name}: the whole round, {self.over - self.begun:.0f} s\n")
        for name, since in ("whole round", self.begun), ("all at once", self.window_start):
            figures = self.figures(since, self.over)
            print(f"- {name}: {len(figures['lost'])} of {figures['all']} honest requests lost; hit p99 {ms(figures['hit'])} ms, worst "
                  f"{ms(figures['hit worst'])}; /ready p99 {ms(figures['ready'])} ms, worst {ms(figures['ready worst'])}; floor p99 {ms(figures['floor'])} ms")
        for kind in LOAD + ALSO + ("/ready", "/health", "/metrics"):
            events = self.honest_between(self.begun, self.over, (kind,))
            lost = collections.Counter(event[3] for event in events if event[3] != "ok")
            off = len(self.honest_between(self.begun, self.over, (f"{kind}, put off",)))
            print(f"- {kind}: {len(events)} asked, p50 {ms(percentile([e[2] for e in events], 0.5))}, p99 {ms(percentile([e[2] for e in events], 0.99))} ms"
                  + (f", {off} put off by Retry-After" if off else "") + (f", lost: {dict(lost.most_common(4))}" if lost else ""))
        samples = self.watch.between(self.begun, self.over)
        resident, descriptors = [s[1] for s in samples] or [0], [s[2] for s in samples] or [0]
        print(f"- memory: peak {self.watch.highest / MIB:.0f} MiB (VmHWM, or with its render processes at one time), sampled median {percentile(resident, 0.5) / MIB:.0f}, last {resident[-1] / MIB:.0f}; "
              f"limits.memory {servers.MEMORY / MIB:.0f} MiB")
        tenths = [max(d for d in descriptors[start:start + max(len(descriptors) // 10, 1)]) for start in range(0, len(descriptors), max(len(descriptors) // 10, 1))]
        print(f"- descriptors over time: {' '.join(map(str, tenths))}")
        lines = longest = 0
        with open(self.server.log, "rb") as file:
            for line in file:
                lines, longest = lines + 1, max(longest, len(line))
        print(f"- log: {self.server.log_bytes() / 1024:.0f} KiB in {lines} lines, the longest {longest} bytes")
        for name, fact in self.facts.items():
            print(f"- {name}: {fact}")
        tally = self.tally()
        print("- refused and answered, by kind: " + ", ".join(f"{kind} × {many}" for kind, many in tally.most_common(24) if not kind.startswith("wrong")))
        counts = self.counts()
        print("- calls at services: " + ", ".join(f"{key} {counts[key]}" for key in sorted(counts) if "/" in key))

    def bounds(self):
        """Each bound, with whether it holds."""
        figures = self.figures(self.begun, self.over)
        late = "late" if self.options.untimed else False
        lost = figures["lost"]
        reasons = collections.Counter(f"{event[0]}: {event[3]}" for event in lost)
        yield not lost, f"no honest request lost ({len(lost)} of {figures['all']})", [f"{n} × {text}" for text, n in reasons.most_common(12)]
        yield figures["hit"] < HIT or late, f"hits below {HIT * 1000:.0f} ms at the 99th percentile ({ms(figures['hit'])} ms; floor {ms(figures['floor'])} ms)", []
        # What was asked a moment before SIGTERM may be answered after it.
        asked = [event for event in self.honest_between(self.begun, self.over, ("/ready",)) if event[1] + event[2] < self.over]
        wrong = collections.Counter(event[3] for event in asked if event[3] != "ok")
        slow = [event for event in asked if event[2] > READY]
        yield not wrong and (not slow or late) and bool(asked), f"/ready says 200 within a second ({len(asked)} asked)", [f"{wrong}" if wrong else "", f"{len(slow)} slower" if slow else ""]
        yield self.watch.highest <= servers.MEMORY + SLACK, f"memory within limits.memory + 128 MiB ({self.watch.highest / MIB:.0f} of {(servers.MEMORY + SLACK) / MIB:.0f} MiB)", []
        yield not self.watch.deaths, f"the server neither dies nor hangs ({len(self.watch.deaths)} times)", [f"{code}: {' | '.join(lines)[:400]}" for _, code, lines in self.watch.deaths[:8]]
        most, allowed = self.counts()["tmdb/most"], servers.TMDB_RATE * (WINDOW + 1)
        yield 0 < most <= allowed, f"calls of the mirrored API within its rate (at most {most} in {WINDOW} s; {allowed} with the jitter of a second)", []
        touched = dict(self.canary.touched)
        yield not touched, "nothing connects to the inside", [f"{touched}" if touched else ""]
        wrong = [(f"{name}: {kind[7:]}", many) for name, _, more in self.results for kind, many in more.items() if kind.startswith("wrong")]
        sums = collections.Counter()
        for text, many in wrong:
            sums[text[:300]] += many
        yield not sums, f"no wrong answer ({sum(sums.values())})", [f"{many} × {text}" for text, many in sums.most_common(20)]
        harness = {f"{name}: {kind}" for name, _, more in self.results for kind in more if kind.startswith("harness")}
        yield not harness, "the harness works", sorted(harness)[:5]
        yield not self.broken, "start, end and disk as promised", self.broken[:20]


def origin(folder, port, hosts):
    process = subprocess.Popen(
        [sys.executable, f"{HERE}/origin.py", folder, str(port), *hosts], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        preexec_fn=lambda: os.nice(ORIGIN))
    if process.stdout.readline() != b"ready\n":
        sys.exit("stress: the origin does not start")
    return process


def draw(folder):
    """Draws the pictures that origins serve, unless an earlier run has drawn all of them into this folder."""
    if os.path.exists(f"{folder}/drawn"):
        return
    os.makedirs(folder, exist_ok=True)
    print("drawing the pictures …", file=sys.stderr)
    for name, data, *_ in (*pictures.hostile(), *pictures.odd(), *pictures.large(), *pictures.profiles()):
        with open(f"{folder}/{name}", "wb") as file:
            file.write(data)
    with open(f"{folder}/drawn", "w"):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="a release build of onesheet")
    parser.add_argument("--seconds", type=float, default=600, help="for how long, both rounds together (600)")
    parser.add_argument("--solo", type=float, help="seconds of each attack alone; 0 for none (5, or as much as fits into half of the time)")
    parser.add_argument("--attacks", default="", help="names, divided by commas; all when nothing is said")
    parser.add_argument("--without", default="", help="names of attacks to leave out")
    parser.add_argument("--rounds", default="plain,tls", help="plain, tls, or both (both)")
    parser.add_argument("--damage", type=int, help="starts on damaged caches; 0 for none (all; 6 in a run of less than two minutes)")
    parser.add_argument("--configuration", default="", help="more lines of the server's configuration, such as 'clients: { idleTimeout: 5s }'")
    parser.add_argument("--untimed", action="store_true", help="print the bounds of latency, and end with 0 although they are broken: for machines that do other work too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="a file for the figures")
    parser.add_argument("--pictures", help="a folder for the pictures that origins serve, which are drawn once; without it they are drawn for each run")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the server's log")
    parser.add_argument("--list", action="store_true", help="list the attacks")
    options = parser.parse_args()
    if options.list:
        for name, kind in attacks.items():
            print(f"{name:20}{kind.what}{' (TLS only)' if kind.tls else ''}")
        return 0
    if not options.program or not os.access(options.program, os.X_OK):
        parser.error(f"there is no program at {options.program}; build one with `swift build -c release --product onesheet`")
    options.program = os.path.abspath(options.program)
    chosen = [name for name in options.attacks.split(",") if name] or list(attacks)
    chosen = [name for name in chosen if name not in options.without.split(",")]
    if unknown := set(chosen) - set(attacks) - {"damaged-cache"}:
        parser.error(f"unknown attacks: {', '.join(sorted(unknown))}; see --list")
    if options.damage is None:
        named = bool(options.attacks)
        options.damage = (-1 if "damaged-cache" in chosen else 0) if named else 6 if options.seconds < 120 else -1
    options.damage = None if options.damage < 0 else options.damage
    chosen = [name for name in chosen if name in attacks]
    rounds = options.rounds.split(",")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))

    room = tempfile.mkdtemp(prefix="onesheet-stress-")
    origins, status = [], 0
    try:
        folder = os.path.abspath(options.pictures or f"{room}/pictures")
        draw(folder)
        servers.certificate(room)
        hosts, others = [f"127.0.0.{n}" for n in range(2, 8)], [f"127.0.0.{n}" for n in range(20, 40)]
        port = free_port(hosts + others)
        # A process for each, so that no host waits for what another one does.
        origins = [origin(folder, port, group) for group in (*([host] for host in hosts), others)]
        canary = Canary()
        figures = []
        for tls in [name == "tls" for name in rounds]:
            share = 1 if len(rounds) == 1 else 0.3 if tls else 0.7
            mine = [name for name in chosen if tls or not attacks[name].tls]
            alone = [name for name in mine if attacks[name].tls] if tls and len(rounds) > 1 else mine
            solo = options.solo
            if solo is None:
                solo = min(5, options.seconds * share / 2 / max(len(alone), 1))
                solo = solo if solo >= 3 else 0
            course = Round(options, room, port, canary, tls)
            course.run(options.seconds * share, mine, alone, solo)
            course.report()
            figures.append(course)
        print("\n## Bounds\n")
        for course in figures:
            for holds, text, details in course.bounds():
                print(f"- {'ok    ' if holds is True else 'late  ' if holds else 'BROKEN'} {course.name}: {text}")
                for detail in filter(None, details):
                    print(f"      {detail}")
                status = status if holds else 1
        if options.json:
            with open(options.json, "w") as file:
                json.dump([{"round": c.name, "attacks": c.rows, "bounds": [[h, t, d] for h, t, d in c.bounds()], "answers": c.tally()} for c in figures], file, indent=1)
    except RuntimeError as error:
        print(f"stress: {error}", file=sys.stderr)
        status = 2
    finally:
        for process in origins:
            process.kill()
            process.wait()
        if options.keep:
            print(f"kept: {room}", file=sys.stderr)
        else:
            shutil.rmtree(room, ignore_errors=True)
    print("\nall bounds hold" if status == 0 else "\nA bound is broken." if status == 1 else "", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
