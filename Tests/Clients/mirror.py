"""Clients of TMDB in front of a server that mirrors it: their requests, as their sources build them, with only the host changed."""

import io
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from server import get

FILE = "kqjL17yufvn9OVLyXYpvtyrFfak"
NOTHING = {"success": False, "status_code": 34, "status_message": "The resource you requested could not be found."}
LISTS = ["popular", "top_rated", "now_playing", "upcoming", "on_the_air", "airing_today", "recommendations", "similar"]

# Questions of clients, without the key that each of them adds.
QUESTIONS = {
    "Seerr": [
        "movie/550?language=de&append_to_response=credits,external_ids,videos,keywords,release_dates,watch/providers"
        "&include_video_language=de,%20en",
        "tv/1396?language=de&append_to_response=aggregate_credits,credits,external_ids,keywords,videos,content_ratings,watch/providers",
        "tv/1396/season/1?language=de&append_to_response=external_ids", "search/multi?query=fight%20club&page=1&include_adult=false",
        "discover/movie?sort_by=popularity.desc&page=2&with_genres=18%7C35&vote_count.gte=10", "trending/all/day?page=1&language=de",
        "find/tt0137523?external_source=imdb_id", "collection/10?language=de", "person/287/combined_credits?language=de",
        "genre/movie/list?language=de", "configuration/languages", "watch/providers/regions",
    ],
    "Jellyfin": [
        "movie/550?append_to_response=credits,releases,images,videos,keywords&language=pt-BR&include_image_language=pt-BR,null,en",
        "tv/1396/season/1/episode/2?append_to_response=credits,images,external_ids,videos&language=pt-BR", "movie/550/images",
        "search/movie?query=Fight+Club&year=1999&language=pt-BR", "find/81189?external_source=tvdb_id",
    ],
    "Kodi": [
        "search/movie?query=Fight%20Club&year=1999&language=de-DE",
        "movie/550?append_to_response=trailers,images,releases,casts,keywords&language=de-DE", "movie/550?append_to_response=trailers,images",
    ],
    "MediaElch": ["movie/550/images?language=de-DE&include_image_language=en,null,de", "movie/550/casts?language=de-DE"],
    "Posterizarr": ["movie/550?append_to_response=images&language=xx&include_image_language=xx,en,de", "tv/1396/season/1/images"],
    "TMDB Helper": [
        "movie/550?append_to_response=credits,images,release_dates,content_ratings,external_ids,movie_credits,tv_credits,keywords,reviews,videos,"
        "watch/providers&language=de-DE&include_image_language=de,null,en&include_video_language=de,null,en&region=DE",
    ],
    "AIOMetadata": [
        "tv/1396?append_to_response=external_ids,content_ratings,images,translations,keywords,videos,season/1,season/2"
        "&include_image_language=pt,en,null,ja",
    ],
    "tinyMediaManager": ["collection/10/images", "tv/1396/season/1/episode/2/images"],
    "Kometa": ["movie/550?append_to_response=external_ids,keywords&language=en", "discover/tv?with_networks=213&page=1"],
    "Swift TMDb": ["movie/550/images?include_image_language=de,en", "tv/1396/season/1?language=de-DE"],
    "tivi": ["tv/1396?append_to_response=external_ids", "tv/popular?page=2&language=en"],
    "MovieSwiftUI": ["movie/550?append_to_response=keywords,images&include_image_language=en,en,null&language=en", "movie/popular?page=3"],
}
# The same questions as some of these, in other words.
AGAIN = [
    "movie/550?include_video_language=en,de&append_to_response=videos,credits,keywords,external_ids,watch%2Fproviders,release_dates&language=DE",
    "search/movie?language=de-DE&year=1999&query=fight+club", "trending/all/day?language=de", "movie/550-fight-club/images",
]
# The sizes that clients ask for, and the sides of what they get of a file of 1000 × 1500.
SIZES = {
    "w92": (92, 138), "w154": (154, 231), "w185": (185, 278), "w200": (200, 300), "w300": (300, 450), "w342": (342, 513),
    "w400": (400, 600), "w500": (500, 750), "w780": (780, 1170), "w1280": (1000, 1500), "h632": (421, 632), "original": (1000, 1500),
    "w600_and_h900_bestv2": (600, 900), "w300_and_h450_face": (300, 450), "w276_and_h350_face": (276, 350),
    "w780_filter(duotone,ffffff,bababa)": (780, 1170), "h100_filter(negate,000,666)": (67, 100), "w500/": (500, 750),
}


