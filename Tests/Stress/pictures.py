"""Pictures made by code: honest ones, and those that cost more than they look. Nothing but the standard library."""

import hashlib, random, struct, zlib

PNG = b"\x89PNG\r\n\x1a\n"


# --- PNG -----------------------------------------------------------------------------------------------------------------------

def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, raw, color=2, depth=8, before=(), after=(), level=6, tail=b""):
    """A PNG of filtered rows: `raw` has a filter byte before each row. `before` and `after` are chunks around IDAT."""
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    return b"".join([PNG, chunk(b"IHDR", head), *before, chunk(b"IDAT", zlib.compress(raw, level)), *after, chunk(b"IEND", b""), tail])


def flat_png(width, height, color=(200, 40, 40), **rest):
    return png(width, height, (b"\0" + bytes(color) * width) * height, **rest)


def palette_png(width=60, height=90, colors=2, index=200, **rest):
    """Indices outside of PLTE: opaque black, as the third edition of PNG says."""
    plte = chunk(b"PLTE", bytes(range(3 * colors)))
    return png(width, height, (b"\0" + bytes([index]) * width) * height, color=3, before=(plte,), **rest)


def noise_png(width, height, seed=1):
    """A PNG of `width` × `height` × 3 bytes that no compression makes smaller."""
    rows = random.Random(seed)
    return png(width, height, b"".join(b"\0" + rows.randbytes(3 * width) for _ in range(height)), level=0)


def thin_png(width, height):
    """31 million pixels in 60 KB: tall and thin, or the other way."""
    return png(width, height, bytes((width + 1) * height), color=0, level=9)


