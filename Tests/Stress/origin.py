"""An origin of pictures and a service of titles, honest or hostile as the path says.

    python3 origin.py FOLDER PORT HOST…

Serves the pictures in FOLDER on PORT of each HOST (addresses of 127.0.0.0/8). Paths:

    /good/{w}x{h}/{name}.jpg|png      a picture of one colour, which the name decides
    /file/{picture}/{anything}        a picture of FOLDER
    /drip/…  /hung/…  /cut/…          declares 32 MiB and sends a byte a second; says nothing; ends in the middle
    /retry/…  /empty/…  /error/…      503 with Retry-After: 600; 200 without a byte; 500
    /closing/{ms}/{name}.jpg          a good picture, and the connection is closed so many milliseconds after the answer
    /stale/{ms}/{name}.jpg            a good picture that is fresh for a second and takes so long
    /to/{url}                         a redirect to the URL, percent-encoded
    /gzip/{name}.png  /gzip-bomb/…    a good picture, gzip-coded; a gigabyte that deflates to a megabyte
    /endless-head/… /endless-body/… /interim/…  /chunks/…    heads, chunks and 1xx without an end, chunks of a byte
    /status/{n}/…                     status lines that no server may send
    /api/…  /quota/…  /kobis/…        titles, see `service`
    /media/…                         images of a media server, of any item, kind and tag but “none”
    /tmdb/…  /files/{name}.jpg        an API of films; its pictures, of which those exist whose name begins with “known”
    /counts                           how often each of these was asked for, and the most calls of /tmdb/… in WINDOW seconds, as JSON
"""

import asyncio, collections, functools, json, os, sys, time, urllib.parse, zlib

import pictures

counts = collections.Counter()
calls = collections.deque()     # the moments of those to the API of films, as far as they are in the window
WINDOW = 10                     # seconds


@functools.lru_cache(maxsize=64)
def good(size, name, extension):
    width, height = (min(int(n), 4000) for n in size.split("x"))
    make = pictures.flat_png if extension == "png" else pictures.flat_jpeg
    return make(width, height, pictures.color_of(name))


@functools.lru_cache(maxsize=8)
def read(path):
    with open(path, "rb") as file:
        return file.read()


@functools.lru_cache(maxsize=1)
def gzip_bomb():
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    mega = bytes(1 << 20)
    return b"".join(packer.compress(mega) for _ in range(1024)) + packer.flush()


