"""Compares the server's answers to cached pictures with nginx's to the same bytes as static files, in one interleaved run.

    python3 bench_http.py ONESHEET FOLDER [ROUNDS] [SECONDS]

ONESHEET is the program, FOLDER a place for what is made. Needs wrk and nginx. Prints, for each job, the median over the rounds of the
server's CPU time per request (all its processes and threads, user and system, from /proc) and of the latency that 99 % of requests stay
below, and the ratios of ours to nginx's.
"""

import os, random, re, shutil, signal, statistics, subprocess, sys, time, urllib.request

OURS, DISK, NGINX = 18080, 18081, 18082
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """A running server and the CPU time of its processes."""

    def __init__(self, command, port, log):
        self.port = port
        self.process = subprocess.Popen(command, stdout=log, stderr=log)
        for _ in range(200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1)
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"{command[0]} ended with {self.process.returncode}; its log is {log.name}")
                time.sleep(0.05)
        sys.exit(f"{command[0]} does not answer on port {port}; its log is {log.name}")

    def cpu(self):
        """Seconds of CPU time so far, the process and its children."""
        mine, total = {self.process.pid}, 0
        for name in sorted(filter(str.isdigit, os.listdir("/proc")), key=int):
            try:
                fields = open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(name) in mine or int(fields[1]) in mine:
                mine.add(int(name))
                total += int(fields[11]) + int(fields[12])
        return total / TICK

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def load(server, script, connections, seconds):
    """CPU microseconds per request, the 99th percentile's milliseconds, and requests per second under wrk."""
    before = server.cpu()
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s", "--latency",
               "--script", script, f"http://127.0.0.1:{server.port}/"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    used = server.cpu() - before
    if problem := re.search(r"Socket errors.*|Non-2xx.*", text):
        sys.exit(f"{problem.group()} from port {server.port} with {script}")
    requests = int(re.search(r"(\d+) requests in", text).group(1))
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    return used / requests * 1e6, float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit], requests / seconds


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


def fetch(port, target):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{target}") as answer:
        return answer.read(), answer.headers


def main(program, room, rounds=5, seconds=3):
    os.makedirs(room, exist_ok=True)
    logs = {name: open(f"{room}/{name}.log", "w") for name in ("ours", "disk", "nginx")}
    shutil.rmtree(f"{room}/www", ignore_errors=True)
    for name, port, memory in (("ours", OURS, "256MiB"), ("disk", DISK, "0")):
        open(f"{room}/{name}.yaml", "w").write(
            f"listen: 127.0.0.1:{port}\ncache: {{ memory: {{ bytes: {memory}, expires: 1h }}, disk: {{ path: {room}/{name} }} }}\n"
            "sources: { sample: { type: sample } }\n")
    open(f"{room}/nginx.conf", "w").write(
        f"worker_processes auto; daemon off; pid {room}/nginx.pid; error_log {room}/nginx.log;\n"
        "events { worker_connections 1024; }\n"
        "http { types { image/jpeg jpg; } access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;\n"
        f"  server {{ listen 127.0.0.1:{NGINX}; root {room}/www; add_header Cache-Control 'public, max-age=86400'; }} }}\n")
    poster = "/t/p/w500/sample/1.jpg"
    variants = [f"/i/unsafe/rs:fit:{width}:0/plain/sample://{title}@jpg" for width in range(60, 102) for title in range(1, 25)][:1000]
    ours = Server([program, "serve", "--config", f"{room}/ours.yaml"], OURS, logs["ours"])
    disk = Server([program, "serve", "--config", f"{room}/disk.yaml"], DISK, logs["disk"])
    servers = [ours, disk]
    try:
        print("making the pictures …", file=sys.stderr)
        for target in [poster] + variants:
            body, _ = fetch(OURS, target)
            if target == poster:
                fetch(DISK, target)
            path = f"{room}/www{target}"
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "wb").write(body)
        os.chmod(room, 0o755)
        nginx = Server(["nginx", "-c", f"{room}/nginx.conf", "-e", f"{room}/nginx.log"], NGINX, logs["nginx"])
        servers.append(nginx)
        tags = {server.port: fetch(server.port, poster)[1]["ETag"] for server in (ours, nginx)}
        size = len(fetch(NGINX, poster)[0])
        known = {port: script(f"{room}/known-{port}.lua", [poster], f"['If-None-Match'] = '{tag}'") for port, tag in tags.items()}
        one, many = script(f"{room}/one.lua", [poster]), script(f"{room}/many.lua", zipf(variants, 20000))
        jobs = [
            (f"memory hit, {size / 1000:.0f} KB", ours, lambda port: one, 32),
            ("304", ours, lambda port: known[port], 32),
            ("1,000 variants by Zipf", ours, lambda port: many, 32),
            (f"disk hit, {size / 1000:.0f} KB", disk, lambda port: one, 32),
            ("256 connections", ours, lambda port: one, 256),
        ]
        print(f"CPU µs per request and 99th percentile in ms, median of {rounds} rounds of {seconds} s\n")
        print("| job | ours | nginx | ours/nginx | p99 ours | p99 nginx | requests/s ours | nginx |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for name, server, choose, connections in jobs:
            results = {server: [], nginx: []}
            for turn in range(rounds + 1):
                for each in (server, nginx) if turn % 2 else (nginx, server):
                    figures = load(each, choose(each.port), connections, seconds if turn else 1)
                    if turn:
                        results[each].append(figures)
            mine, its = ([statistics.median(column) for column in zip(*results[each])] for each in (server, nginx))
            ratio = statistics.median(a[0] / b[0] for a, b in zip(results[server], results[nginx]))
            print(f"| {name} | {mine[0]:.1f} | {its[0]:.1f} | {ratio:.2f} | {mine[1]:.1f} | {its[1]:.1f} | {mine[2]:.0f} | {its[2]:.0f} |",
                  flush=True)
    finally:
        for server in servers:
            server.stop()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))
