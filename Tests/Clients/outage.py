"""A mirror of TMDB while TMDB is away for three days. The server's clock is set forward."""

from concurrent.futures import ThreadPoolExecutor

from fake_tmdb import FILE, FakeTMDB
from mirror import AGAIN, QUESTIONS, SIZES, drawn, read
from server import get

HOURS = [1, 3, 6, 12, 24, 36, 48, 60, 72]
# Images by the path of their file and by the id of their title. Only some sizes are asked for while TMDB is there.
SEEN = [f"/t/p/{size}/{FILE}.jpg" for size in list(SIZES)[:6]] + ["/t/p/w342/tmdb/550", "/t/p/w185/tmdb/tv-1396.webp"]
OTHERS = [f"/t/p/{size}/{FILE}.jpg" for size in list(SIZES)[6:]] + ["/t/p/w154/tmdb/550", "/t/p/original/tmdb/550"]


def check_tmdb_outage(context):
    """Whatever was seen through a mirror is answered for 72 hours without TMDB, in whatever way that fails."""
    questions = sum(QUESTIONS.values(), [])
    with FakeTMDB(drawn(context)) as fake:
        wanted = {question: read(fake.url, question) for question in questions + AGAIN}
        keys = "clients: { trustedProxies: [] }"
        with context.server(keys, fake.source, dialects="tmdb", has_clock=True) as server, ThreadPoolExecutor(16) as clients:

            def is_answered(question):
                if not question.startswith("/"):
                    return read(server.url, question) == wanted[question]
                status, fields, body = get(server.url + question)
                return status == 200 and fields["content-type"].startswith("image/") and len(body) > 100

            def unanswered(asked):
                return [question for question, answered in zip(asked, clients.map(is_answered, asked)) if not answered]

            fake.asked.clear()
            assert not (failed := unanswered(questions + SEEN)), failed
            known, asked, failed = len(fake.asked), 0, []
            for step, hours in enumerate(HOURS):
                fake.fault = FakeTMDB.FAULTS[step % len(FakeTMDB.FAULTS)]
                server.set_clock(hours)
                all_seen = (questions + AGAIN + SEEN + OTHERS) * 2
                asked += len(all_seen)
                failed += [(hours, fake.fault, question) for question in unanswered(all_seen)]
                fake.silence.set()
                fake.silence.clear()
            assert len(failed) <= asked / 1000, (asked, len(failed), failed[:5])
            assert len(fake.asked) == known, "TMDB was not away"
            # What nobody has seen is an error.
            assert read(server.url, "movie/551")[0] in [502, 503, 504]
            # A week later the images are gone, so that the clock was set.
            server.set_clock(HOURS[-1] + 7 * 24)
            assert get(server.url + SEEN[0])[0] in [502, 503, 504]
    return f"{asked} requests, {len(failed)} of them unanswered"