def gzipped(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def answer(body, status="200 OK", **fields):
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def title(id):
    return {"id": id, "name": f"Film {id}", "year": "2026"}


STATUSES = ("099", "000", "001", "99", "1000", "-1", "999", "199", "101", "100", "2OO", "", "200\x00", "600")
BIG = b'{"items":[' + b'"a",' * (30 << 18) + b'"a"]}'
BRACKETS = b"[" * (4 << 20)


def service(origin, kind, query):
    """The service of titles. `kind` is list, search, title or pictures; a phrase or an id says how it answers."""
    word = query.get("query", query.get("id", ""))
    if word.startswith("big"):
        return BIG
    if word.startswith("deep"):
        return BRACKETS
    if word.startswith("unknown"):
        return None
    if kind == "list":
        return {"items": [title(str(n)) for n in range(1, 41)], "total": 40, "pages": 1}
    if kind == "search":
        total = {"intmax": 2**63 - 1, "negative": -2**63, "huge": 10**40, "nan": "nan"}.get(word.split("-")[0], 1)
        numbers = {"intmax": str(2**63 - 1), "negative": "-inf", "huge": "1e999", "nan": "nan"}
        number = numbers.get(word.split("-")[0], "1")
        return {"items": [{**title(word), "number": number, "rank": number, "whole": number}], "total": total}
    if kind == "title":
        number = {"nan": "nan", "inf": "1e999", "minus": "-inf"}.get(word.split("-")[0], "1.5")
        return {**title(word), "number": number}
    if word.startswith("election"):
        names = [name for name in os.listdir(folder) if not name.startswith("large")]
        start = sum(word.encode())
        chosen = [names[(start + n * 7) % len(names)] for n in range(10)]
        origin = f"127.0.0.5:{origin.rpartition(':')[2]}"
        urls = [f"http://{origin}/file/{name}/{word}-{n}" for n, name in enumerate(chosen)]
        urls[-1] = f"http://{origin}/good/600x900/{word}.jpg"
        return {"items": [{"url": url, "width": 600, "height": 900} for url in urls]}
    return {"items": [{"url": f"http://{origin}/good/600x900/{urllib.parse.quote(word, safe='')}.jpg", "width": 600, "height": 900}]}


def box_office(word):
    row = {"rnum": "1", "rank": "1", "rankInten": "0", "rankOldAndNew": "OLD", "movieCd": "20260001", "movieNm": "Film", "openDt": "2026-11-01",
           "salesAmt": "1", "salesShare": word, "salesInten": "0", "salesChange": word, "salesAcc": "1", "audiCnt": "1", "audiInten": "0",
           "audiChange": word, "audiAcc": "1", "scrnCnt": "1", "showCnt": "1"}
    return {"boxOfficeResult": {"boxofficeType": "daily", "showRange": "20261120~20261120", "dailyBoxOfficeList": [row]}}


async def respond(origin, path, writer):
    """Writes the answer to `path`; returns whether the connection stays open."""
    parsed = urllib.parse.urlsplit(path)
    parts = parsed.path.split("/")[1:]
    kind, name = parts[0], parts[-1]
    counts[kind] += 1
    send, close = writer.write, False
    if kind == "good" or kind == "closing" or kind == "stale" or kind == "gzip":
        stem, _, extension = name.rpartition(".")
        data = good(parts[1] if kind == "good" else "600x900", urllib.parse.unquote(stem), extension)
        kind_of = f"image/{'png' if extension == 'png' else 'jpeg'}"
        if kind == "stale":
            await asyncio.sleep(int(parts[1]) / 1000)
            send(answer(data, Content_Type=kind_of, Cache_Control="max-age=1, stale-while-revalidate=600"))
        elif kind == "gzip":
            send(answer(gzipped(data), Content_Type=kind_of, Content_Encoding="gzip"))
        else:
            send(answer(data, Content_Type=kind_of, Cache_Control="max-age=86400"))
        if kind == "closing":
            await writer.drain()
            await asyncio.sleep(int(parts[1]) / 1000)
            return False
    elif kind == "file":
        send(answer(read(os.path.join(folder, os.path.basename(parts[1]))), Content_Type="image/png", Cache_Control="max-age=86400"))
    elif kind == "passing":
        # There once, and then never again.
        counts[path] += 1
        if counts[path] == 1:
            send(answer(read(os.path.join(folder, os.path.basename(parts[1]))), Content_Type="image/png",
                        Cache_Control="max-age=1, stale-while-revalidate=20, stale-if-error=86400"))
        else:
            send(answer(b"", "503 Service Unavailable"))
    elif kind == "drip":
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\nContent-Type: image/jpeg\r\n\r\n")
        for _ in range(120):
            send(b"\xff")
            await writer.drain()
            await asyncio.sleep(1)
        return False
    elif kind == "hung":
        await asyncio.sleep(120)
        return False
    elif kind == "cut":
        send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\nContent-Type: image/jpeg\r\n\r\n" + bytes(50000))
        await writer.drain()
        return False
    elif kind == "retry":
        send(answer(b"later", "503 Service Unavailable", Retry_After="600"))
    elif kind == "error":
        send(answer(b"broken", "500 Internal Server Error"))
    elif kind == "empty":
        send(answer(b"", Content_Type="image/jpeg"))
    elif kind == "to":
        send(answer(b"", "302 Found", Location=urllib.parse.unquote(parsed.path[4:])))
    elif kind == "gzip-bomb":
        send(answer(gzip_bomb(), Content_Type="image/png", Content_Encoding="gzip"))
    elif kind == "endless-head":
        send(b"HTTP/1.1 200 OK\r\n")
        for _ in range(100_000):
            send(b"X-Field: " + b"a" * 1000 + b"\r\n")
            await writer.drain()
        return False
    elif kind == "endless-body":
        send(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(2000):
            send(b"10000\r\n" + bytes(65536) + b"\r\n")
            await writer.drain()
        return False
    elif kind == "status":
        status = STATUSES[int(parts[1]) % len(STATUSES)]
        fields = ("", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n")[int(parts[1]) // len(STATUSES) % 3]
        send(f"HTTP/1.1 {status} x\r\n{fields}\r\n5\r\nhello\r\n0\r\n\r\n".encode())
        await writer.drain()
        return False
    elif kind == "chunks":
        send(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(200):
            send(b"1;" + b"x" * 500 + b"\r\na\r\n")
            await writer.drain()
        send(b"0\r\n\r\n")
    elif kind == "interim":
        for _ in range(20_000):
            send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
            await writer.drain()
        return False
    elif kind in ("api", "quota", "kobis"):
        query = dict(urllib.parse.parse_qsl(parsed.query))
        counts[f"{kind}/{parts[1]}"] += 1
        if kind == "kobis":
            value = box_office("nan")
        else:
            value = service(origin, parts[1], query)
        if value is None:
            send(answer(b"{}", "404 Not Found", Content_Type="application/json"))
        else:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            send(answer(data, Content_Type="application/json"))
    elif kind == "files":
        known = name.startswith("known")
        send(answer(good("600x900", name, "jpg"), Content_Type="image/jpeg") if known else answer(b"", "404 Not Found"))
    elif kind == "media":
        is_picture = parts[1] == "Items" and parts[3] == "Images" or parts[-1].isdigit() and parts[-2] in ("thumb", "art")
        counts["media" if is_picture else "media-others"] += 1
        missing = "none" in path
        send(answer(b"", "404 Not Found") if missing else answer(good("600x900", path[-8:], "jpg"), Content_Type="image/jpeg"))
    elif kind == "tmdb":
        counts["tmdb/551"] += name == "551"
        calls.append(time.monotonic())
        while calls[0] < calls[-1] - WINDOW:
            calls.popleft()
        counts["tmdb/most"] = max(counts["tmdb/most"], len(calls))
        query = dict(urllib.parse.parse_qsl(parsed.query))
        word = query.get("query", name)
        if name == "images" or "/find/" in parsed.path:
            data = json.dumps({
                "posters": [{"file_path": f"/known{len(parsed.path) % 50}.jpg", "iso_639_1": "de"}],
                "movie_results": [{"id": 550}] if name.startswith("tt1") else []}).encode()
            send(answer(data, Content_Type="application/json"))
        elif word.startswith("none"):
            send(answer(b'{"status_code":34,"status_message":"none"}', "404 Not Found", Content_Type="application/json"))
        else:
            data = BIG if word.startswith("big") else json.dumps({"id": 1, "release_date": "1990-01-01", "query": query}).encode()
            send(answer(data, Content_Type="application/json"))
    elif kind == "counts":
        send(answer(json.dumps(counts).encode(), Content_Type="application/json"))
    else:
        send(answer(b"", "404 Not Found"))
    await writer.drain()
    return not close


async def serve(reader, writer):
    counts["connections"] += 1
    origin = "%s:%d" % writer.get_extra_info("sockname")[:2]
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode("latin-1")
            if not await respond(origin, path, writer):
                break
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError, ValueError):
        pass
    finally:
        writer.close()


async def main():
    if "127.0.0.20" in sys.argv[3:]:
        gzip_bomb()             # now, so that nobody waits for it
    for host in sys.argv[3:]:
        await asyncio.start_server(serve, host, int(sys.argv[2]), limit=1 << 20, backlog=1024)
    print("ready", flush=True)
    # Ends with its parent, who holds the other end of standard input.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    folder = sys.argv[1]
    asyncio.run(main())