def text_bomb_png(kind=b"zTXt", megabytes=100, count=4):
    """Text that is a thousand times its size when it is inflated, before and behind the pixels."""
    packed = zlib.compress(bytes(megabytes << 20), 9)
    body = b"Comment\0\0" + packed if kind == b"zTXt" else b"XML:com.adobe.xmp\0\1\0\0\0" + packed
    bombs = [chunk(kind, body)] * count
    return flat_png(60, 90, before=bombs[: count // 2], after=bombs[count // 2:])


def iccp_png(profile, width=60, height=90, level=9):
    return flat_png(width, height, before=(chunk(b"iCCP", b"p\0\0" + zlib.compress(profile, level)),))


def first_pixel(data):
    """The first pixel of a PNG as red, green and blue. No filter changes it, because there is nothing before it."""
    if data[:8] != PNG:
        raise ValueError("no PNG")
    place, packed, palette, head = 8, b"", b"", None
    while place + 8 <= len(data):
        (length,), kind = struct.unpack(">I", data[place:place + 4]), data[place + 4:place + 8]
        body = data[place + 8:place + 8 + length]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        elif kind == b"PLTE":
            palette = body
        elif kind == b"IDAT":
            packed += body
        place += 12 + length
    row = zlib.decompressobj().decompress(packed, 64)[1:]
    color, depth = head[3], head[2]
    if color == 3:
        index = row[0] >> (8 - depth)
        pixel = palette[3 * index:3 * index + 3]
    elif color in (0, 4):
        value = row[0] if depth >= 8 else (row[0] >> (8 - depth)) * 255 // ((1 << depth) - 1)
        pixel = bytes([value] * 3)
    else:
        pixel = row[:3]
    return tuple(pixel), head[0], head[1]


def color_of(name):
    """A colour that any name has, far from those of other names as far as three bytes go."""
    if isinstance(name, str):
        name = name.encode()
    return tuple(hashlib.sha256(name).digest()[:3])


def is_near(color, other, within=10):
    return all(abs(a - b) <= within for a, b in zip(color, other))


# --- JPEG ----------------------------------------------------------------------------------------------------------------------

def segment(marker, body=b""):
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def stuffed(bits):
    """Bits as entropy-coded bytes: filled up with ones, a zero behind each FF."""
    bits += "1" * (-len(bits) % 8)
    return int(bits or "0", 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")


# Twelve codes of four bits for differences of DC; one code of one bit for the end of a block.
DC_TABLE = segment(0xC4, b"\x00" + bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12)))
END_TABLE = segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\x00")
EIGHTHS = segment(0xDB, b"\x00" + bytes([8] * 64))


def difference(value):
    size = abs(value).bit_length()
    text = f"{size:04b}"
    return text + (f"{value if value > 0 else value + (1 << size) - 1:0{size}b}" if size else "")


def flat_jpeg(width, height, color=(200, 40, 40), segments=b"", tail=b""):
    """A baseline JPEG of one colour, with `segments` behind SOI."""
    r, g, b = color
    wanted = [0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.168736 * r - 0.331264 * g + 0.5 * b, 128 + 0.5 * r - 0.418688 * g - 0.081312 * b]
    blocks = -(-width // 8) * -(-height // 8)
    first = "".join(difference(round(value) - 128) + "0" for value in wanted)
    frame = struct.pack(">BHHB", 8, height, width, 3) + bytes([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])
    scan = bytes([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])
    return b"".join([b"\xff\xd8", segments, EIGHTHS, segment(0xC0, frame), DC_TABLE, END_TABLE, segment(0xDA, scan),
                     stuffed(first + "00000" * 3 * (blocks - 1)), b"\xff\xd9", tail])


def segments_jpeg(count=250_000):
    """A small picture behind a mass of empty APP1 segments: four bytes each."""
    return flat_jpeg(60, 90, segments=b"\xff\xe1\x00\x02" * count)


def scans_jpeg(width, height, scans):
    """A progressive picture of one component; each scan is 30 bytes to a thousand and a pass over the whole picture."""
    blocks = -(-width // 8) * -(-height // 8)
    whole = -(-blocks // 32767)
    frame = struct.pack(">BHHB", 8, height, width, 1) + bytes([1, 0x11, 0])
    first = segment(0xDA, bytes([1, 1, 0, 0, 0, 0])) + bytes(blocks // 8) + b"\x7f"
    runs = segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\xe0")
    band = segment(0xDA, bytes([1, 1, 0, 1, 63, 0])) + stuffed(("0" + "1" * 14) * whole)
    one = segment(0xC4, b"\x00" + bytes([1] + [0] * 15) + b"\x00")
    return b"".join([b"\xff\xd8", EIGHTHS, segment(0xC2, frame), one, runs, first, band * (scans - 1), b"\xff\xd9"])


def icc_segments(profile):
    parts = [profile[start:start + 65519] for start in range(0, len(profile), 65519)]
    return b"".join(segment(0xE2, b"ICC_PROFILE\0" + bytes([n + 1, len(parts)]) + part) for n, part in enumerate(parts))


def exif(orientation, kind):
    """EXIF with one entry, the orientation, as BYTE, SHORT, LONG, SBYTE, SSHORT or SLONG."""
    value = {1: "B3x", 6: "b3x", 3: "H2x", 8: "h2x", 4: "I", 9: "i"}[kind]
    body = b"MM\0\x2a" + struct.pack(">IHHHI" + value + "I", 8, 1, 0x112, kind, 1, orientation, 0)
    return segment(0xE1, b"Exif\0\0" + body)


# --- ICC profiles --------------------------------------------------------------------------------------------------------------

def profile(tags, pcs=b"XYZ "):
    """An ICC profile of version 4 for a display with red, green and blue. Tags with the same data share it."""
    place, data, table, known = 128 + 4 + 12 * len(tags), b"", struct.pack(">I", len(tags)), {}
    for name, body in tags:
        if id(body) not in known:
            known[id(body)] = place + len(data)
            data += body + bytes(-len(body) % 4)
        table += name + struct.pack(">II", known[id(body)], len(body))
    head = bytearray(128)
    struct.pack_into(">I4xI4s4s4s", head, 0, place + len(data), 0x04200000, b"mntr", b"RGB ", pcs)
    head[36:40] = b"acsp"
    struct.pack_into(">III", head, 68, 0xF6D6, 0x10000, 0xD32D)
    return bytes(head) + table + data


def stages_profile(stages=7000):
    """A profile of `stages` matrices that are all the same one: eight bytes each, and each colour goes through all of them."""
    matrix = b"matf" + bytes(4) + struct.pack(">HH12f", 3, 3, 0.9, 0.05, 0.05, 0.05, 0.9, 0.05, 0.05, 0.05, 0.9, 0.01, 0.01, 0.01)
    place = 16 + 8 * stages
    body = b"mpet" + bytes(4) + struct.pack(">HHI", 3, 3, stages) + struct.pack(">II", place, len(matrix)) * stages + matrix
    return profile([(b"D2B0", body), (b"D2B1", body)])


def grid_profile(seed, grid=143):
    """A profile with a table of grid³ colours, nine megabytes that deflate to fifteen kilobytes; each seed is another one."""
    table = bytearray(3 * grid ** 3)
    struct.pack_into(">I", table, 0, seed)
    ramp = bytes(range(256)) * 3
    matrix = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    body = b"mft1" + bytes(4) + bytes([3, 3, grid, 0]) + matrix + ramp + bytes(table) + ramp
    return profile([(b"A2B0", body)], pcs=b"Lab ")


# --- all of them ---------------------------------------------------------------------------------------------------------------

def hostile():
    """Every costly picture by name, made when it is asked for."""
    flat, jpeg = flat_png(60, 90), flat_jpeg(600, 900)
    yield "segments.jpg", segments_jpeg()
    yield "segments-and-rubbish.jpg", flat_jpeg(60, 90, segments=b"\xff" * 500_000 + b"\xff\xfe\x00\x02" * 100_000)
    yield "scans-in-limit.jpg", scans_jpeg(7900, 7900, 99)
    yield "scans-beyond.jpg", scans_jpeg(7900, 7900, 5000)
    yield "stages.jpg", flat_jpeg(60, 90, segments=icc_segments(stages_profile()))
    yield "stages-many.png", iccp_png(stages_profile(1_500_000))
    yield "stages-some.png", iccp_png(stages_profile(2000))
    yield "tall.png", thin_png(1, 31_000_000)
    yield "wide.png", thin_png(31_000_000, 1)
    yield "half-tall.png", thin_png(2, 15_000_000)
    yield "text.png", text_bomb_png(b"zTXt")
    yield "international.png", text_bomb_png(b"iTXt")
    yield "profile-bomb.png", iccp_png(bytes(200 << 20))
    yield "pixels-bomb.png", png(60, 90, bytes(200 << 20), level=9)
    yield "cut.png", flat_png(600, 900, level=0)[:700_000]
    yield "cut.jpg", jpeg[:len(jpeg) // 2]
    yield "head-only.jpg", jpeg[:200]
    yield "no-iend.png", flat[:-12]
    yield "wrong-crc.png", flat[:29] + bytes(4) + flat[33:]
    yield "no-pixels.png", PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", 60, 90, 8, 2, 0, 0, 0)) + chunk(b"IEND", b"")
    yield "zero.png", PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", 0, 0, 8, 2, 0, 0, 0)) + flat[33:]
    yield "huge.png", PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0)) + flat[33:]
    yield "huge.jpg", jpeg.replace(struct.pack(">HH", 900, 600), struct.pack(">HH", 65500, 65500), 1)
    yield "text.txt", b"this is no picture\n" * 1000
    yield "empty-boxes.avif", b"\0\0\0\x1cftypavif" + bytes(16) + struct.pack(">I4s", 1, b"meta") + bytes(100)
    yield "riff.webp", b"RIFF\xff\xff\xff\xffWEBPVP8X\x0a\0\0\0" + bytes(10) + b"VP8 \xff\xff\xff\x7f" + bytes(100)


def odd():
    """Pictures that are strange and yet have to be served: by name with their bytes, and the first pixel that they have at 60 × 90."""
    red = (200, 40, 40)
    yield "outside-palette.png", palette_png(), (0, 0, 0)
    yield "behind-the-last-row.png", png(60, 90, (b"\0" + bytes(red) * 60) * 90 + bytes(5000)), red
    yield "behind-the-end.png", flat_png(60, 90, red, tail=b"rubbish" * 1000), red
    yield "behind-the-end.jpg", flat_jpeg(64, 96, red, tail=b"rubbish" * 1000), red
    yield "orientation-long.jpg", flat_jpeg(64, 96, red, segments=exif(1, 4)), red
    yield "orientation-byte.jpg", flat_jpeg(64, 96, red, segments=exif(1, 1)), red
    yield "orientation-signed.jpg", flat_jpeg(64, 96, red, segments=exif(1, 9)), red


def profiles(count=64):
    for seed in range(count):
        yield f"grid-{seed}.png", iccp_png(grid_profile(seed))


def large():
    """Honest ones of 30 megabytes, which is nearly all that an original may have, and of five."""
    yield "large.png", noise_png(3000, 3300)
    yield "medium.png", noise_png(1200, 1400)
