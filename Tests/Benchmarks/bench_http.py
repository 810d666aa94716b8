"""Compares the server's answers to cached pictures with those of others, in interleaved runs.

    python3 bench_http.py ONESHEET FOLDER [ROUNDS] [SECONDS]

ONESHEET is the program, FOLDER a place for what is made. Needs wrk, h2load, openssl and nginx, which serves the same bytes as static
files and keeps them open. Varnish, nginx' image filter and thumbor (Python's package, for the Python that runs this) are compared where they are installed. Prints, for
each job, the median over the rounds of the server's CPU time per request (all its processes and threads, user and system, from /proc)
and of the latency that 99 % of requests stay below, and the median of the ratios of ours to the other's. Then how long answers take
that need no work, while more work is asked for than can be done.
"""

import os, random, re, shutil, statistics, subprocess, sys

import http_overload, http_servers
from http_servers import fetch

OURS, DISK, NGINX, PROXY, FILTER, VARNISH, THUMBOR, OURS_TLS, NGINX_TLS, MIRROR = range(18080, 18090)
POSTER = "/t/p/w500/sample/1.jpg"


def load(server, script, connections, seconds):
    """CPU microseconds per request, the 99th percentile's milliseconds, and requests per second under wrk."""
    before = server.cpu()
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s", "--latency",
               "--script", script, server.address]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    used = server.cpu() - before
    if problem := re.search(r"Socket errors.*|Non-2xx.*", text):
        sys.exit(f"{problem.group()} from port {server.port} with {script}")
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    if not requests:
        sys.exit(f"no answer from port {server.port} within {seconds} s")
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    return used / requests * 1e6, float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit], requests / seconds