class FakeTMDB:
    """TMDB's API and its pictures on this machine. Counts the questions, and knows which keys came with them."""

    # What it does instead of an answer.
    FAULTS = ["closed", "error", "busy", "silent", "cut", "long"]

    def __init__(self, picture):
        self.picture, self.asked, self.files, self.keys, self.fault = picture, [], [], set(), None
        self.silence = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if fake.fault:
                    return self.fail(fake.fault)
                url = urlsplit(self.path)
                if url.path.startswith("/t/p/original/"):
                    fake.files.append(url.path)
                    known = url.path.rsplit("/", 1)[1].split(".")[0].endswith(FILE)
                    return self.send(*((200, "image/jpeg", fake.picture) if known else (404, "text/html", b"<h1>404</h1>")))
                fake.asked.append(self.path)
                fake.keys.add((self.headers["Authorization"], *parse_qs(url.query).get("api_key", [])))
                status, document = fake.answer(url.path.removeprefix("/3/"), parse_qs(url.query))
                self.send(status, "application/json;charset=utf-8", json.dumps(document, ensure_ascii=False).encode())

            def fail(self, fault):
                self.close_connection = True
                if fault == "silent":
                    fake.silence.wait(60)
                elif fault in ["error", "busy"]:
                    self.send(*((503, "text/html", b"<h1>503</h1>") if fault == "error" else (429, "application/json", b"{}")))
                elif fault in ["cut", "long"]:
                    # Less than announced, or a document that ends too early for its announced length.
                    body = b'{"id": 550, "title": "Fig'
                    self.send(200, "application/json", body, 10_000 if fault == "cut" else len(body))

            def send(self, status, kind, body, length=None):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(length or len(body)))
                self.send_header("Cache-Control", "public, max-age=31919000" if kind == "image/jpeg" else "public, max-age=21600")
                try:
                    self.end_headers()
                    self.wfile.write(body)
                except BrokenPipeError:
                    # Who asked has given up.
                    self.close_connection = True

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    @property
    def source(self):
        """The configuration of a mirror of it."""
        return f"""tmdb: {{ type: rest, manifest: tmdb, baseURL: "{self.url}/3", networks: [loopback],
            variables: {{ token: ours, pictures: "{self.url}/t/p/original" }} }}"""

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the service, if it has not ended. Connections that are open get no more answers."""
        self.fault = "closed"
        self.silence.set()
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def answer(path, query):
        """What TMDB would tell: it depends on the meaning of the question, and not on its spelling."""
        words = path.split("/")
        words = [word.split("-")[0] if word[0].isdigit() else word for word in words]
        meaning = {
            "language": query.get("language", [""])[0].lower(), "page": int(query.get("page", ["1"])[0]),
            "languages": sorted(set(",".join(query.get("include_image_language", [])).replace(" ", "").split(",")))}
        if words[0] in ["movie", "tv"] and words[-1] == "404":
            return 404, NOTHING
        if words[0] in ["search", "discover", "trending"] or words[-1] in LISTS:
            found = {"id": 550, "title": "Zwölf <&> \"Fenster\" 北", "poster_path": f"/{FILE}.jpg", "vote_average": 8.438, "about": meaning,
                     "backdrop_path": None, "media_type": "movie", "query": query.get("query", [""])[0].lower()}
            return 200, {"page": meaning["page"], "results": [found], "total_pages": 1, "total_results": 1}
        if words[-1] == "images":
            file = {"file_path": f"/{FILE}.jpg", "iso_639_1": None, "width": 1000, "height": 1500, "vote_average": 5.3, "vote_count": 9}
            return 200, {"id": 550, "about": meaning, "path": words, "posters": [file], "backdrops": [], "logos": []}
        document = {"id": 550, "about": meaning, "path": words, "title": "Fight Club", "release_date": "1999-10-15", "popularity": 1e-3,
                    "poster_path": f"/{FILE}.jpg", "overview": "", "homepage": None}
        for name in query.get("append_to_response", [""])[0].replace(" ", "").split(","):
            document[name] = {"results": [{"key": name, "file_path": f"/{FILE}.jpg", "iso_639_1": None}]}
        return 200, document


def read(url, question):
    """The status and the document that a client reads."""
    status, fields, body = get(f"{url}/3/{question}{'&' if '?' in question else '?'}api_key=theirs", Authorization="Bearer theirs")
    assert fields["content-type"] == "application/json;charset=utf-8", (question, fields)
    return status, json.loads(body)


def drawn(context):
    """A JPEG of 1000 × 1500."""
    file = io.BytesIO()
    context.module("PIL.Image").effect_noise((1000, 1500), 60).convert("RGB").save(file, "JPEG")
    return file.getvalue()


def check_tmdb_mirror(context):
    """Clients of TMDB get from a mirror what TMDB tells, with one call for each question, and also while TMDB is away."""
    Image = context.module("PIL.Image")
    tmdbsimple, tmdbv3api = context.module("tmdbsimple"), context.module("tmdbv3api")

    def libraries(url):
        """What two libraries read from an API at an address."""
        tmdbsimple.API_KEY = "theirs"
        film, search = tmdbsimple.Movies(550), tmdbsimple.Search()
        film.base_uri = search.base_uri = f"{url}/3"
        read = [film.info(append_to_response="credits,images", language="de"), film.images(), film.credits(), search.movie(query="Fight")]
        for client in [tmdbv3api.Movie(), tmdbv3api.TV(), tmdbv3api.Trending()]:
            client.api_key, client._base, client.cache = "theirs", f"{url}/3", False
            if isinstance(client, tmdbv3api.Movie):
                read += [client.details(550).poster_path, client.popular()[0].title]
            elif isinstance(client, tmdbv3api.TV):
                read += [client.details(1396).id]
            else:
                read += [client.movie_day().results[0].title]
        return read

    questions = sum(QUESTIONS.values(), []) + ["movie/404?language=de", "tv/1/season/404"]
    with FakeTMDB(drawn(context)) as fake:
        wanted = {question: read(fake.url, question) for question in questions + AGAIN}
        expected = libraries(fake.url)
        with context.server("clients: { trustedProxies: [] }", fake.source, dialects="tmdb") as server:
            fake.asked.clear()
            fake.keys.clear()

            def compare(questions):
                for question in questions:
                    assert read(server.url, question) == wanted[question], (question, read(server.url, question), wanted[question])

            def pictures():
                for size, sides in SIZES.items():
                    status, fields, body = get(f"{server.url}/t/p/{size}/{FILE}.jpg")
                    assert status == 200 and fields["content-type"] == "image/jpeg", (size, status, body[:300])
                    width, height = Image.open(io.BytesIO(body)).size
                    assert abs(width - sides[0]) <= 1 and abs(height - sides[1]) <= 1, (size, width, height)

            # Each question is one call with the key of the server, however often and in whatever words it comes.
            compare(questions * 2 + AGAIN)
            assert len(fake.asked) == len(questions), sorted(fake.asked)
            assert fake.keys == {("Bearer ours",)}, fake.keys
            assert libraries(server.url) == expected, (libraries(server.url), expected)
            pictures()
            assert len(fake.files) == 1, fake.files
            assert get(f"{server.url}/t/p/w342/unknown.jpg")[0] == 404
            configuration = json.loads(get(f"{server.url}/3/configuration?api_key=theirs")[2])
            assert configuration["images"]["secure_base_url"] == f"{server.url}/t/p/" and configuration["change_keys"], configuration
            for path in ["account", "authentication/token/new", "movie/550/account_states"]:
                assert read(server.url, path)[0] == 403 and read(server.url, path)[1]["status_code"] == 3, read(server.url, path)
            # Everything that was seen is there without TMDB.
            fake.stop()
            compare(questions + AGAIN)
            assert libraries(server.url) == expected
            pictures()
            assert "theirs" not in open(server.log.name, errors="replace").read()
    return f"{len(questions)} questions of {len(QUESTIONS)} clients"
