"""Tries the cluster: what three servers share, and what happens without each part."""
import collections
import shutil
import time
import urllib.parse

from cluster import LADDER, SERVERS, SIZES, TITLES, TOKEN, Unexpected, ask, wait


class Check:
    def __init__(self, cluster):
        self.cluster, self.failed = cluster, 0

    def expect(self, holds, text):
        print(f"{'  ok    ' if holds else '  FAILED'} {text}", flush=True)
        self.failed += not holds

    def all_fine(self, answers, text):
        bad = collections.Counter(answer.status for some in answers.values() for answer in some if answer.status != 200)
        count = sum(map(len, answers.values()))
        self.expect(not bad, f"{count - bad.total()} of {count} requests answered with a picture {text}{dict(bad) or ''}")

    def one_body(self, answers):
        several = sum(len({answer.fields.get("etag") for answer in some}) > 1 for some in answers.values())
        self.expect(several == 0, f"{len(answers) - several} of {len(answers)} addresses have one entity tag everywhere")

    def await_store(self):
        cluster = self.cluster
        wait("the store has what was made", lambda: not any(cluster.metric("shared_queue")))

    def purge(self, film):
        address = urllib.parse.quote(self.cluster.origin.poster(film), safe="")
        return ask(self.cluster.servers[0], f"/cache/films/{address}", "DELETE", Authorization=f"Bearer {TOKEN}")

    def etags(self, film, ports):
        answers = self.cluster.get_all([film], lambda _: ports)
        return {path: {answer.fields.get("etag") for answer in some} for path, some in answers.items()}

    def expect_new(self, film, old, ports):
        """Asks again and again until all have another picture."""
        begun, seen = time.monotonic(), False
        while not seen and time.monotonic() < begun + 10:
            new = self.etags(film, ports)
            seen = all(not new[path] & old[path] and None not in new[path] for path in old)
        text = f"after {time.monotonic() - begun:.1f} s" if seen else "not after 10 s"
        self.expect(seen, f"all servers have the new picture: {text}")

    def places(self, films, answers, path, sizes):
        """The servers that answered for each film."""
        places = {film: {answer.fields.get("x-server") for width in sizes for answer in answers[path(film, width)]} for film in films}
        shares = collections.Counter(min(place) for place in places.values())
        self.expect(all(len(place) == 1 for place in places.values()), "each title has one server for all its sizes")
        self.expect(len(shares) == SERVERS, f"the servers have {sorted(shares.values())} titles")
        return places

    def run(self):
        cluster, servers = self.cluster, self.cluster.servers
        films = [f"film-{number}" for number in range(TITLES)]

        print(f"== {TITLES} titles that nobody knows, in {len(SIZES)} sizes, from all servers at once")
        answers = cluster.get_all(films, lambda _: servers)
        self.all_fine(answers, "")
        self.one_body(answers)
        total, alone = cluster.origin.total(), cluster.metric("lease_alone_total")
        # On a machine that has much else to do, Redis may seem to be absent for a moment.
        self.expect(
            TITLES <= total <= TITLES + sum(alone),
            f"{total} requests to the origin for {TITLES} originals; without a lease: {numbers(alone)}")
        self.await_store()

        print("== counters of the servers")
        taken, waited = (cluster.metric(f"lease_{name}_total") for name in ("taken", "waited"))
        self.expect(sum(taken + alone) >= TITLES, f"fetched with the lease: {numbers(taken)}; waited for another: {numbers(waited)}")
        written = cluster.metric("shared_requests_total", labels='operation="put",outcome="stored"')
        self.expect(sum(written) >= TITLES * (1 + len(SIZES)), f"objects written to the store: {numbers(written)}")
        dropped, damaged = cluster.metric("shared_dropped_total"), cluster.metric("shared_damaged_total")
        self.expect(not any(dropped + damaged), f"entries not written: {numbers(dropped)}; damaged: {numbers(damaged)}")
        lag = max(cluster.metric("purge_lag_seconds"))
        self.expect(lag < 5, f"every server knew all purges {lag:.1f} s ago or later")

        print("== the same from a server with an empty cache")
        cluster.processes["server-3"].terminate()
        cluster.processes["server-3"].wait()
        shutil.rmtree(cluster.folder / "cache-3")
        cluster.start_server(2)
        cluster.await_server(2)
        answers = cluster.get_all(films, lambda _: [servers[2]])
        self.all_fine(answers, "")
        shared = sum("detail=shared" in answer.fields.get("cache-status", "") for some in answers.values() for answer in some)
        self.expect(shared == TITLES * len(SIZES), f"{shared} of {TITLES * len(SIZES)} pictures came from the shared tier")
        self.expect(cluster.origin.total() == total, f"{cluster.origin.total() - total} more requests to the origin")

        print("== new titles through nginx")
        shows = [f"show-{number}" for number in range(TITLES)]
        total = cluster.origin.total()
        answers = cluster.get_all(shows, lambda _: [cluster.port])
        self.all_fine(answers, "")
        self.expect(cluster.origin.total() == total + TITLES, f"{cluster.origin.total() - total} requests to the origin")
        places = self.places(shows, answers, cluster.path, SIZES)
        answers = cluster.get_all(shows, lambda _: [cluster.port], cluster.ladder_path, LADDER)
        self.all_fine(answers, "at /t/p")
        self.places(shows, answers, cluster.ladder_path, LADDER)
        self.await_store()

        print("== a purge on server 1, after the posters have changed")
        cluster.origin.edition = 2
        old = self.etags(films[0], servers)
        purged = self.purge(films[0])
        self.expect(purged.status == 200, f"the purge answers {purged.status}: {purged.body.decode()[:200].strip()}")
        self.expect_new(films[0], old, servers)
        self.one_body(cluster.get_all(films[1:5], lambda _: servers))

        print("== server 2 is killed")
        total = cluster.origin.total()
        cluster.kill("server-2")
        answers = cluster.get_all(shows, lambda _: [cluster.port])
        self.all_fine(answers, "")
        self.expect(cluster.origin.total() == total, f"{cluster.origin.total() - total} more requests to the origin")
        dead = f"127.0.0.1:{servers[1]}"
        moved = [show for show in shows if dead not in places[show]
                 and any(answer.fields.get("x-server") not in places[show]
                         for width in SIZES for answer in answers[cluster.path(show, width)])]
        self.expect(not moved, f"{len(moved)} titles of the other servers have moved")

        print("== a purge while server 2 is down, and its return")
        old = self.etags(films[1], servers[:1])
        self.expect(self.purge(films[1]).status == 200, "the purge is done")
        cluster.start_server(1)
        cluster.await_server(1)
        self.expect_new(films[1], old, servers)

        print("== Redis is killed, and comes back")
        cluster.kill("redis")
        alone = sum(cluster.metric("lease_alone_total"))
        answers = cluster.get_all([*films[:10], "film-without-redis"], lambda _: [cluster.port])
        self.all_fine(answers, "")
        alone = sum(cluster.metric("lease_alone_total")) - alone
        self.expect(alone > 0, f"{alone:.0f} fetched without a lease")
        cluster.origin.edition = 3
        old = self.etags(films[0], servers)
        purged = self.purge(films[0])
        self.expect(purged.status == 503, f"a purge that not all servers can learn of answers {purged.status}")
        cluster.start_redis()
        cluster.await_redis()
        self.expect_new(films[0], old, servers)
        wait("the outbox is empty", lambda: not any(cluster.metric("purge_outbox")))
        self.expect(True, "the purge has left the outbox")

        print("== SeaweedFS is killed, and comes back")
        cluster.kill("seaweedfs")
        answers = cluster.get_all([*films[:10], "film-without-a-store"], lambda _: [servers[0], servers[2]])
        self.all_fine(answers, "")
        begun = time.monotonic()
        cluster.start_store()
        cluster.await_store()
        print(f"         SeaweedFS answers after {time.monotonic() - begun:.1f} s")
        self.expect_shared("film-after-the-store")

        print("== Redis comes back empty: whatever was made before may have been purged since")
        cluster.kill("redis")
        shutil.rmtree(cluster.folder / "appendonlydir")
        cluster.start_redis()
        cluster.await_redis()
        self.all_fine(cluster.get_all(films[:10], lambda _: servers), "")
        # A server that has just missed Redis leaves it alone for two seconds, and keeps a purge of that time.
        old = self.etags(films[2], servers)
        cluster.origin.edition = 4
        wait("a purge reaches the log", lambda: self.purge(films[2]).status == 200)
        self.expect_new(films[2], old, servers)

    def expect_shared(self, name):
        """Asks for new titles until server 3 finds in the store what server 1 has made."""
        cluster, begun, seen, number = self.cluster, time.monotonic(), False, 0
        while not seen and time.monotonic() < begun + 60:
            number += 1
            path = cluster.path(f"{name}-{number}", SIZES[-1])
            ask(cluster.servers[0], path)
            self.await_store()
            seen = "detail=shared" in ask(cluster.servers[2], path).fields.get("cache-status", "")
        text = f"after {time.monotonic() - begun:.1f} s" if seen else "not after 60 s"
        self.expect(seen, f"a server finds in the store what another has made: {text}")


def numbers(values):
    return ", ".join(f"{value:.0f}" for value in values)
