"""A service that answers as TMDB does, or fails."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

FILE = "kqjL17yufvn9OVLyXYpvtyrFfak"
NOTHING = {"success": False, "status_code": 34, "status_message": "The resource you requested could not be found."}
LISTS = ["popular", "top_rated", "now_playing", "upcoming", "on_the_air", "airing_today", "recommendations", "similar"]


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
        if words[0] in ["movie", "tv"] and "404" in words:
            return 404, NOTHING
        if words[0] in ["search", "discover", "trending"] or words[-1] in LISTS:
            found = {"id": 550, "title": "Zwölf <&> \"Fenster\" 北", "poster_path": f"/{FILE}.jpg", "vote_average": 8.438, "about": meaning,
                     "backdrop_path": None, "media_type": "movie", "query": query.get("query", [""])[0].lower()}
            return 200, {"page": meaning["page"], "results": [found], "total_pages": 1, "total_results": 1}
        if words[-1] == "images":
            file = {"file_path": f"/{FILE}.jpg", "iso_639_1": None, "width": 1000, "height": 1500, "vote_average": 5.3, "vote_count": 9}
            return 200, {"id": 550, "about": meaning, "path": words, "posters": [file], "backdrops": [], "logos": []}
        film = {"id": 550, "title": "Fight Club", "poster_path": f"/{FILE}.jpg"}
        document = {"id": 550, "about": meaning, "path": words, "title": "Fight Club", "release_date": "1999-10-15", "popularity": 1e-3,
                    "poster_path": f"/{FILE}.jpg", "overview": "", "homepage": None}
        if words[0] == "collection":
            document["parts"] = [film, {**film, "id": 404}]
        for name in query.get("append_to_response", [""])[0].replace(" ", "").split(","):
            document[name] = {"results": [{"key": name, "file_path": f"/{FILE}.jpg", "iso_639_1": None}]}
        return 200, document
