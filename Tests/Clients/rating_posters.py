"""Clients of rating posters, with only the host and the key changed, and a mirror of TMDB while TMDB fails."""

import io
import json
import threading

from fake_tmdb import FILE, FakeTMDB
from server import ask, get

KEY = "family-key-of-a-test"

# Addresses of clients, as their sources build them.
ADDRESSES = {
    "OpenPosterDB plugin for Jellyfin": [
        "imdb/poster-default/tt0137523.jpg", "tmdb/poster-default/movie-550.jpg?lang=de&fallback=true", "imdb/logo-default/tt0137523.png",
        "tvdb/backdrop-default/81189.jpg", "tmdb/episode-default/episode-1396-S1E1.jpg", "imdb/season-default/season-tt0903747-S1.jpg"],
    "RPDB plugin for Emby": [
        "imdb/poster-default/tt0137523.jpg?fallback=true&lang=de", "tmdb/poster-default/series-1396.jpg?fallback=true",
        "imdb/rating-order/tt0137523.jpg?fallback=true&order=imdb%2Crt%2Cmetacritic", "tmdb/backdrop-default/movie-550.jpg?fallback=true"],
    "rpdb-folders": ["imdb/poster-default/tt0137523.jpg", "imdb/textless-default/tt0137523.jpg", "imdb/backdrop-default/tt0137523.jpg"],
    "AIOMetadata": [
        "imdb/poster-default/tt0137523.jpg?fallback=true&lang=pt-BR", "tmdb/backdrop-default/series-1396.jpg?imageSize=small",
        "tvdb/poster-default/series-81189.jpg", "imdb/logo-default/tt0137523.png?fallback=true"],
    "AIOStreams": ["imdb/poster-default/tt0137523.jpg?fallback=true", "tmdb/poster-default/movie-550.jpg?fallback=true"],
    "Top Posters": [
        "imdb/thumbnail/tt0903747/S1E1.jpg", "imdb/poster/tt0137523.jpg?fallback=true", "tmdb/poster/movie-550.jpg?fallback=true&lang=de"],
    "AIOratings": ["tmdb/poster-default/tv-1396.jpg?ratings_limit=3&badge_style=h", "imdb/poster-default/0137523.png?imageSize=large"],
}


class FakeDatabase(FakeTMDB):
    """Also says which title has an id of another database, and which pictures a title has."""

    @staticmethod
    def answer(path, query):
        words = path.split("/")
        if words[0] == "find":
            found = {"tt0137523": ("movie_results", 550), "tt0903747": ("tv_results", 1396), "81189": ("tv_results", 1396)}.get(words[1])
            return 200, {"movie_results": [], "tv_results": [], "person_results": []} | ({found[0]: [{"id": found[1]}]} if found else {})
        if words[-1] == "images":
            if words[1] not in ["550", "1396"]:
                return FakeTMDB.answer("movie/404", query)
            kinds = ["posters", "backdrops", "logos", "stills"]
            return 200, {kind: [{"file_path": f"/{kind}{FILE}.jpg", "iso_639_1": None, "vote_average": 8, "vote_count": 9}] for kind in kinds}
        return FakeTMDB.answer(path, query)


def picture(Image):
    drawn = io.BytesIO()
    Image.effect_noise((1000, 1500), 60).convert("RGB").save(drawn, "JPEG")
    return drawn.getvalue()


def source(fake, more=""):
    return f"""tmdb: {{ type: rest, manifest: tmdb, baseURL: "{fake.url}/3", networks: [loopback], {more}
        variables: {{ token: ours, pictures: "{fake.url}/t/p/original" }} }}"""


