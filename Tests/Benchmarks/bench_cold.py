"""Measures cold answers over HTTP: each request is a picture that the server has never seen. It fetches the original, renders it, and
stores both. Beside it, in turns: libvips in one process, which reads the same bytes from memory and stores nothing, and thumbor over HTTP
with the same origin. Called by .ci/bench-cold; see there.

    bench_cold.py PROGRAM BENCH ORIGINALS ROOM [ROUNDS]

PROGRAM is the server, BENCH the program imaging-bench, ORIGINALS its folder of originals, ROOM a folder for what is made. Prints
milliseconds of processor time per picture, of all processes of a server, and the medians of the ratios of each round.
"""

import http.client
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

os.environ["VIPS_CONCURRENCY"] = "1"
import pyvips

import http_servers
from peers import vips

ORIGIN, OURS, THUMBOR = range(18090, 18093)
REQUESTS = 12   # of each server in each round
JOBS = [("large", 342), ("large", 500), ("small", 185), ("small", 342), ("progressive", 342)]


def copies(original, folder, count):
    """Writes `count` JPEG files of the same picture, each with a comment of its own (T.81, B.2.4.5)."""
    folder.mkdir(parents=True)
    for number in range(count):
        comment = f"{number:08}".encode()
        file = original[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + original[2:]
        (folder / f"{number}.jpg").write_bytes(file)


class Client:
    """Asks a server for pictures on one connection."""

    def __init__(self, server, address):
        self.server, self.address = server, address
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port)

    def run(self, original, width, numbers):
        """Milliseconds of a picture: of processors, and on the clock at the median."""
        before, times = self.server.cpu(), []
        for number in numbers:
            begun = time.perf_counter()
            self.connection.request("GET", self.address(f"http://127.0.0.1:{ORIGIN}/cold/{original}/{number}.jpg", width))
            response = self.connection.getresponse()
            body = response.read()
            times.append((time.perf_counter() - begun) * 1e3)
            if response.status != 200:
                sys.exit(f"port {self.server.port} answered {response.status}: {body[:200]}")
        # Work behind the answers counts too.
        time.sleep(0.3)
        return (self.server.cpu() - before) / len(numbers) * 1e3, statistics.median(times)


def ours(program, room):
    http_servers.write(f"{room}/cold.yaml", f"""
listen: 127.0.0.1:{OURS}
cache: {{ memory: {{ bytes: 256MiB }}, disk: {{ path: {room}/cold-cache }} }}
sources: {{ web: {{ type: remote, allow: ["http://127.0.0.1:{ORIGIN}/"], networks: [loopback] }} }}
log: {{ level: error }}
""")
    return http_servers.Server([program, "serve", "--config", f"{room}/cold.yaml"], OURS, open(f"{room}/cold.log", "w"))


def thumbor(room):
    http_servers.write(f"{room}/cold-thumbor.conf", f"""
LOADER = "thumbor.loaders.http_loader"
STORAGE = "thumbor.storages.file_storage"
FILE_STORAGE_ROOT_PATH = "{room}/cold-thumbor/originals"
RESULT_STORAGE = "thumbor.result_storages.file_storage"
RESULT_STORAGE_FILE_STORAGE_ROOT_PATH = "{room}/cold-thumbor/results"
RESULT_STORAGE_STORES_UNSAFE = True
QUALITY = 80
""")
    command = [sys.executable, "-m", "thumbor.server", "-c", f"{room}/cold-thumbor.conf", "-i", "127.0.0.1", "-p", str(THUMBOR)]
    return http_servers.Server(command, THUMBOR, open(f"{room}/cold-thumbor.log", "w"))


def main(program, bench, originals, room, rounds=9):
    pyvips.cache_set_max(0)
    room = pathlib.Path(room)
    for name in ("www", "cold-cache", "cold-thumbor"):
        shutil.rmtree(room / name, ignore_errors=True)
    bodies = {name: pathlib.Path(originals, f"{name}.original").read_bytes() for name, _ in JOBS}
    # Each job has its own numbers, so that no picture is asked for twice.
    for name, body in bodies.items():
        copies(body, room / "www/cold" / name, sum(job[0] == name for job in JOBS) * REQUESTS * (rounds + 1))
    renderer = subprocess.Popen([bench, "serve", originals], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def render(name, width):
        renderer.stdin.write(f"{name}-w{width} {REQUESTS}\n")
        renderer.stdin.flush()
        return float(renderer.stdout.readline().split()[0]) * 1e3

    def library(name, width):
        begun = time.process_time()
        for _ in range(REQUESTS):
            vips(bodies[name], width, ".jpg")
        return (time.process_time() - begun) / REQUESTS * 1e3

    servers = []
    try:
        servers.append(http_servers.nginx(str(room), ORIGIN, "cold-origin"))
        servers.append(ours(program, room))
        servers.append(thumbor(room))
        here = Client(servers[1], lambda url, width: f"/i/unsafe/rs:fit:{width}:0/plain/{url}@jpg")
        there = Client(servers[2], lambda url, width: f"/unsafe/{width}x0/{url.removeprefix('http://')}")
        print(f"median of {rounds} rounds of {REQUESTS} pictures; CPU ms\n")
        print("| original → width | ours over HTTP | its render alone | libvips in the process | thumbor over HTTP | to render | to libvips "
              "| to thumbor | clock ms: ours | thumbor |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
        used = dict.fromkeys(bodies, 0)
        for name, width in JOBS:
            rows = []
            for turn in range(rounds + 1):
                numbers = range(used[name], used[name] + REQUESTS)
                used[name] += REQUESTS
                mine = here.run(name, width, numbers)
                row = (mine, render(name, width), library(name, width), there.run(name, width, numbers))
                # The first round does not count.
                rows += [row] if turn else []
            cpu = [(mine[0], alone, peer, other[0]) for mine, alone, peer, other in rows]
            middle = [statistics.median(column) for column in zip(*cpu)]
            ratios = [statistics.median(row[0] / row[n] for row in cpu) for n in (1, 2, 3)]
            clocks = [statistics.median(row[n][1] for row in rows) for n in (0, 3)]
            print(f"| {name} → w{width} | " + " | ".join([f"{x:.1f}" for x in middle] + [f"{x:.2f}" for x in ratios]
                                                       + [f"{x:.1f}" for x in clocks]) + " |", flush=True)
    finally:
        renderer.stdin.close()
        for server in servers:
            server.stop()


if __name__ == "__main__":
    main(*sys.argv[1:5], *map(int, sys.argv[5:6]))
