"""The honest load: people who ask for pictures that are there and for new ones, and a load balancer that asks whether it is ready.

An honest request is lost if it has no right answer: a hit at once, a picture that is new after as many tries as `Retry-After` asks
for, within 40 seconds. What is right is told by the bytes: a hit has those of the warm-up, a new picture has its own colour.
"""

import hashlib, os, signal, socket, threading, time, urllib.parse

import pictures, wire

LONGEST = 40


def report(sink, events, lock):
    while True:
        time.sleep(0.25)
        with lock:
            batch, events[:] = list(events), []
        if batch:
            sink.put(("honest", batch))


def serve_echo(ready):
    """Sends back what comes: as long as this takes, the machine is busy, not the server."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = socket.create_server(("127.0.0.1", 0))
    ready.send(listener.getsockname()[1])
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := connection.recv(4096):
            connection.sendall(data)


def prefer():
    """The clock of the measurement may not wait for those whom it measures."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.nice(-10)
    except OSError:
        pass


def hits(target, warm, echo, stop, sink):
    """Asks for pictures that are there: 80 times a second on two connections, every tenth time on a new one."""
    prefer()
    events, lock = [], threading.Lock()
    threading.Thread(target=report, args=(sink, events, lock), daemon=True).start()
    kept = [wire.Connection(target, f"127.0.1.{n}", 15) for n in (1, 2)]
    floor = socket.create_connection(("127.0.0.1", echo))
    floor.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    turn, paths = 0, sorted(warm)
    while not stop.is_set():
        turn += 1
        path = paths[turn * 7 % len(paths)]
        new = turn % 10 == 0
        connection = wire.Connection(target, "127.0.1.3", 15) if new else kept[turn % 2]
        begun, outcome = time.time(), "ok"
        clock = time.perf_counter()
        try:
            answer = connection.request(path)
            taken = time.perf_counter() - clock
            if answer.status != 200:
                outcome = f"{answer.status}"
            elif hashlib.sha256(answer.body).digest() != warm[path]:
                outcome = "other bytes"
        except Exception as error:
            taken, outcome = time.perf_counter() - clock, f"{type(error).__name__}"
            connection.close()
            time.sleep(0.2)
        if new:
            connection.close()
        clock = time.perf_counter()
        floor.sendall(b"x" * 100)
        floor.recv(4096)
        bare = time.perf_counter() - clock
        with lock:
            events.append(("hit, new connection" if new else "hit", begun, taken, outcome))
            events.append(("floor", begun, bare, "ok"))
        time.sleep(0.008)


def ready(target, stop, sink):
    """Asks `/ready` twenty times a second, each time on a new connection; `/health` and `/metrics` now and then."""
    prefer()
    events, lock = [], threading.Lock()
    threading.Thread(target=report, args=(sink, events, lock), daemon=True).start()
    turn = 0
    while not stop.is_set():
        turn += 1
        path = "/metrics" if turn % 20 == 0 else "/health" if turn % 5 == 0 else "/ready"
        begun, clock, outcome = time.time(), time.perf_counter(), "ok"
        try:
            answer = wire.once(target, path, "127.0.1.4", 15)
            if answer.status != 200:
                outcome = f"{answer.status}"
        except Exception as error:
            outcome = f"{type(error).__name__}"
        with lock:
            events.append((path, begun, time.perf_counter() - clock, outcome))
        time.sleep(0.05)


def ask(target, path, source, right):
    """Asks until there is a right answer, as patiently as `Retry-After` says. Returns what came of it and how often it was put off."""
    deadline, tries, last = time.monotonic() + LONGEST, 0, ""
    while True:
        pause = 1
        try:
            answer = wire.once(target, path, source, max(deadline - time.monotonic(), 1))
            if answer.status == 200:
                return right(answer.body) or "ok", tries
            last = f"{answer.status} {answer.text}"
            if answer.status not in (429, 503):
                return last, tries
            pause = int(answer.fields.get("retry-after", "1"))
        except Exception as error:
            return f"{type(error).__name__}", tries
        tries += 1
        if time.monotonic() + pause > deadline:
            return f"put off until the end: {last}", tries
        time.sleep(pause)


def news(scene, stop, sink):
    """Asks for what is new: pictures of a good host and of one that serves bad ones too, posters of titles, titles that are known."""
    prefer()
    events, lock = [], threading.Lock()
    threading.Thread(target=report, args=(sink, events, lock), daemon=True).start()
    run = f"{os.getpid()}-{time.time_ns() % 10**9}"

    def colored(name):
        def right(body):
            pixel, width, height = pictures.first_pixel(body)
            if not pictures.is_near(pixel, pictures.color_of(name)):
                return f"the colour {pixel} instead of {pictures.color_of(name)}"
        return right

    def picture(host, n):
        name = f"honest-{run}-{n}"
        return scene.image(f"http://{host}/good/600x900/{name}.jpg"), colored(name)

    def program(n):
        name = f"honest-{run}-{n}"
        return f"/t/p/w92/program/{name}.png", colored(name)

    def film(n):
        # Digits alone, so that it is a film that no other run has asked for.
        return f"/3/movie/{run.replace('-', '')}{n}", lambda body: None if b'"release_date"' in body else "another film"

    def known(n):
        return f"/sources/honest/titles/{n % 40 + 1}", lambda body: None if f'"Film {n % 40 + 1}"'.encode() in body else "another title"

    def listed(n):
        return "/sources/honest/titles", lambda body: None if b'"Film 40"' in body else "another list"

    def spent(n):
        return f"/sources/quota/titles/{n % 3 + 1}", lambda body: None if f'"Film {n % 3 + 1}"'.encode() in body else "another title"

    def search(n):
        return f"/sources/quota/titles?query=new-honest-{run}-{n}", lambda body: None

    def go(kind, index, every, question):
        n = 0
        while not stop.is_set():
            n += 1
            path, right = question(n)
            begun, clock = time.time(), time.perf_counter()
            outcome, tries = ask(scene.target, path, f"127.0.1.{10 + index}", right)
            with lock:
                events.append((kind, begun, time.perf_counter() - clock, outcome))
                if tries:
                    events.append((f"{kind}, put off", begun, 0, "ok"))
            stop.wait(every)

    questions = [
        ("new picture", 0.5, lambda n: picture(scene.honest, n)),
        ("new picture, shared host", 0.5, lambda n: picture(scene.shared, n)),
        ("new poster", 1, program),
        ("new film, shared rate", 1, film),
        ("known title", 0.5, known),
        ("known list", 0.5, listed),
        ("known title, spent quota", 1, spent),
        ("new search, spent quota", 5, search),
    ]
    for index, (kind, every, question) in enumerate(questions):
        threading.Thread(target=go, args=(kind, index, every, question), daemon=True).start()
    stop.wait()
    time.sleep(0.6)