def load_http2(server, target, connections, seconds):
    """The same under h2load with ten streams on each connection."""
    times = f"/tmp/onesheet-bench-{server.port}.log"
    if os.path.exists(times):
        os.remove(times)
    before = server.cpu()
    command = ["h2load", "--clients", str(connections), "--max-concurrent-streams", "10", "--duration", str(seconds),
               "--log-file", times, server.address + target]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    used = server.cpu() - before
    requests, failed = (int(re.search(pattern, text).group(1)) for pattern in (r"(\d+) succeeded", r"(\d+) failed"))
    if not requests or failed or "Application protocol: h2" not in text:
        sys.exit(f"{failed} of {requests + failed} requests failed, or without HTTP/2, on port {server.port}:\n{text}")
    taken = sorted(int(line.split()[2]) for line in open(times))
    return used / requests * 1e6, taken[len(taken) * 99 // 100] / 1e3, requests / seconds


def script(path, targets, fields=""):
    """A wrk script that asks for `targets` in turn."""
    lines = ",\n".join(f'"{target}"' for target in targets)
    open(path, "w").write(
        f"local targets = {{{lines}}}\nlocal requests, turn = {{}}, 0\n"
        f"function init() for i, t in ipairs(targets) do requests[i] = wrk.format('GET', t, {{{fields}}}) end end\n"
        "function request() turn = turn % #requests + 1; return requests[turn] end\n")
    return path


def zipf(targets, count, seed=7):
    """`count` of `targets`, the n-th as often as 1/n says."""
    return random.Random(seed).choices(targets, [1 / (n + 1) for n in range(len(targets))], k=count)


def compare(name, ours, other, choose, connections, rounds, seconds, load=load):
    """One row: ours and the other in turn, first the one and then the other first, after a round that does not count. `choose` gives a server's script, or whatever `load` takes."""
    results = {ours: [], other: []}
    for turn in range(rounds + 1):
        for each in (ours, other) if turn % 2 else (other, ours):
            figures = load(each, choose(each), connections, seconds if turn else 1)
            if turn:
                results[each].append(figures)
    mine, its = ([statistics.median(column) for column in zip(*results[each])] for each in (ours, other))
    ratio = statistics.median(a[0] / b[0] for a, b in zip(results[ours], results[other]))
    print(f"| {name} | {mine[0]:.1f} | {its[0]:.1f} | {ratio:.2f} | {mine[1]:.1f} | {its[1]:.1f} | {mine[2]:.0f} | {its[2]:.0f} |",
          flush=True)


def header(first, other):
    print(f"\n| {first} | ours | {other} | ratio | p99 ours | p99 {other} | requests/s ours | {other} |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")


def main(program, room, rounds=5, seconds=3):
    os.makedirs(room, exist_ok=True)
    for name in ("www", "proxy", "thumbor"):
        shutil.rmtree(f"{room}/{name}", ignore_errors=True)
    variants = [f"/i/unsafe/rs:fit:{width}:0/plain/sample://{title}@jpg" for width in range(60, 102) for title in range(1, 25)][:1000]
    servers = []

    def start(server):
        servers.append(server)
        return server

    try:
        ours = start(http_servers.ours(program, room, OURS, "ours", "256MiB"))
        disk = start(http_servers.ours(program, room, DISK, "disk", "0"))
        print("making the pictures …", file=sys.stderr)
        fetch(DISK, POSTER)
        for target in [POSTER, *variants, "/t/p/original/sample/1.jpg"]:
            path = f"{room}/www{target}" if "original" not in target else f"{room}/www/original.jpg"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "wb").write(fetch(OURS, target)[0])
        nginx = start(http_servers.nginx(room, NGINX))
        size = f"{len(fetch(NGINX, POSTER)[0]) / 1000:.0f} KB"
        tags = {server: fetch(server.port, POSTER)[1]["ETag"] for server in (ours, nginx)}
        known = {server: script(f"{room}/known-{server.port}.lua", [POSTER], f"['If-None-Match'] = '{tag}'") for server, tag in tags.items()}
        one, many = script(f"{room}/one.lua", [POSTER]), script(f"{room}/many.lua", zipf(variants, 20000))
        print(f"CPU µs per request and 99th percentile in ms, median of {rounds} rounds of {seconds} s")
        header("job", "nginx")
        for name, server, choose, connections in [
            (f"memory hit, {size}", ours, lambda _: one, 32),
            ("304", ours, known.get, 32),
            ("1,000 variants by Zipf", ours, lambda _: many, 32),
            (f"disk hit, {size}", disk, lambda _: one, 32),
            ("256 connections", ours, lambda _: one, 256),
        ]:
            compare(name, server, nginx, choose, connections, rounds, seconds)

        tls = http_servers.certificate(room)
        safe = start(http_servers.ours(program, room, OURS_TLS, "tls", "256MiB", tls))
        peer = start(http_servers.nginx(room, NGINX_TLS, "nginx-tls", tls=tls))
        fetch(OURS_TLS, POSTER, "https")
        compare(f"memory hit over TLS, {size}", safe, peer, lambda _: one, 32, rounds, seconds)
        compare("HTTP/2 over TLS, 8 connections of 10 streams", safe, peer, lambda _: POSTER, 8, rounds, seconds, load_http2)

        header(f"a cached picture, {size}", "peer")
        resized = script(f"{room}/resized.lua", ["/original.jpg"])
        thumb = script(f"{room}/thumb.lua", ["/unsafe/500x750/original.jpg"])
        for name, begin, its, connections in [
            ("nginx proxy_cache", lambda: http_servers.proxy_cache(room, PROXY, NGINX), one, 32),
            ("Varnish", lambda: http_servers.varnish(room, VARNISH, NGINX), one, 32),
            ("thumbor with result storage", lambda: http_servers.thumbor(room, THUMBOR), thumb, 32),
            # No more than it has workers: each request takes it a good part of a second.
            ("nginx image_filter, which has no cache", lambda: http_servers.image_filter(room, FILTER), resized, os.cpu_count()),
        ]:
            if peer := begin():
                start(peer)
                compare(name, ours, peer, lambda server: one if server is ours else its, connections, rounds, seconds)
                servers.pop().stop()
            else:
                print(f"{name}: not installed", file=sys.stderr)
        http_servers.answers(room)
        mirror, proxy = start(http_servers.mirror(program, room, MIRROR, NGINX)), start(http_servers.proxy_cache(room, PROXY, NGINX))
        header("a cached answer of TMDB", "nginx proxy_cache")
        for name, target in [("a film with its cast", "/3/movie/550"), ("a list of 20", "/3/movie/popular")]:
            bodies = {fetch(server.port, target)[0] for server in (mirror, proxy)}
            assert len(bodies) == 1, f"two answers to {target}"
            asked = script(f"{room}/answer.lua", [target])
            compare(f"{name}, {len(bodies.pop()) / 1000:.0f} KB", mirror, proxy, lambda _: asked, 32, rounds, seconds)
        for connections in http_overload.CONNECTIONS:
            http_overload.measure(OURS, POSTER, http_overload.misses(f"{room}/misses.lua"), connections)
    finally:
        for server in servers:
            server.stop()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