def check_rating_posters(context):
    """Clients of rating posters get pictures by a key and the ids of three databases, by HEAD and GET, also while TMDB is away."""
    Image = context.module("PIL.Image")
    with FakeDatabase(picture(Image)) as fake:
        dialect = f"{{ rpdb: {{ keys: [{{ key: {KEY}, languages: [de, en] }}] }} }}"
        with context.server("", source(fake), dialects=dialect) as server:

            def pictures():
                for client, addresses in ADDRESSES.items():
                    for address in addresses:
                        url = f"{server.url}/{KEY}/{address}"
                        # Some ask with HEAD first, and take only what is surely a picture.
                        status, fields, _ = ask(url, "HEAD")
                        kind = "image/png" if ".png" in address else "image/jpeg"
                        assert status == 200 and fields["content-type"] == kind and int(fields["content-length"]) > 100, (client, url, status)
                        status, got, body = get(url)
                        assert status == 200 and len(body) == int(fields["content-length"]), (client, url, status, body[:300])
                        assert got["access-control-allow-origin"] == "*" and "max-age" in got["cache-control"], (client, url, got)
                        assert "onesheet-fallback" not in got, (client, url)
                        width, height = Image.open(io.BytesIO(body)).size
                        assert got["onesheet-size"] == f"{width}x{height}", (client, url, width, height)

            status, fields, body = get(f"{server.url}/{KEY}/isValid")
            assert status == 200 and json.loads(body)["valid"] is True and fields["access-control-allow-origin"] == "*", (status, body)
            status, fields, body = get(f"{server.url}/another-key/isValid")
            assert status in [401, 403] and json.loads(body)["error"] and fields["access-control-allow-origin"] == "*", (status, body)
            pictures()
            # All sizes are made of one original for each title and kind, and asked again, none is fetched.
            fetched = len(fake.files)
            pictures()
            assert len(fake.files) == fetched, fake.files
            # What does not exist is an error, or the fallback picture for who asks.
            assert get(f"{server.url}/{KEY}/imdb/poster-default/tt9.jpg")[0] == 404
            status, fields, body = get(f"{server.url}/{KEY}/imdb/poster-default/tt9.jpg?fallback=true")
            assert status == 200 and fields["onesheet-fallback"] == "poster", (status, fields)
            assert Image.open(io.BytesIO(body)).size == (580, 859)
            fake.stop()
            pictures()
            log = open(server.log.name, errors="replace").read()
            assert KEY not in log, log
    return f"{sum(map(len, ADDRESSES.values()))} addresses of {len(ADDRESSES)} clients"


class FailingTMDB(FakeDatabase):
    """Answers each question with one status, or with nothing at all until the check is over."""

    def __init__(self, picture):
        super().__init__(picture)
        self.failure, self.over = None, threading.Event()

    def answer(self, path, query):
        if self.failure == "silence":
            self.over.wait(60)
            return 200, {}
        return (self.failure, {"success": False, "status_code": 25}) if self.failure else FakeDatabase.answer(path, query)


def check_tmdb_failures(context):
    """While TMDB refuses, fails or is silent, what was seen is answered, and what was not is an error that TMDB's clients understand."""
    Image = context.module("PIL.Image")
    for failure, wanted in [(429, [429, 503]), (500, [502, 503]), (503, [502, 503]), ("silence", [502, 503, 504])]:
        with FailingTMDB(picture(Image)) as fake:
            with context.server("clients: { trustedProxies: [] }", source(fake, "timeout: 2s,"), dialects="tmdb") as server:
                seen = get(f"{server.url}/3/movie/550")
                assert seen[0] == 200 and get(f"{server.url}/t/p/w92/tmdb/550.jpg")[0] == 200, seen
                fake.failure = failure
                try:
                    status, fields, body = get(f"{server.url}/3/movie/551")
                    document = json.loads(body)
                    assert status in wanted and document["success"] is False and document["status_code"], (failure, status, body)
                    # Clients read seconds, and not a date.
                    assert int(fields.get("retry-after", "1")) >= 0, (failure, fields)
                    assert get(f"{server.url}/3/movie/550")[2] == seen[2], failure
                    for size in ["w92", "w342"]:
                        assert get(f"{server.url}/t/p/{size}/tmdb/550.jpg")[0] == 200, (failure, size)
                    fake.failure = None
                finally:
                    fake.over.set()
    return "429, 500, 503, silence"
