"""Tries requests that leave through proxies: tinyproxy and microsocks."""

import io
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from server import Program, free_port, get, tool


def origin(picture, certificate=None):
    """A server of one picture on this machine, and the paths that it was asked for."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "image/jpeg")
            self.send_header("Content-Length", str(len(picture)))
            self.end_headers()
            self.wfile.write(picture)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, asked


def check_outbound_proxies(context):
    """Each source has its proxy, of HTTP or SOCKS. If one fails, the error names it, and the host stays in good repute."""
    Image = context.module("PIL.Image")
    tinyproxy, microsocks = tool("tinyproxy"), tool("microsocks")
    drawn = io.BytesIO()
    Image.effect_noise((100, 150), 60).convert("RGB").save(drawn, "JPEG")
    certificate = context.certificate()
    plain, asked = origin(drawn.getvalue())
    secure, asked_securely = origin(drawn.getvalue(), certificate)
    places = {"http": f"http://localhost:{plain.server_port}", "https": f"https://localhost:{secure.server_port}"}
    ports, room, other = [free_port(), free_port()], context.new_folder("tinyproxy"), context.new_folder("microsocks")
    (room / "tinyproxy.conf").write_text(
        f"Port {ports[0]}\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\nAllow 127.0.0.1\nBasicAuth me pass\nLogLevel Connect\n"
        f"ConnectPort {secure.server_port}\n")
    proxies = {
        "tiny": f"http://me:pass@127.0.0.1:{ports[0]}", "socks": f"socks5://127.0.0.1:{ports[1]}",
        "unknown": f"http://127.0.0.1:{ports[0]}", "gone": f"http://127.0.0.1:{free_port()}", "direct": None}
    sources = ", ".join(
        f"""{name}-{scheme}: {{ type: remote, allow: ["{place}/{name}/"], networks: [loopback]{f', proxy: "{proxy}"' if proxy else ''} }}"""
        for name, proxy in proxies.items() for scheme, place in places.items())
    try:
        with Program([tinyproxy, "-d", "-c", str(room / "tinyproxy.conf")], ports[0], room) as tiny, \
                Program([microsocks, "-i", "127.0.0.1", "-p", str(ports[1])], ports[1], other) as socks, \
                context.server(f"trustedAuthorities: {certificate[0]}", sources) as server:

            def shown(name, scheme, number=1):
                return get(f"{server.url}/i/unsafe/w:50/f:jpg/plain/{places[scheme]}/{name}/{number}.jpg")

            for name in ["tiny", "socks"]:
                for scheme in places:
                    for number in range(3):
                        status, _, body = shown(name, scheme, number)
                        assert status == 200 and Image.open(io.BytesIO(body)).size == (50, 75), (name, scheme, status, body[:300])
            log = open(tiny.log.name, errors="replace").read()
            assert f"CONNECT 127.0.0.1:{secure.server_port}" in log and f"GET http://127.0.0.1:{plain.server_port}/tiny/0.jpg" in log, log
            log = open(socks.log.name, errors="replace").read()
            assert all(f"127.0.0.1:{port}" in log for port in [plain.server_port, secure.server_port]), log
            for name, words in [("unknown", "asks for a user and a password"), ("gone", "the connection was refused")]:
                for scheme in places:
                    for number in range(4):
                        status, _, body = shown(name, scheme, number)
                        told = f"the proxy {proxies[name]} " in body.decode() and words in body.decode()
                        assert status == 502 and told, (name, scheme, status, body)
            for scheme in places:
                status, _, body = shown("direct", scheme)
                assert status == 200, (scheme, status, body)
            assert len(asked) == len(asked_securely) == 7, (asked, asked_securely)
            # Neither a user nor a password is in the log.
            log = open(server.log.name, errors="replace").read()
            assert "me:" not in log and "pass@" not in log, log
    finally:
        for one in [plain, secure]:
            one.shutdown()
            one.server_close()
    return "http and https, by tinyproxy with a password and by microsocks"
