"""Clients of Jellyfin, Emby and Plex behind nginx, with the rules of docs/media-servers.md: their requests, as their sources build them."""

import io
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit
from urllib.request import urlopen

from proxies import configure
from server import Program, free_port, get, tool

ITEM = "f27caa37e5142225cceded48f6553502"
TAG = "9f2c0a4be1d34e0c8f3b6a7d5e2c1b0a"

# Addresses of clients, and the sides of what they get of a picture of 1000 × 1500.
JELLYFIN = {
    "Jellyfin's web page": {f"/Items/{ITEM}/Images/Primary?fillHeight=340&fillWidth=227&quality=96&tag={TAG}": (267, 400)},
    "Swiftfin": {f"/Items/{ITEM}/Images/Primary?maxWidth=600&tag={TAG}": (640, 960)},
    "Jellyfin for Kodi": {
        f"/Items/{ITEM}/Images/Primary/0?Format=original&Tag={TAG}": (1000, 1500),
        f"/Items/{ITEM}/Images/Backdrop/1?Format=original&Tag={TAG}&MaxWidth=400": (400, 600),
    },
    "EmbyCon": {
        f"/emby/Items/{ITEM}/Images/Primary/0?MaxWidth=1000&MaxHeight=1000&Format=original&Tag={TAG}&EnableImageEnhancers=false": (853, 1280)},
    "Emby's web page": {f"/emby/Items/1234/Images/Primary?tag={TAG}&maxHeight=300&quality=90": (213, 320)},
    "an app for Roku": {f"/Items/{ITEM}/Images/Thumb?maxHeight=300&maxWidth=464&quality=90&tag={TAG}": (213, 320)},
    "a page of one's own": {f"/Items/{ITEM}/Images/Primary?fillWidth=320&quality=85&api_key=theirs": (320, 480)},
}
PLEX = {
    "Plex's web page": {
        "/photo/:/transcode?width=240&height=360&minSize=1&upscale=1&url=" + quote("/library/metadata/1/thumb/17?X-Plex-Token=theirs", safe="")
        + "&X-Plex-Token=theirs": (267, 400)},
    "a tool that knows the server by its address": {
        "/photo/:/transcode?width=512&height=512&url=http%3A%2F%2F127.0.0.1%3A32400%2Flibrary%2Fmetadata%2F1%2Fthumb%2F17": (427, 640)},
}


class FakeMediaServer:
    """Jellyfin, Emby and Plex on this machine. Counts what it is asked, and answers what is no picture with its own name."""

    def __init__(self, picture):
        self.pictures, self.others, fake = [], [], self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                url = urlsplit(self.path)
                is_picture = "/Images/" in url.path or self.headers["X-Plex-Token"] == "ours"
                if is_picture and set(parse_qs(url.query)) <= {"tag"}:
                    fake.pictures.append(self.path)
                    return self.send(200, "image/jpeg", picture)
                fake.others.append((self.command, self.path))
                self.send(200, "text/plain", b"the media server")

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                fake.others.append((self.command, self.path))
                self.send(204, "text/plain", b"")

            def send(self, status, kind, body):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "public, max-age=31536000")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def rules(server, fake):
    """The rules of the page, with the ports of this check."""
    page = (Path(__file__).parents[2] / "docs/media-servers.md").read_text()
    blocks = re.findall(r"```nginx\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2, blocks
    text = "".join(blocks)
    for old, new in [(8080, server.port), (8096, fake.port), (32400, fake.port)]:
        text = text.replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}")
    return f"{text} location / {{ proxy_pass http://127.0.0.1:{fake.port}; }}"


