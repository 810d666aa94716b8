"""Tries how the server speaks HTTP and TLS, with tools that judge it."""

import json

from context import POSTER
from server import get, run, tool


def check_http2(context):
    """nghttp and h2load over TLS."""
    nghttp, h2load = tool("nghttp"), tool("h2load")
    certificate, key = context.certificate()
    with context.server(f"tls: {{ certificate: {certificate}, key: {key} }}") as server:
        base = server.url.replace("http:", "https:")
        code, text = run(nghttp, "-nv", "--no-verify-peer", base + POSTER, base + "/health", base + "/sources")
        assert code == 0 and text.count(":status: 200") == 3, text[-3000:]
        assert "GOAWAY" not in text or "error_code=NO_ERROR" in text, text[-3000:]
        code, text = run(h2load, "-n", "2000", "-c", "4", "-m", "20", base + POSTER)
        assert code == 0 and "2000 succeeded, 0 failed" in text and "2000 2xx" in text, text[-3000:]


def check_tls(context):
    """TLS 1.2 and 1.3 with authenticated encryption only, by openssl; `tls.hsts` is sent."""
    openssl, (certificate, key) = tool("openssl"), context.certificate()
    with context.server(f"tls: {{ certificate: {certificate}, key: {key}, hsts: 365d }}") as server:

        def agree(*options):
            request = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            code, text = run(openssl, "s_client", "-connect", f"127.0.0.1:{server.port}", "-quiet", *options, input=request)
            return text if "HTTP/1.1 200" in text else None

        for suite in ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]:
            assert agree("-tls1_2", "-cipher", f"ECDHE-ECDSA-{suite}"), suite
        assert "strict-transport-security: max-age=31536000" in agree("-tls1_3").lower()
        for options in [["-tls1_2", "-cipher", f"ECDHE-ECDSA-{suite}:@SECLEVEL=0"] for suite in ["AES128-SHA", "AES256-SHA"]] + [
            ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_2", "-cipher", "kRSA:@SECLEVEL=0"]]:
            assert not agree(*options), options


def check_testssl(context):
    """testssl.sh finds nothing that a server should not offer, and no known weakness."""
    testssl, (certificate, key), report = tool("testssl"), context.certificate(), context.new_folder("testssl") / "report.json"
    with context.server(f"tls: {{ certificate: {certificate}, key: {key} }}") as server:
        code, text = run(
            testssl, "--quiet", "--color", "0", "--warnings", "off", "--jsonfile", str(report), "-p", "-s", "-f", "-U",
            f"127.0.0.1:{server.port}")
        findings = json.loads(report.read_text())
        good = [finding for finding in findings if finding["severity"] == "OK"]
        # A compressed page matters only if it has secrets beside what a stranger sent, and the page has none. The engines are those of
        # the openssl that testssl.sh runs, not of the server.
        ignored = ("BREACH", "engine_problem")
        bad = [finding for finding in findings if finding["severity"] not in ("OK", "INFO") and finding["id"] not in ignored]
        assert code == 0 and not bad and len(good) > 20, (code, bad, text[-3000:])
        return f"{len(good)} findings"


def check_redbot(context):
    """redbot finds nothing wrong with how the server speaks HTTP."""
    redbot = context.python_tool("redbot")
    with context.server() as server:
        get(server.url + POSTER)
        bad, warnings = [], set()
        for path in [POSTER, "/i/unsafe/w:100/plain/sample://1@png", "/sources", "/3/configuration", "/", "/metrics", "/health"]:
            code, text = run(redbot, "-o", "har", server.url + path)
            assert code == 0, (path, text[-2000:])
            (entry,) = json.loads(text)["log"]["entries"]
            assert entry["response"]["status"] == 200 and entry["_red_messages"], (path, entry["response"])
            for message in entry["_red_messages"]:
                if message["level"] == "BAD":
                    bad.append(f"{path}: {message}")
                elif message["level"] == "WARN":
                    warnings.add(f"{path}: {message['note_id']}")
        assert not bad, "\n".join(bad)
        # Each response says how long it may be cached, and has a validator.
        assert not [warning for warning in warnings if "FRESHNESS_" in warning], warnings
        return ", ".join(sorted(warnings))
