"""How long a server that is asked for far more than it can make takes for what it answers at once."""

import http.client, random, statistics, subprocess, threading, time

SECONDS = 10
# Two more than there are workers and places in the queue: nearly all wait for their turn. And so many that nearly all are refused.
CONNECTIONS = (68, 300)
MISS = "/i/unsafe/rs:fill:{}:{}/plain/sample://{}@jpg"


def misses(path):
    """A wrk script that hardly ever asks for the same picture twice, and asks again at once when it is refused."""
    open(path, "w").write(
        "math.randomseed(os.time())\n"
        f"local form = '{MISS.replace('{}', '%d')}'\n"
        "function request() return wrk.format('GET', form:format(math.random(200, 2000), math.random(200, 2000), math.random(24))) end\n")
    return path


def miss():
    return MISS.format(random.randint(200, 2000), random.randint(200, 2000), random.randint(1, 24))


def ask(port, target, status, times, load):
    """Asks on one connection until the load is over, and notes the milliseconds of answers with `status`."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    time.sleep(1)
    while load.poll() is None:
        start = time.perf_counter()
        connection.request("GET", target())
        answer = connection.getresponse()
        answer.read()
        if answer.status == status:
            times.append((time.perf_counter() - start) * 1e3)
        time.sleep(0.01)


def measure(port, hit, script, connections):
    """Prints the milliseconds of answers of each kind."""
    load = subprocess.Popen(
        ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{SECONDS}s", "--script", script,
         f"http://127.0.0.1:{port}/"], stdout=subprocess.DEVNULL)
    kinds = {"/health": (lambda: "/health", 200), "a hit": (lambda: hit, 200), "a miss that is refused (503)": (miss, 503)}
    times = {kind: [] for kind in kinds}
    threads = [threading.Thread(target=ask, args=(port, *kinds[kind], times[kind], load)) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"\n| while {connections} connections ask for what has to be made | answers | median ms | p99 ms |")
    print("|---|---:|---:|---:|")
    for kind, all in times.items():
        p99 = sorted(all)[int(len(all) * 0.99)] if all else float("nan")
        print(f"| {kind} | {len(all)} | {statistics.median(all or [float('nan')]):.2f} | {p99:.2f} |", flush=True)
