"""Measures what render processes cost over HTTP: two servers side by side, one that renders in threads and one that renders in processes.
Each request is a new variant of an original that both have in memory. Called by .ci/bench-processes; see there.

    bench_processes.py PROGRAM [ROUNDS]
"""

import http.client
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

REQUESTS = 24   # in a row
WIDTHS = 40     # beside each other
FILMS = 3


class Server:
    def __init__(self, program, folder, isolation):
        pathlib.Path(folder, "onesheet.yaml").write_text(f"""
sources: {{ sample: {{ type: sample }} }}
rendering: {{ isolation: {isolation} }}
cache: {{ memory: {{ bytes: 256MiB }}, disk: {{ path: {folder}/cache }} }}
log: {{ level: error }}
""")
        self.process = subprocess.Popen(
            [program, "serve", "--config", f"{folder}/onesheet.yaml", "--listen", "127.0.0.1:0"], cwd=folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        address = next((line for line in self.process.stdout if "http://" in line), "")
        if not address:
            sys.exit("the server does not start")
        self.connection = http.client.HTTPConnection(address.split("//")[1].split("/")[0])
        self.number = 0

    def processor_time(self):
        """Milliseconds of the server and its render processes."""
        pids = [self.process.pid]
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            pids += map(int, pathlib.Path(f"/proc/{self.process.pid}/task/{thread}/children").read_text().split())
        # The clock of a process, see clock_getcpuclockid(3).
        return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids) / 1e6

    def run(self, width, count):
        """Milliseconds of a new variant: of processors, and on the clock at the median."""
        before, times = self.processor_time(), []
        for _ in range(count):
            options = f"rs:fit:{width + self.number % WIDTHS}:0/q:{50 + self.number // WIDTHS}"
            begun = time.perf_counter()
            self.connection.request("GET", f"/i/unsafe/{options}/plain/sample://{1 + self.number % FILMS}@jpg")
            response = self.connection.getresponse()
            response.read()
            times.append((time.perf_counter() - begun) * 1e3)
            if response.status != 200:
                sys.exit(f"a request was answered with {response.status}")
            self.number += 1
        return (self.processor_time() - before) / count, statistics.median(times)


def main(program, rounds):
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        servers = [Server(program, one, "thread"), Server(program, other, "process")]
        print(f"medians of {rounds} rounds of {REQUESTS} requests; ms\n")
        print("| new variants | processor time in a thread | in a process | ratio | on the clock in a thread | in a process | added |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for width in (165, 322, 480):
            for server in servers:
                server.number = 0
                server.run(width, 2 * FILMS)
            pairs = [[server.run(width, REQUESTS) for server in servers] for _ in range(rounds)]
            cpu, clock = ([[pair[n][kind] for pair in pairs] for n in (0, 1)] for kind in (0, 1))
            ratio = statistics.median(b / a for a, b in zip(*cpu))
            added = statistics.median(b - a for a, b in zip(*clock))
            print(f"| w{width} to w{width + WIDTHS - 1} | " + " | ".join(f"{statistics.median(one):.2f}" for one in cpu) + f" | {ratio:.2f} | "
                  + " | ".join(f"{statistics.median(one):.2f}" for one in clock) + f" | {added:.2f} |")
        for server in servers:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 9)
