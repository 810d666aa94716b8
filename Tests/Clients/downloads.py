"""Tries downloads with wget and HTTPie: whole files, the rest of a file, files that have not changed, compressed text, and errors."""

import json
import os
import sys
import time

from context import POSTER
from server import Program, free_port, get, run, tool


def check_wget(context):
    """wget downloads a picture, only what is missing of it, and only if it has changed; it reads the whole page without scripts."""
    wget, room = tool("wget"), context.new_folder("wget")
    origin = room / "origin"
    origin.mkdir()
    with context.server() as server:
        (origin / "poster.jpg").write_bytes(get(server.url + POSTER)[2])
    # An origin that tells when a file was modified, an hour ago.
    os.utime(origin / "poster.jpg", (time.time() - 3600,) * 2)
    port = free_port()
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(origin), str(port)]
    sources = f"sample: {{ type: sample }}, web: {{ type: remote, networks: [loopback], allow: ['http://127.0.0.1:{port}/'] }}"
    with Program(command, port, room), context.server(sources=sources) as server:
        whole = get(server.url + POSTER)[2]
        address, file = f"{server.url}/i/unsafe/w:92/plain/http://127.0.0.1:{port}/poster.jpg", room / "poster.jpg"

        def download(*options):
            return run(wget, "--server-response", "--no-verbose", "--tries=1", *options, cwd=room)

        code, text = download("--timestamping", address)
        assert code == 0 and file.read_bytes().startswith(b"\xff\xd8"), text
        code, text = download("--timestamping", address)
        assert code == 0 and "304 Not Modified" in text, text
        (room / "1.jpg").write_bytes(whole[:1000])
        code, text = download("--continue", server.url + POSTER)
        assert code == 0 and "206 Partial Content" in text and (room / "1.jpg").read_bytes() == whole, text
        code, text = download("--compression=auto", "-O", "page", server.url + "/")
        assert code == 0 and "Content-Encoding: gzip" in text, text
        assert (room / "page").read_text().startswith("<!doctype html>")
        code, text = download(f"{server.url}/t/p/w92/sample/none.jpg")
        assert code == 8 and " 404 " in text, (code, text)
        code, text = download("--recursive", "--level=1", "--directory-prefix=mirror", server.url + "/?plain")
        pictures = [path for path in (room / "mirror").rglob("*") if "/t/p/" in str(path) and path.is_file()]
        assert code == 0 and len(pictures) >= 12, (code, text[-2000:])
        return f"{len(pictures)} pictures mirrored"


def check_httpie(context):
    """HTTPie downloads and continues pictures, shows JSON, and ends with the status of an error."""
    http, room, (certificate, key) = tool("http"), context.new_folder("httpie"), context.certificate()

    def ask(*options):
        return run(http, "--ignore-stdin", "--check-status", *options, cwd=room)

    with context.server() as server:
        whole = get(server.url + POSTER)[2]
        code, text = ask("--download", "--output=1.jpg", server.url + POSTER)
        assert code == 0 and (room / "1.jpg").read_bytes() == whole, text
        (room / "2.jpg").write_bytes(whole[:1000])
        code, text = ask("--download", "--continue", "--print=h", "--output=2.jpg", server.url + POSTER)
        assert code == 0 and "206 Partial Content" in text and (room / "2.jpg").read_bytes() == whole, text
        code, text = ask("--print=b", "--pretty=none", server.url + "/sources")
        assert code == 0 and json.loads(text)["sources"][0]["name"] == "sample", text
        code, text = ask("--print=hb", "--pretty=none", f"{server.url}/t/p/w92/sample/none.jpg")
        assert code == 4 and "no title “none”" in text, (code, text)
        code, text = ask("--print=h", server.url + POSTER, "If-None-Match:" + get(server.url + POSTER)[1]["etag"])
        assert code == 3 and "HTTP/1.1 304 " in text, (code, text)
    with context.server(f"tls: {{ certificate: {certificate}, key: {key} }}") as server:
        code, text = ask("--verify", str(certificate), "--print=h", f"https://localhost:{server.port}/health")
        assert code == 0 and " 200" in text.splitlines()[0], text
