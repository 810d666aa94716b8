"""Compares the answers to thumbor's addresses with those of a real thumbor that has the same picture.

The name of this file is not thumbor.py, which would hide the package.
"""

import io

from context import POSTER
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


# Filters without which the pixels would differ more.
VISIBLE = ["grayscale()", "quality(30)", "blur(5)", "blur(3,1)"]


def check_thumbor(context):
    """A real thumbor gives the same pictures for the same addresses."""
    program = context.python_tool("thumbor")
    Image, ImageChops, ImageStat = (context.module(f"PIL.{name}") for name in ["Image", "ImageChops", "ImageStat"])

    def picture(url):
        status, _, body = get(url)
        assert status == 200, (url, status, body[:300])
        return Image.open(io.BytesIO(body)), len(body)

    def difference(first, second):
        """The mean of the colour that differs the most, of 255."""
        return max(ImageStat.Stat(ImageChops.difference(first.convert("RGB"), second.convert("RGB"))).mean)

    room = context.new_folder("thumbor")
    with context.server() as server:
        (room / "poster.jpg").write_bytes(get(server.url + POSTER.replace("w342", "w780"))[2])
    (room / "thumbor.conf").write_text(
        f"LOADER = 'thumbor.loaders.file_loader'\nFILE_LOADER_ROOT_PATH = '{room}'\nSTORAGE = 'thumbor.storages.no_storage'\n")
    port, furthest = free_port(), 0
    command = [program, "-p", str(port), "-i", "127.0.0.1", "-c", str(room / "thumbor.conf"), "-l", "error"]
    # Thumbor shrinks in gamma, so the server does it too: the comparison is about geometry and filters.
    keys, sources = "rendering: { linearLight: false }", f"pictures: {{ type: folder, path: {room} }}"
    with Program(command, port, room), context.server(keys, sources) as server:
        for path in SAME:
            # Without filters, nothing is lost in writing.
            whole = path if "/filters:" in path else f"{path}/filters:format(png)"
            theirs, _ = picture(f"http://127.0.0.1:{port}/unsafe/{whole}/poster.jpg")
            ours, length = picture(f"{server.url}/thumbor/unsafe/{whole}/pictures%3A%2F%2Fposter")
            assert (theirs.size, theirs.format) == (ours.size, ours.format), (path, theirs, ours)
            apart = difference(theirs, ours)
            # Both shrink and encode in their own ways.
            assert apart < 5, (path, apart)
            furthest = max(furthest, apart)
            options, _, filters = path.partition("/filters:")
            if filters in VISIBLE:
                unfiltered, _ = picture(f"{server.url}/thumbor/unsafe/{options}/pictures%3A%2F%2Fposter")
                assert apart < 0.9 * difference(theirs, unfiltered), (path, apart, difference(theirs, unfiltered))
            if filters == "max_bytes(5000)":
                assert length <= 5000, length
    return f"{len(SAME)} addresses, {furthest:.1f} of 255 apart at most"
