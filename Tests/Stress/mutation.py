"""Mutates pictures by their structure: segments of JPEG, chunks of PNG with their checksums, chunks of RIFF, boxes of ISOBMFF. What a
length, a count or a dimension is, is known, so that a change reaches the code behind the first check."""

import functools, struct, zlib

import pictures

NUMBERS = (0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 4_000_000, 7_999_999, 2**24 - 1, 2**31 - 1, 2**31, 2**32 - 1)


# --- parts: a picture as a list of (name, body), and back --------------------------------------------------------------------------

def jpeg_parts(data):
    parts, place = [], 2
    while place + 4 <= len(data) and data[place] == 0xFF:
        marker, (length,) = data[place + 1], struct.unpack(">H", data[place + 2:place + 4])
        body, place = data[place + 4:place + 2 + length], place + 2 + length
        if marker == 0xDA:
            end = place
            while end + 1 < len(data) and not (data[end] == 0xFF and data[end + 1] not in (0, *range(0xD0, 0xD8))):
                end += 1
            parts.append((marker, body, data[place:end]))
            place = end
        else:
            parts.append((marker, body, b""))
    return parts


def jpeg_join(parts, random, tricky):
    out = [b"\xff\xd8"]
    for marker, body, coded in parts:
        length = len(body) + 2
        if tricky and random.random() < 0.2:
            length = random.choice((0, 1, 2, 3, length - 1, length + 1, 65535))
        fill = b"\xff" * random.randrange(4) if tricky and random.random() < 0.1 else b""
        out.append(fill + struct.pack(">BBH", 0xFF, marker, max(length, 0) & 0xFFFF) + body + coded)
    out.append(b"" if tricky and random.random() < 0.2 else b"\xff\xd9")
    return b"".join(out)


def png_parts(data):
    parts, place = [], 8
    while place + 12 <= len(data):
        (length,) = struct.unpack(">I", data[place:place + 4])
        parts.append((data[place + 4:place + 8], data[place + 8:place + 8 + length], b""))
        place += 12 + length
    return parts


def png_join(parts, random, tricky):
    out = [pictures.PNG]
    for kind, body, _ in parts:
        part = bytearray(pictures.chunk(kind, body))
        if tricky and random.random() < 0.1:
            struct.pack_into(">I", part, 0, random.choice((len(body) + 1, max(len(body) - 1, 0), *NUMBERS)) & 0xFFFFFFFF)
        if tricky and random.random() < 0.05:
            part[-1] ^= 1
        out.append(bytes(part))
    return b"".join(out)


def riff_parts(data):
    parts, place = [], 12
    while place + 8 <= len(data):
        (length,) = struct.unpack("<I", data[place + 4:place + 8])
        parts.append((data[place:place + 4], data[place + 8:place + 8 + length], b""))
        place += 8 + length + length % 2
    return parts


def riff_join(parts, random, tricky):
    out = []
    for kind, body, _ in parts:
        length = random.choice((len(body) + 1, max(len(body) - 1, 0), *NUMBERS)) if tricky and random.random() < 0.2 else len(body)
        out.append(kind + struct.pack("<I", length & 0xFFFFFFFF) + body + bytes(len(body) % 2))
    joined = b"".join(out)
    size = random.choice(NUMBERS) if tricky and random.random() < 0.2 else len(joined) + 4
    return b"RIFF" + struct.pack("<I", size & 0xFFFFFFFF) + b"WEBP" + joined


CONTAINERS = {b"meta": 4, b"iprp": 0, b"ipco": 0, b"moov": 0, b"trak": 0, b"mdia": 0, b"minf": 0, b"stbl": 0, b"iinf": 6}


def box_parts(data, place=0):
    """Boxes; those that hold boxes have a list in place of a body."""
    parts = []
    while place + 8 <= len(data):
        (length,), kind = struct.unpack(">I", data[place:place + 4]), data[place + 4:place + 8]
        if length < 8 or place + length > len(data):
            length = len(data) - place
        body = data[place + 8:place + length]
        if kind in CONTAINERS:
            parts.append((kind, body[:CONTAINERS[kind]], box_parts(body, CONTAINERS[kind])))
        else:
            parts.append((kind, body, b""))
        place += length
    return parts


def box_join(parts, random, tricky):
    out = []
    for kind, body, inner in parts:
        body += box_join(inner, random, tricky) if isinstance(inner, list) else b""
        length = random.choice((len(body) + 9, len(body) + 7, *NUMBERS)) if tricky and random.random() < 0.1 else len(body) + 8
        out.append(struct.pack(">I", length & 0xFFFFFFFF) + kind + body)
    return b"".join(out)


FORMS = {
    "jpg": (jpeg_parts, jpeg_join), "png": (png_parts, png_join), "webp": (riff_parts, riff_join), "avif": (box_parts, box_join),
}


