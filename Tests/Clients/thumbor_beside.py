"""Compares the answers to thumbor's addresses with those of a real thumbor that has the same picture."""

import io

from place import POSTER
from server import Program, free_port, get

# Addresses whose answers have the same size, format and, nearly, the same pixels.
SAME = [
    "300x200", "fit-in/300x200", "full-fit-in/300x200", "300x0", "0x200", "-100x200", "100x-200", "-100x-0", "60x200", "0x0",
    "10x20:210x320/100x100", "10x20:210x320", "fit-in/3000x5000", "3000x0", "fit-in/-100x100", "200x60/left/top",
    "200x60/right/bottom", "200x60/center/middle", "60x200/left", "60x200/right", "200x0/filters:grayscale()",
    "200x0/filters:rotate(90)", "200x0/filters:rotate(180)", "fit-in/200x200/filters:fill(red)",
    "fit-in/200x200/filters:fill(00ff00)", "200x0/filters:background_color(blue)", "200x0/filters:quality(30)",
    "200x0/filters:format(png)", "200x0/filters:format(webp)", "200x0/filters:blur(5)", "200x0/filters:blur(3,1)",
    "fit-in/3000x5000/filters:no_upscale()", "fit-in/3000x5000/filters:upscale()", "200x100/filters:focal(10x10:60x60)",
    "200x0/filters:max_bytes(5000)", "200x0/filters:strip_exif():strip_icc()", "200x0/filters:grayscale():rotate(90):format(png)",
]


def check_thumbor(place):
    """A real thumbor gives the same pictures for the same addresses."""
    program = place.python_tool("thumbor")
    Image, ImageChops, ImageStat = (place.module(f"PIL.{name}") for name in ["Image", "ImageChops", "ImageStat"])
    room = place.room("thumbor")
    with place.server() as server:
        status, _, body = get(server.url + POSTER.replace("w342", "w780"))
        assert status == 200, body
    (room / "poster.jpg").write_bytes(body)
    (room / "thumbor.conf").write_text(
        f"LOADER = 'thumbor.loaders.file_loader'\nFILE_LOADER_ROOT_PATH = '{room}'\nSTORAGE = 'thumbor.storages.no_storage'\n")
    port, furthest = free_port(), 0
    command = [program, "-p", str(port), "-i", "127.0.0.1", "-c", str(room / "thumbor.conf"), "-l", "error"]
    with Program(command, port, room), place.server(sources=f"pictures: {{ type: folder, path: {room} }}") as server:
        for path in SAME:
            theirs = get(f"http://127.0.0.1:{port}/unsafe/{path}/poster.jpg")
            ours = get(f"{server.url}/thumbor/unsafe/{path}/pictures%3A%2F%2Fposter")
            assert theirs[0] == ours[0] == 200, (path, theirs[0], ours[0], ours[2][:300])
            first, second = (Image.open(io.BytesIO(answer[2])) for answer in (theirs, ours))
            assert (first.size, first.format) == (second.size, second.format), (path, first, second)
            difference = max(ImageStat.Stat(ImageChops.difference(first.convert("RGB"), second.convert("RGB"))).mean)
            # Of 255. Both shrink and encode in their own ways.
            assert difference < 5, (path, difference)
            furthest = max(furthest, difference)
    return f"{len(SAME)} addresses, {furthest:.1f} of 255 apart at most"