def check_media_servers(context):
    """Clients of media servers get pictures of this server through nginx, and everything else from the media server."""
    Image = context.module("PIL.Image")
    plexapi, jellyfin = context.module("plexapi.server"), context.module("jellyfin_apiclient_python")
    nginx = tool("nginx")
    drawn = io.BytesIO()
    Image.effect_noise((1000, 1500), 60).convert("RGB").save(drawn, "JPEG")
    with FakeMediaServer(drawn.getvalue()) as fake:
        url = f"http://127.0.0.1:{fake.port}"
        sources = f"""jellyfin: {{ type: rest, manifest: jellyfin, baseURL: "{url}", variables: {{ token: ours }}, networks: [loopback] }},
            plex: {{ type: rest, manifest: plex, baseURL: "{url}", headers: {{ X-Plex-Token: ours }}, networks: [loopback] }}"""
        keys = "clients: { trustedProxies: [] }\naccessLog: { path: stdout }"
        with context.server(keys, sources, dialects="jellyfin, plex") as server:
            port, room = free_port(), context.new_folder("nginx-media")
            configure(room, f"server {{ listen 127.0.0.1:{port}; {rules(server, fake)} }}")
            with Program([nginx, "-c", str(room / "nginx.conf"), "-p", str(room), "-e", str(room / "error.log")], port, room):
                base = f"http://127.0.0.1:{port}"

                def shows(address, sides):
                    status, fields, body = get(address, Origin="https://app.example")
                    assert status == 200 and fields["content-type"] == "image/jpeg", (address, status, body[:300])
                    size = Image.open(io.BytesIO(body)).size
                    assert all(abs(a - b) <= 1 for a, b in zip(size, sides)), (address, size)
                    assert fields["access-control-allow-origin"] == "*" and "cache-status" in fields, fields

                for name, addresses in JELLYFIN.items():
                    for path, sides in addresses.items():
                        shows(base + path, sides)
                        shows(base + path, sides)
                for addresses in PLEX.values():
                    for path, sides in addresses.items():
                        shows(base + path + ("" if "theirs" in path else "&X-Plex-Token=theirs"), sides)
                # The libraries of other programs.
                client = jellyfin.JellyfinClient()
                client.config.data["auth.server"], client.config.data["auth.token"] = base, "theirs"
                api = client.jellyfin
                for address, sides in [
                        (api.artwork(ITEM, "Primary", 300), (320, 480)), (api.artwork(ITEM, "Backdrop", 300, index=1), (320, 480))]:
                    shows(address, sides)
                plex = plexapi.PlexServer.__new__(plexapi.PlexServer)
                plex._baseurl, plex._token, plex._showSecrets = base, "theirs", True
                shows(plex.transcodeImage("/library/metadata/1/thumb/17", height=360, width=240), (267, 400))
                # One original for each picture, and nothing else was asked of the media server.
                assert len(fake.pictures) == len(set(fake.pictures)) and not fake.others, (fake.pictures, fake.others)
                # What is no picture of ours is the media server's.
                for path in [f"/Items/{ITEM}", f"/Items/{ITEM}/Images/Primary?blur=20&tag={TAG}", f"/Items/{ITEM}/Images", "/web/index.html",
                             "/photo/:/transcode?url=/:/scrobble&width=1&X-Plex-Token=theirs"]:
                    assert get(base + path)[2] == b"the media server", path
                upload = urlopen(f"{base}/Items/{ITEM}/Images/Primary", b"x" * 1000).status
                assert upload == 204 and ("POST", f"/Items/{ITEM}/Images/Primary") in fake.others, (upload, fake.others)
                # A new tag is a new picture.
                shows(f"{base}/Items/{ITEM}/Images/Primary?maxWidth=64&tag={TAG[::-1]}", (64, 96))
                assert fake.pictures[-1].endswith(TAG[::-1]), fake.pictures
            assert "theirs" not in open(server.log.name, errors="replace").read()
            # Pictures that were seen are there without the media server.
            fake.server.shutdown()
            fake.server.server_close()
            status, fields, _ = get(server.url + next(iter(JELLYFIN["Swiftfin"])))
            assert status == 200 and "hit" in fields["cache-status"], (status, fields)
    return f"{len(JELLYFIN) + len(PLEX)} clients, and two libraries"