def form_of(data):
    if data[:2] == b"\xff\xd8":
        return "jpg"
    if data[:8] == pictures.PNG:
        return "png"
    if data[:4] == b"RIFF":
        return "webp"
    return "avif" if data[4:8] == b"ftyp" else ""


# --- mutations --------------------------------------------------------------------------------------------------------------------

def change(body, random):
    """The body with a few bytes, or a number of one, two or four bytes, that is another one."""
    body = bytearray(body)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        if not body:
            return bytes(body)
        place = random.randrange(min(len(body), 64) if random.random() < 0.7 else len(body))
        kind = random.randrange(5)
        if kind == 0:
            body[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            body[place] = random.choice(NUMBERS) & 0xFF
        elif kind == 2 and place + 2 <= len(body):
            struct.pack_into(random.choice("<>") + "H", body, place, random.choice(NUMBERS) & 0xFFFF)
        elif kind == 3 and place + 4 <= len(body):
            struct.pack_into(random.choice("<>") + "I", body, place, random.choice(NUMBERS) & 0xFFFFFFFF)
        else:
            body[place:place + random.randrange(1, 9)] = random.randbytes(random.randrange(0, 9))
    return bytes(body)


def deflated(body, random):
    """A deflated body changed behind the checksum of zlib: inflated, changed, and deflated again."""
    try:
        plain = bytearray(zlib.decompressobj().decompress(body, 1 << 20))
    except zlib.error:
        return body
    return zlib.compress(change(plain, random) + bytes(random.choice((0, 0, 0, 1000, 5_000_000))), random.choice((0, 1, 9)))


def extra(form, random):
    """A part that pictures may have, with what is in it wrong."""
    profile = pictures.stages_profile(random.choice((1, 9, 200, 5000))) if random.random() < 0.5 else pictures.grid_profile(1, random.choice((2, 9, 33, 60)))
    profile = change(profile, random)
    exif = change(b"MM\0\x2a" + struct.pack(">IHHHIHxxI", 8, 1, 0x112, random.randrange(14), random.choice(NUMBERS), random.randrange(10), 8), random)
    if form == "jpg":
        return random.choice([
            (0xE1, b"Exif\0\0" + exif, b""), (0xE2, b"ICC_PROFILE\0" + bytes([random.choice((0, 1, 2, 255)), random.choice((0, 1, 2, 255))]) + profile[:65000], b""),
            (0xFE, random.randbytes(random.choice((0, 3, 3000))), b""), (0xE5, b"", b""), (0xDD, struct.pack(">H", random.choice((0, 1, 5, 65535))), b""),
            (0xEE, b"Adobe\0\x64\0\0\0\0" + bytes([random.randrange(4)]), b""), (0xC4, random.randbytes(17) + bytes(200), b""), (0xDB, random.randbytes(65), b"")])
    if form == "png":
        return random.choice([
            (b"iCCP", b"x\0\0" + zlib.compress(profile), b""), (b"eXIf", exif, b""), (b"tRNS", random.randbytes(random.randrange(300)), b""),
            (b"gAMA", struct.pack(">I", random.choice(NUMBERS)), b""), (b"cHRM", struct.pack(">8I", *(random.choice(NUMBERS) for _ in range(8))), b""),
            (b"PLTE", random.randbytes(random.randrange(800)), b""), (b"zTXt", b"a\0\0" + zlib.compress(bytes(random.choice((10, 10_000_000)))), b""),
            (b"cICP", random.randbytes(4), b""), (b"IDAT", random.randbytes(20), b""), (b"acTL", random.randbytes(8), b""), (b"sRGB", random.randbytes(1), b"")])
    if form == "webp":
        return random.choice([
            (b"VP8X", bytes([random.randrange(256), 0, 0, 0]) + random.randbytes(6), b""), (b"ICCP", profile, b""), (b"EXIF", exif, b""),
            (b"ALPH", random.randbytes(300), b""), (b"ANIM", random.randbytes(6), b""), (b"ANMF", random.randbytes(400), b""), (b"XMP ", bytes(5000), b"")])
    return random.choice([
        (b"free", bytes(random.randrange(5000)), b""), (b"ispe", struct.pack(">III", 0, random.choice(NUMBERS), random.choice(NUMBERS)), b""),
        (b"colr", b"prof" + profile, b""), (b"irot", random.randbytes(1), b""), (b"clap", random.randbytes(32), b""), (b"mdat", random.randbytes(300), b""),
        (b"iloc", random.randbytes(40), b""), (b"ipma", random.randbytes(30), b"")])


def swap_parts(parts, others, form, random):
    """One change of the list of parts: gone, twice, in another order, of another picture, new, or changed within."""
    parts = list(parts)
    index = random.randrange(len(parts)) if parts else 0
    kind = random.randrange(9)
    if not parts or kind == 0:
        parts.insert(index, extra(form, random))
    elif kind == 1:
        del parts[index]
    elif kind == 2:
        parts[index:index] = [parts[index]] * random.choice((1, 2, 50, (200_000 if len(parts[index][1]) < 8 else 2000) if len(parts[index][1]) < 100 else 3))
    elif kind == 3:
        random.shuffle(parts)
    elif kind == 4 and others:
        parts.insert(index, random.choice(others))
    else:
        name, body, inner = parts[index]
        if isinstance(inner, list):
            inner = swap_parts(inner, [], form, random)
        elif name in (b"IDAT", b"iCCP", b"zTXt") and random.random() < 0.6:
            start = 0 if name == b"IDAT" else body.find(b"\0") + 2
            body = body[:start] + deflated(body[start:], random)
        elif inner and random.random() < 0.5:
            inner = change(inner, random)
        else:
            body = change(body, random)
        parts[index] = (name, body, inner)
    return parts


def mutate(data, other, random):
    """`data` changed; parts of `other` may be in it."""
    form = form_of(data)
    if form and random.random() < 0.85:
        split, join = FORMS[form]
        others = split(other) if form_of(other) == form else []
        parts = split(data)
        for _ in range(random.choice((1, 1, 2, 3))):
            parts = swap_parts(parts, others, form, random)
        data = join(parts, random, random.random() < 0.4)
    else:
        data = change(data, random)
    kind = random.random()
    if kind < 0.1:
        data = data[:random.randrange(len(data) + 1)]
    elif kind < 0.15:
        data += random.randbytes(random.randrange(3000))
    elif kind < 0.18:
        data = data[:random.randrange(len(data) + 1)] + other[random.randrange(len(other)):]
    elif kind < 0.2:
        data = random.choice((b"", b"\xff\xd8", pictures.PNG, b"RIFF", b"\0\0\0\x20ftypavif")) + data
    return data[:4 << 20]


def pixels(data, limit):
    """Pixels that the bytes declare, as far as `limit`, times the scans of a JPEG: what a decoder may have to go through."""
    most = 0
    form = form_of(data)
    if form == "jpg":
        scans = max(min(data.count(b"\xff\xda"), 100), 1)
        for marker in (0xC0, 0xC1, 0xC2):
            place = data.find(bytes([0xFF, marker]))
            while place >= 0:
                if place + 9 <= len(data):
                    height, width = struct.unpack(">HH", data[place + 5:place + 9])
                    most = max(most, min(height * width, limit) * scans)
                place = data.find(bytes([0xFF, marker]), place + 1)
        return most
    if form == "png" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        most = width * height
    elif form == "webp":
        for place in range(12, min(len(data) - 10, 4096)):
            if data[place:place + 4] == b"VP8X" and place + 18 <= len(data):
                sides = [int.from_bytes(data[place + n:place + n + 3], "little") + 1 for n in (12, 15)]
                most = max(most, sides[0] * sides[1])
            elif data[place:place + 3] == b"\x9d\x01\x2a":
                width, height = struct.unpack("<HH", data[place + 3:place + 7])
                most = max(most, (width & 16383) * (height & 16383))
            elif data[place:place + 4] == b"VP8L" and place + 13 <= len(data):
                (bits,) = struct.unpack("<I", data[place + 9:place + 13])
                most = max(most, ((bits & 16383) + 1) * ((bits >> 14 & 16383) + 1))
    elif form == "avif":
        place = data.find(b"ispe")
        while place >= 0:
            if place + 16 <= len(data):
                width, height = struct.unpack(">II", data[place + 8:place + 16])
                most = max(most, width * height)
            place = data.find(b"ispe", place + 1)
    return min(most, limit)


# --- hostile HTTP -------------------------------------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=1)
def bomb():
    """Fifty megabytes of zeros, gzip-coded."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(bytes(50 << 20)) + packer.flush()


def coded(data, random):
    """The body under a content coding, and the field that says so; sometimes they do not fit."""
    kind = random.randrange(7)
    if kind == 0:
        return "gzip", (lambda packer: packer.compress(data) + packer.flush())(zlib.compressobj(6, zlib.DEFLATED, 31))
    if kind == 1:
        return "deflate", zlib.compress(data)
    if kind == 2:
        return "gzip", data
    if kind == 3:
        return random.choice(("br", "zstd", "identity", "x", "gzip, gzip", "", "\x80")), data
    if kind == 4:
        packed = (lambda packer: packer.compress(data) + packer.flush())(zlib.compressobj(6, zlib.DEFLATED, 31))
        return "gzip", change(packed, random)
    if kind == 5:
        return "deflate", zlib.compress(data)[2:-4]
    return "gzip", bomb()


def hostile(data, random):
    """`data` as an answer of an origin that does as it likes; whether the connection ends behind it."""
    fields, status, body, close = [], "HTTP/1.1 200 OK", data, random.random() < 0.3
    for _ in range(random.choice((1, 1, 2, 3))):
        kind = random.randrange(12)
        if kind == 0:
            value, body = coded(body, random)
            fields.append(("Content-Encoding", value))
        elif kind == 1:
            status = random.choice(("HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 206 Partial Content", "HTTP/1.1 204 None", "HTTP/1.1 304 Not Modified", "HTTP/1.1 404 Not Found",
                                    "HTTP/1.1 410 Gone", "HTTP/1.1 500 Broken", "HTTP/1.1 999 Odd", "HTTP/1.1 099 Odd", "HTTP/1.1 2000 OK", "HTTP/2 200", "ICY 200 OK", "", "HTTP/1.1  200 OK",
                                    "HTTP/1.1 200 \xff\x00"))
        elif kind == 2:
            status = random.choice(("HTTP/1.1 503 Later", "HTTP/1.1 429 Slowly"))
            fields.append(("Retry-After", random.choice(("0", "-1", "1e300", "99999999999999999999", "nan", "Fri, 31 Dec 9999 23:59:59 GMT", "x" * 5000))))
        elif kind == 3:
            fields += [("Cache-Control", random.choice(("max-age=99999999999999999999", "max-age=-1", "max-age=\"1\"", "max-age", "no-store, max-age=1e9", "private=\"a, b\", s-maxage=5", "," * 3000))),
                       ("Age", random.choice(("-5", "9223372036854775808", "1.5", "")))]
        elif kind == 4:
            fields += [("ETag", random.choice(('"' + "e" * 9000 + '"', "W/", '"', "a\tb", '"\xff"'))), ("Last-Modified", random.choice(("never", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "0")))]
        elif kind == 5:
            fields += [(f"X-{n}", "v") for n in range(random.choice((90, 300, 3000)))]
        elif kind == 6:
            fields.append((random.choice(("X", "Content-Type", "Date", "Expires", "Vary", "Link")), random.choice(("y" * 20_000, "\x01", "a\x00b", "\xff\xfe", " ", "=?utf-8?q?=00?="))))
        elif kind == 7:
            fields.append(("Content-Type", random.choice(("text/html", "image/svg+xml", "image/png; charset=" + "x" * 3000, "/", "image/", ";;;", "multipart/mixed"))))
        elif kind == 8:
            status = "HTTP/1.1 " + random.choice(("301 Moved", "302 Found", "303 Other", "307 Again", "308 Moved", "300 Many"))
            fields.append(("Location", random.choice(("", "/", "//", "?", "#", "http://", "http:///x", "/same", "x" * 9000, "http://127.0.0.1:1/", "http://[::1/", "ftp://127.0.0.1/", "/\r\nX: y", "http://user:pw@127.0.21.1/"))))
        elif kind == 9:
            status = "".join("HTTP/1.1 103 Early\r\nX: y\r\n\r\n" for _ in range(random.choice((1, 5, 200)))) + status
        elif kind == 10:
            return (status + "\n" + "X: y\n\n").encode("latin-1", "replace") + body, True
        else:
            fields.append((random.choice(("no colon", " folded", "", "a b", "X\x00")), "v"))
    head = status + "\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields)
    kind = random.randrange(10)
    if kind < 3:
        head += f"Content-Length: {len(body)}\r\n"
    elif kind < 5:
        head += "Transfer-Encoding: chunked\r\n"
        out, place = [], 0
        while place < len(body):
            size = random.choice((1, 10, 1000, 100_000)) if len(body) < 100_000 else 50_000
            part = body[place:place + size]
            out.append(b"%x%s\r\n%s\r\n" % (len(part), random.choice((b"", b"", b";a=b", b" ")), part))
            place += size
        out.append(random.choice((b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\nTrailer: x\r\n\r\n", b"", b"-1\r\n\r\n", b"fffffffffffffffff\r\n", b"0\r\n" + b"T: x\r\n" * 3000 + b"\r\n")))
        body = b"".join(out)
    elif kind == 5:
        head += f"Content-Length: {random.choice((-1, 0, 1, max(len(body) - 1, 0), len(body) + 1, 2**31, 2**63, 10**30, '1, 1', '0x10', '+5', ''))}\r\n"
        close = True
    elif kind == 6:
        head += f"Content-Length: {len(body)}\r\nContent-Length: {len(body) + 1}\r\n"
    elif kind == 7:
        head += f"Transfer-Encoding: chunked\r\nContent-Length: {len(body)}\r\n"
    elif kind == 8:
        head += f"Content-Length: {len(body)}\r\n"
        body, close = body[:random.randrange(len(body) + 1)], True
    else:
        close = True
    return (head + "\r\n").encode("latin-1", "replace") + body, close
