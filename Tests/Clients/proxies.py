"""Tries the server behind Varnish and nginx."""

import os
import re
from pathlib import Path

from context import POSTER
from server import Program, free_port, get, ipv6, run, tool


def check_varnish(context):
    """Varnish keeps images, and neither health nor problems."""
    varnishd = tool("varnishd")
    with context.server() as server:
        port, room = free_port(), context.new_folder("varnish")
        vcl = room / "default.vcl"
        vcl.write_text(f'vcl 4.1; backend default {{ .host = "127.0.0.1"; .port = "{server.port}"; }}\n')
        command = [varnishd, "-F", "-j", "none", "-n", str(room / "work"), "-a", f"127.0.0.1:{port}", "-f", str(vcl), "-s", "malloc,32m"]
        with Program(command, port, room):
            base = f"http://127.0.0.1:{port}"

            def is_hit(path, **fields):
                get(base + path, **fields)
                return len(get(base + path, **fields)[1]["x-varnish"].split()) == 2

            assert is_hit(POSTER)
            assert is_hit("/3/configuration") and is_hit("/3/configuration", Accept_Encoding="gzip")
            for path in ["/health", "/ready", "/metrics", "/t/p/w1/sample/1", "/t/p/w92/sample/none.jpg"]:
                assert not is_hit(path), path
            tag = get(base + POSTER)[1]["etag"]
            assert get(base + POSTER, If_None_Match=tag)[0] == 304
            status, fields, body = get(base + POSTER, Range="bytes=0-9")
            assert status == 206 and len(body) == 10, (status, fields)


def configure(room, http):
    """Writes a configuration for an nginx that keeps all its files in `room`, with `http` in its block of that name."""
    (room / "nginx.conf").write_text(f"""
{'user root;' if os.getuid() == 0 else ''} daemon off; pid {room}/pid; error_log {room}/error.log; worker_processes 1;
events {{}}
http {{
  access_log off; client_body_temp_path {room}/b; proxy_temp_path {room}/p; fastcgi_temp_path {room}/f;
  uwsgi_temp_path {room}/u; scgi_temp_path {room}/s;
  {http}
}}
""")


def check_nginx(context):
    """nginx keeps images as a proxy does, and asks again for what may not be kept."""
    nginx = tool("nginx")
    with context.server() as server:
        port, room = free_port(), context.new_folder("nginx")
        configure(room, f"""
  proxy_cache_path {room}/cache keys_zone=images:1m;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass {server.url}; proxy_cache images; proxy_cache_revalidate on; proxy_set_header Host $http_host;
      add_header X-Cache $upstream_cache_status always;
    }}
  }}
""")
        with Program([nginx, "-c", str(room / "nginx.conf"), "-p", str(room), "-e", str(room / "error.log")], port, room):
            base = f"http://127.0.0.1:{port}"

            def cache(path, **fields):
                get(base + path, **fields)
                return get(base + path, **fields)[1].get("x-cache")

            # nginx names a file of its cache a moment after its answer.
            kept = [get(base + POSTER)[1].get("x-cache") for _ in range(20)]
            assert kept[-1] == "HIT", kept
            for path in ["/health", "/ready", "/t/p/w1/sample/1"]:
                assert cache(path) == "MISS", (path, cache(path))
            # What may be kept for no time is asked for each time.
            assert cache("/sources") in ("MISS", "REVALIDATED", "EXPIRED"), cache("/sources")
            kinds = [get(base + "/t/p/w185/sample/2", Accept=kind)[1]["content-type"] for kind in ["image/webp", "image/png", "image/webp"]]
            assert kinds == ["image/webp", "image/png", "image/webp"], kinds
            direct = get(server.url + POSTER)[2]
            assert get(base + POSTER)[2] == direct


def check_nginx_sample(context):
    """nginx with examples/deploy/nginx.conf in front of a server on a Unix socket, without and with its lines for a certificate."""
    nginx, (certificate, key) = tool("nginx"), context.certificate()
    sample = (Path(__file__).parent.parent.parent / "examples/deploy/nginx.conf").read_text()
    room = context.new_folder("nginx")
    os.chmod(room, 0o755)
    keys = "signing: { keys: [{ key: 0a0b, salt: 0c0d }] }"
    with context.server(keys, socket=room / "onesheet.sock") as server:
        for secure in [False, True]:
            plain_port, port = free_port(), free_port()
            text = sample.replace("/run/onesheet/onesheet.sock", str(server.socket))
            if secure:
                text, count = re.subn(r"(?m)^    # (?=(listen|ssl_\w+|add_header) .*;$)", "    ", text)
                assert count >= 8, count
                text = re.sub(r"ssl_certificate [^;]*", f"ssl_certificate {certificate}", text)
                text = re.sub(r"ssl_certificate_key [^;]*", f"ssl_certificate_key {key}", text)
            # Ports that anyone may use, on this machine only, and the second one only if it has that version of IP.
            text = re.sub(r"listen 80;", f"listen 127.0.0.1:{plain_port};", text)
            text = re.sub(r"listen \[::\]:80;", f"listen [::1]:{plain_port};" if ipv6() else "", text)
            text = re.sub(r"listen 443 ", f"listen 127.0.0.1:{port} ", text)
            text = re.sub(r"listen \[::\]:443 [^;]*;", f"listen [::1]:{port} ssl http2;" if ipv6() else "", text)
            (room / "sample.conf").write_text(text)
            configure(room, f"include {room}/sample.conf;")
            command = [nginx, "-c", str(room / "nginx.conf"), "-p", str(room), "-e", str(room / "error.log")]
            code, printed = run(*command, "-t")
            assert code == 0 and "warn" not in printed, printed
            with Program(command, port if secure else plain_port, room):
                base = f"https://posters.example.com:{port}" if secure else f"http://posters.example.com:{plain_port}"

                def ask(path, *options, host="127.0.0.1"):
                    where = f"posters.example.com:{port if secure else plain_port}:{host}"
                    return run(tool("curl"), "-siS", "--insecure", "--resolve", where, *options, base + path)[1]

                answer = ask(POSTER, "-o", str(room / "poster"), "-D", "-")
                assert " 200" in answer.splitlines()[0] and "image/jpeg" in answer, answer
                assert re.search(r"(?mi)^server: nginx\s*$", answer), answer
                assert ("strict-transport-security: max-age=31536000" in answer.lower()) == secure, answer
                assert f'"base_url":"{base}/t/p/"' in ask("/3/configuration").replace("\\/", "/").replace(" ", ""), ask("/3/configuration")
                # HTTP/1.0 needs no Host.
                assert " 200" in ask("/health", "--http1.0", "-H", "Host:").splitlines()[0]
                assert " 200" in ask("/metrics").splitlines()[0]
                if ipv6():
                    assert " 200" in ask("/health", host="[::1]").splitlines()[0]
                if secure:
                    assert " 200" in ask("/health", "--tls-max", "1.2").splitlines()[0]
                    assert "HTTP/" not in ask("/health", "--tls-max", "1.2", "--ciphers", "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA")
