"""Measures what several servers share: three servers, SeaweedFS and Redis on loopback, and an origin that counts.

    python3 bench_cluster.py ONESHEET FOLDER [ROUNDS]

ONESHEET is the program, FOLDER a place for what is made; ONESHEET_WEED, REDIS and NGINX name programs as in examples/cluster/run. Needs
wrk and h2load. thumbor and thumbor-aws are compared if the Python that runs this has them. Prints a table: medians of interleaved rounds.
"""

import os, pathlib, random, shutil, statistics, subprocess, sys, tempfile, threading, time, urllib.parse
from concurrent.futures import ThreadPoolExecutor

import bench_http, cluster_servers
from cluster_servers import Client, CountingProxy, Posters, cluster, h2load_times, redis_times
from http_servers import fetch

SIZES = (342, 185)
median = statistics.median


def percentile(values, part):
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def row(what, ours, target="", other=""):
    print(f"| {what} | {ours} | {target} | {other} |", flush=True)


def milliseconds(values):
    return f"{median(values) * 1000:.2f} ({percentile(values, .99) * 1000:.1f})"


class Bench:
    def __init__(self, program, folder, rounds):
        self.program, self.rounds, self.folder = program, rounds, folder
        self.origin = Posters()
        programs = cluster.programs()
        self.engines = cluster.Cluster(programs, pathlib.Path(folder))
        self.store = f"http://127.0.0.1:{self.engines.store}"
        self.redis = self.engines.redis
        self.servers = []
        self.number = 0

    # Servers

    def start(self, name, **options):
        server = cluster_servers.ours(self.program, self.folder, name, self.origin.url, **options)
        self.servers.append(server)
        return server

    def together(self, name, count=3, store=None, **options):
        """Servers with one cache."""
        return [self.start(f"{name}-{n}", store=store or self.store, redis=self.redis, prefix=name, **options) for n in range(count)]

    def end(self, servers):
        for server in servers:
            self.servers.remove(server)
            server.stop()

    def run(self):
        try:
            self.engines.start_engines()
            painter = self.start("painter")
            # A poster as sites have them: 500 × 750 pixels for short times, the whole one where work counts.
            self.small = [fetch(painter.port, f"/t/p/w500/sample/{n}.jpg")[0] for n in (1, 2)]
            self.large = [fetch(painter.port, f"/t/p/original/sample/{n}.jpg")[0] for n in (1, 2)]
            self.end([painter])
            thumbor = [cluster_servers.thumbor(self.folder, f"thumbor-{n}", self.store) for n in range(3)]
            if None in thumbor:
                print("thumbor with thumbor-aws is not installed", file=sys.stderr)
            self.thumbor = [server for server in thumbor if server]
            self.servers += self.thumbor
            print("| what | Onesheet | to be | thumbor |\n|---|---:|---:|---:|")
            self.origin_requests()
            self.store_requests()
            self.hit_times()
            self.purges()
            self.leases()
            self.memory_hits()
            self.nodes()
        finally:
            for server in self.servers:
                server.stop()
            self.engines.stop()
            self.origin.shutdown()

    # What clients ask

    def titles(self, count):
        """Posters that no server knows."""
        self.number += 1
        return [f"title-{self.number}-{n}" for n in range(count)]

    def path(self, title, width=SIZES[0]):
        return f"/i/unsafe/rs:fit:{width}:0/plain/{self.origin.poster(title)}@jpg"

    def thumbor_path(self, title, width=SIZES[0]):
        return f"/unsafe/fit-in/{width}x10000/{self.origin.poster(title).removeprefix('http://')}"

    def spread(self, servers, titles, path, times=3):
        """Asks for each title in each size some times, each from a random server, sixteen at once. Returns the number of requests."""
        chance = random.Random(7)
        asked = [(chance.choice(servers).port, path(title, width)) for title in titles for width in SIZES for _ in range(times)]
        chance.shuffle(asked)
        with ThreadPoolExecutor(16) as pool:
            statuses = list(pool.map(lambda one: cluster.ask(*one, seconds=120).status, asked))
        if set(statuses) != {200}:
            sys.exit(f"not only pictures were answered: {set(statuses)}")
        return len(asked)

    def settle(self, servers):
        """Until everything made is in the store."""
        cluster.wait("the store has everything", lambda: all(
            b"\nonesheet_shared_queue 0\n" in cluster.ask(server.port, "/metrics").body for server in servers))

    def metric(self, servers, name):
        texts = [cluster.ask(server.port, "/metrics").body.decode() for server in servers]
        return sum(float(line.rsplit(" ", 1)[1]) for text in texts for line in text.splitlines() if line.startswith(f"onesheet_{name} "))

    # The rows

    def origin_requests(self):
        self.origin.editions = self.large
        counts = {}
        for name, servers, path in [
            ("shared", self.together("cold"), self.path), ("alone", [self.start(f"alone-{n}") for n in range(3)], self.path),
            ("thumbor", self.thumbor, self.thumbor_path),
        ]:
            if not servers:
                continue
            titles, before = self.titles(40), self.origin.total()
            self.spread(servers, titles, path)
            counts[name] = (self.origin.total() - before) / len(titles)
            if name == "shared":
                renders = self.metric(servers, "renders_total") / len(titles) / len(SIZES)
                alone = self.metric(servers, "lease_alone_total")
                self.settle(servers)
            if name != "thumbor":
                self.end(servers)
        row("origin requests per picture: 3 servers, cold, random", f"{counts['shared']:.2f}", "1.00",
            f"{counts['thumbor']:.2f}" if "thumbor" in counts else "")
        row("the same without `shared`", f"{counts['alone']:.2f}")
        row("renders per variant, with `shared`", f"{renders:.2f}")
        if alone:
            row("fetches without a lease in this run", f"{alone:.0f}")

    def store_requests(self):
        """Requests to the store by method, which a proxy counts."""
        self.origin.editions = self.large
        proxy = CountingProxy(self.engines.store)
        first, second = self.together("counted", 2, store=proxy.url)
        titles = self.titles(40)
        thumbor = cluster_servers.thumbor(self.folder, "thumbor-counted", proxy.url) if self.thumbor else None
        if thumbor:
            self.servers.append(thumbor)

        def count(server, path, width):
            proxy.take()
            with Client(server.port) as client:
                for title in titles:
                    client.get(path(title, width))
            if server is not thumbor:
                self.settle([server])
            counts = proxy.take()
            return ", ".join(f"{counts[name] / len(titles):.2g} {name}" for name in sorted(counts)) or "none"

        # The start of a server tries the store.
        cluster.wait("the servers have tried the store", lambda: not (time.sleep(1), proxy.take())[1])
        for what, server, width, target, other in [
            ("requests to the store: new variant and original", first, SIZES[0], "≤ 2 GET + 2 PUT", True),
            ("the same: new variant of a known original", first, SIZES[1], "≤ 2 GET + 2 PUT", True),
            ("the same: hit in the store", second, SIZES[0], "1 GET", True),
            ("the same: hit in memory", second, SIZES[0], "none", False),
        ]:
            row(what, count(server, self.path, width), target, count(thumbor, self.thumbor_path, width) if thumbor and other else "")
        proxy.take()
        with Client(first.port) as client:
            for title in titles:
                self.purge(client, title)
        counts = proxy.take()
        row("the same: purge of a title", ", ".join(f"{counts[name] / len(titles):.2g} {name}" for name in sorted(counts)))
        self.end([first, second] + ([thumbor] if thumbor else []))
        proxy.shutdown()

    def hit_times(self):
        """Milliseconds of a hit: in the store, then on disk, of the same pictures in turn."""
        self.origin.editions = self.large
        maker, = self.together("hits", 1)
        taker = self.start("taker", store=self.store, redis=self.redis, prefix="hits", memory="0")
        titles, other = self.titles(200), []
        with Client(maker.port) as making, Client(taker.port) as taking:
            for title in titles:
                body = making.get(self.path(title))[2]
            self.settle([maker])
            paths = [self.path(title) for title in titles]
            shared = h2load_times(taker.port, paths, self.folder)
            # They are written to the disk behind the responses.
            cluster.wait("the hits are on disk", lambda: all(
                "detail=disk" in taking.get(path)[1]["cache-status"] for path in paths))
            hits = cluster.ask(taker.port, "/metrics").body.decode()
            if f'onesheet_shared_requests_total{{operation="get",outcome="hit"}} {len(paths)}\n' not in hits:
                sys.exit("not every first request was a hit in the store, and no other")
            disk = h2load_times(taker.port, paths, self.folder)
        if self.thumbor:
            with Client(self.thumbor[0].port) as client:
                for title in titles[:40]:
                    client.get(self.thumbor_path(title))
            other = h2load_times(self.thumbor[1].port, [self.thumbor_path(title) for title in titles[:40]], self.folder)
        row(f"hit in the store, {len(body) / 1000:.0f} KB: median and p99 in ms", milliseconds(shared), "≤ 3", milliseconds(other) if other else "")
        row("hit on disk, of the same", milliseconds(disk))
        row("round trip to Redis that takes a lease", milliseconds(redis_times(self.redis, 1000)), "≤ 0.5")
        self.end([maker, taker])

    def purge(self, client, title):
        address = urllib.parse.quote(self.origin.poster(title), safe="")
        return client.get(f"/cache/films/{address}", "DELETE", Authorization=f"Bearer {cluster.TOKEN}")[0]

    def purges(self):
        """Milliseconds from the request to purge until no server sends the old picture any more."""
        self.origin.editions = self.small
        servers = self.together("purged")
        last, answered = [], []
        with ThreadPoolExecutor(3) as pool, Client(servers[0].port) as client:
            for title in self.titles(100):
                for server in servers:
                    cluster.ask(server.port, self.path(title))
                ready = threading.Barrier(len(servers) + 1)
                asking = [pool.submit(self.last_old, server, self.path(title), ready) for server in servers]
                ready.wait()
                self.origin.edition += 1
                begun = time.perf_counter()
                answered.append(self.purge(client, title))
                last.append(max(max(one.result() - begun, 0) for one in asking))
        row("purge: the last old picture of any server, median and p99 in ms", milliseconds(last), "p99 ≤ 100")
        row("purge: its answer", milliseconds(answered))
        self.end(servers)

    @staticmethod
    def last_old(server, path, ready):
        """When the last picture came that is the first one's."""
        with Client(server.port) as client:
            old, moment = client.get(path)[1]["etag"], time.perf_counter()
            ready.wait()
            while client.get(path)[1]["etag"] == old:
                moment = time.perf_counter()
                time.sleep(0.0005)
            return moment

    def leases(self):
        """Milliseconds that a lease adds to a miss: pairs of misses with and without a coordinator."""
        self.origin.editions = self.small
        leased = self.start("leased", store=self.store, redis=self.redis, prefix="leased")
        plain = self.start("plain", store=self.store, prefix="plain")
        times = {leased: [], plain: []}
        with Client(leased.port) as one, Client(plain.port) as two:
            for turn, title in enumerate(self.titles(200)):
                for server, client in ((leased, one), (plain, two))[::1 if turn % 2 else -1]:
                    times[server].append(client.get(self.path(title))[0])
                    # What a server writes behind its response is not in the way of the next one.
                    self.settle([server])
        extra = [a - b for a, b in zip(times[leased], times[plain])]
        row("miss with and without a lease, median in ms",
            f"{median(times[leased]) * 1000:.2f}, {median(times[plain]) * 1000:.2f}")
        row("what the lease adds, median of pairs in ms", f"{median(extra) * 1000:.2f}", "≤ 1")
        self.end([leased, plain])

    def memory_hits(self):
        """CPU of a memory hit with and without what servers share."""
        shared, alone = self.start("with", store=self.store, redis=self.redis), self.start("without")
        script = bench_http.script(f"{self.folder}/one.lua", [bench_http.POSTER])
        costs = {shared: [], alone: []}
        for server in costs:
            fetch(server.port, bench_http.POSTER)
        for turn in range(2 * self.rounds + 1):
            for server in (shared, alone) if turn % 2 else (alone, shared):
                cost = bench_http.load(server, script, 32, 1)[0]
                if turn:
                    costs[server].append(cost)
        ratio = median(a / b for a, b in zip(costs[shared], costs[alone]))
        row("CPU µs of a memory hit with and without `shared`", f"{median(costs[shared]):.1f}, {median(costs[alone]):.1f}")
        row("the ratio, median of rounds", f"{ratio:.3f}", "≤ 1.03")
        self.end([shared, alone])

    def nodes(self):
        """CPU per request with 1, 2 and 3 servers: of memory hits, and of requests for new titles from random servers."""
        self.origin.editions = self.large
        servers = self.together("nodes")
        script = bench_http.script(f"{self.folder}/one.lua", [bench_http.POSTER])
        hits, misses = {1: [], 2: [], 3: []}, {1: [], 2: [], 3: []}
        for server in servers:
            fetch(server.port, bench_http.POSTER)
        for turn in range(self.rounds + 1):
            for count in (1, 2, 3) if turn % 2 else (3, 2, 1):
                chosen = servers[:count]
                before = sum(server.cpu() for server in servers)
                with ThreadPoolExecutor(count) as pool:
                    speeds = list(pool.map(lambda server: bench_http.load(server, script, 24 // count, 1)[2], chosen))
                if turn:
                    hits[count].append((sum(server.cpu() for server in servers) - before) / sum(speeds) * 1e6)
        for turn in range(3):
            for count in (1, 2, 3) if turn % 2 else (3, 2, 1):
                before = sum(server.cpu() for server in servers)
                asked = self.spread(servers[:count], self.titles(12), self.path)
                self.settle(servers)
                misses[count].append((sum(server.cpu() for server in servers) - before) / asked * 1e3)
        row("CPU µs of a memory hit: 1, 2, 3 servers", ", ".join(f"{median(hits[n]):.1f}" for n in hits))
        row("CPU ms per request, a third of them new: 1, 2, 3 servers", ", ".join(f"{median(misses[n]):.1f}" for n in misses))
        self.end(servers)


def main(program, room, rounds=5):
    os.makedirs(room, exist_ok=True)
    os.environ["ONESHEET"] = program
    folder = tempfile.mkdtemp(prefix="cluster-", dir=room)
    begun = time.monotonic()
    try:
        Bench(program, folder, rounds).run()
    finally:
        if os.environ.get("ONESHEET_BENCH_KEEP") is None:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
