"""What an attack is, and how one runs: a process of its own with a few threads that take turns until they are told to end."""

import collections, json, os, random, signal, socket, ssl, struct, threading, time, traceback
from dataclasses import dataclass, field

import wire


@dataclass
class Scene:
    """What attacks know of where they are."""
    target: wire.Target
    port: int                       # of all origins
    folder: str
    token: str
    canary: int                     # a port that listens and that nothing may ever connect to
    closed: int                     # a port on which nobody listens
    seed: int = 1

    @property
    def honest(self): return f"127.0.0.2:{self.port}"       # an origin without fault

    @property
    def shared(self): return f"127.0.0.3:{self.port}"       # good pictures and bad ones on the same host

    @property
    def slow(self): return f"127.0.0.4:{self.port}"         # a host that hangs

    @property
    def hostile(self): return f"127.0.0.5:{self.port}"      # a host of hostile pictures

    def other(self, random):
        """One of many hosts that misbehave: what one does is not held against the next."""
        return f"127.0.0.{random.randrange(20, 40)}:{self.port}"

    def counts(self, *hosts):
        """How often origins were asked for what, by kind; less if one of them does not answer."""
        total = collections.Counter()
        for host in hosts:
            try:
                total.update(json.loads(wire.once(wire.Target(self.port, host=host), "/counts", timeout=5).body))
            except (OSError, ValueError):
                continue
        return total

    def image(self, url, options="rs:fit:60:0", extension="png"):
        return f"/i/unsafe/{options}/plain/{url}@{extension}"


class Attack:
    """One way to do harm. `turn` is one round of it; it counts what came of it, and says what must never be."""

    name = ""
    what = ""
    threads = 2
    pause = 0.02                    # seconds between turns of one thread
    tls = False                     # whether it needs TLS
    timeout = 60                    # seconds until an answer is given up

    def __init__(self, scene, tally):
        self.scene, self.tally = scene, tally
        self.target = scene.target
        self.started = f"{os.getpid()}-{time.time_ns() % 10**9}"
        self.number = 0
        self.lock = threading.Lock()
        self.prepare()

    def prepare(self):
        pass

    def turn(self, random):
        raise NotImplementedError

    def finish(self):
        """Says at the end what must never be."""

    def next(self):
        """A word that nobody has said before."""
        with self.lock:
            self.number += 1
            return f"{self.started}-{self.number}"

    def address(self, random):
        """One of 16 addresses of strangers; the honest ones are elsewhere."""
        return f"127.0.7.{random.randrange(1, 17)}"

    def count(self, kind, many=1):
        with self.lock:
            self.tally[kind] += many

    def wrong(self, text):
        """Counts what must never be."""
        self.count("wrong: " + text)

    def get(self, path, random, expect=None, **rest):
        """Asks once and counts the status. 500 is always wrong; so is what is not in `expect`, overload aside."""
        try:
            answer = wire.once(self.target, path, self.address(random), rest.pop("timeout", self.timeout), **rest)
        except TimeoutError:
            self.count("no answer in time")
            return None
        except (OSError, ValueError) as error:
            self.count(f"broken off ({type(error).__name__})")
            return None
        self.count(str(answer.status))
        if answer.status == 500:
            self.wrong(f"500: {answer.text}")
        elif expect and answer.status not in expect and answer.status not in (429, 503):
            self.wrong(f"{answer.status} instead of {'/'.join(map(str, expect))}: {answer.text}")
        return answer


# Attackers and origins run on other machines in reality: here they take only the processor time that the server leaves. A nice value is not
# enough for attackers: a thread of the server that wakes up may still have to wait until one of them has used its time slice. Under
# SCHED_IDLE, it never waits for them (see sched(7)).
# Where Linux groups tasks by session (sched_autogroup), nice values count within a session only, so that all processes of the test, the
# server too, belong to one.
ORIGIN = 10

attacks = {}


def attack(kind):
    """Makes an attack known by its name."""
    attacks[kind.name] = kind
    return kind


def perform(kind, scene, stop, sink):
    """The process of one attack: turns until `stop`, and what they came to every quarter of a second."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    tally = collections.Counter()
    work = kind(scene, tally)

    def run(index):
        choice = random.Random(f"{scene.seed} {kind.name} {index}")
        while not stop.is_set():
            try:
                work.turn(choice)
            except (OSError, ssl.SSLError) as error:
                work.count(f"broken off ({type(error).__name__})")
            except Exception as error:
                work.count(f"harness: {type(error).__name__}: {error}")
                traceback.print_exc()
                time.sleep(1)
            stop.wait(kind.pause)

    for index in range(kind.threads):
        threading.Thread(target=run, args=(index,), daemon=True).start()
    before = collections.Counter()
    while True:
        ended = stop.wait(0.25)
        if ended:
            work.finish()
        with work.lock:
            now = collections.Counter(tally)
        if more := now - before:
            sink.put(("attack", kind.name, time.time(), dict(more)))
        before = now
        if ended:
            break
    sink.close()
    sink.join_thread()
    os._exit(0)


def abandon(connection):
    """Ends a connection with RST instead of FIN."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    connection.close()
