"""Scores small JPEGs by SSIMULACRA2 beside the light of the whole original, ours and those of others, and draws crops of them side by side.
Called by .ci/bench-quality; see there."""

import io
import multiprocessing
import os

os.environ["VIPS_CONCURRENCY"] = "1"
import numpy as np
import pyvips
from PIL import Image, ImageDraw, ImageFont
from ssimulacra2 import compute_ssimulacra2

from peers import closed, opened, weights

CLASSES = {
    "posters": ["poster", "grainy"],
    "photographs": ["leaves", "meadow"],
    "letters": ["letters", "ink"],
    "stars": ["stars", "cluster"],
}
# Pixels of the original for one of the result, on each side: the ending of the original's name, and the width of the result. The metric is
# slow for large results, and means little for small ones, so originals of 1000 pixels make the large results and those of 2000 the others.
RATIOS = {1.5: ("", 666), 2: ("", 500), 3: ("", 334), 4: ("-large", 500), 5.85: ("-large", 342), 8: ("-large", 250), 12: ("-large", 166)}
WHO = ["the reference itself", "ours", "ours, stored values", "libvips", "libvips, linear", "Pillow"]
# Scene, upper left corner as a share of the sides, and what the crop shows.
CROPS = [("letters", 0.1, 0.1, "letters"), ("cluster", 0.4, 0.4, "stars"), ("grainy", 0.55, 0.72, "grain")]


def score(reference, body):
    return compute_ssimulacra2(io.BytesIO(reference), io.BytesIO(body))


def jpeg(image):
    body = io.BytesIO()
    image.save(body, "jpeg", quality=80, subsampling=2)
    return body.getvalue()


def reference(original, width, height):
    """The whole original by Lanczos3 in linear light, as PNG."""
    light = opened(np.asarray(Image.open(io.BytesIO(original)).convert("RGB"), dtype=np.float64))
    down, across = weights(light.shape[0], height), weights(light.shape[1], width).T
    planes = [closed(down @ light[..., channel] @ across) for channel in range(3)]
    body = io.BytesIO()
    Image.fromarray((np.stack(planes, -1) + 0.5).astype(np.uint8)).save(body, "png")
    return body.getvalue()


def libvips(original, width, height, linear):
    image = pyvips.Image.thumbnail_buffer(original, width, height=height, size="force", linear=linear)
    return image.write_to_buffer(".jpg", Q=80, strip=True)


def pillow(original, width, height):
    image = Image.open(io.BytesIO(original))
    image.thumbnail((width, height))
    return jpeg(image if image.size == (width, height) else image.resize((width, height)))


def variants(ours, scene, ratio):
    """The reference, and the JPEG of each of WHO."""
    ending, width = RATIOS[ratio]
    scene += ending
    with open(f"{ours.directory}/{scene}.original", "rb") as file:
        original = file.read()
    body = ours.render(scene, width, "jpeg", 80)[0]
    size = Image.open(io.BytesIO(body)).size
    whole = reference(original, *size)
    return whole, [
        jpeg(Image.open(io.BytesIO(whole))), body, ours.render(scene, width, "jpeg", 80, "stored")[0],
        libvips(original, *size, False), libvips(original, *size, True), pillow(original, *size),
    ]


def light(ours, table):
    with multiprocessing.Pool() as pool:
        waiting = {}
        for names in CLASSES.values():
            for scene in names:
                for ratio in RATIOS:
                    whole, bodies = variants(ours, scene, ratio)
                    waiting[scene, ratio] = pool.starmap_async(score, [(whole, body) for body in bodies])
        scores = {key: result.get() for key, result in waiting.items()}
    for name, scenes in CLASSES.items():
        rows = []
        for place, who in enumerate(WHO):
            means = [np.mean([scores[scene, ratio][place] for scene in scenes]) for ratio in RATIOS]
            rows.append([who] + [f"{value:.1f}" for value in means + [np.mean(means)]])
        table(f"SSIMULACRA2 of {name} as JPEG 80, by the ratio of the sides", ["who", *map(str, RATIOS), "mean"], rows)
    beside = [np.mean([scores[s, r][1] - scores[s, r][0] for s in scenes]) for scenes in CLASSES.values() for r in RATIOS]
    print(f"\nOurs beside the reference itself: {np.mean(beside):+.1f} in the mean, {min(beside):+.1f} for the worst class and ratio")


def crops(ours, path, ratio=5.85, side=(72, 54), times=4):
    """One picture: a row for each of CROPS, the reference and some of WHO side by side."""
    shown = [None, 1, 2, 3]
    font, line = ImageFont.load_default(20), 30
    wide, high = side[0] * times, side[1] * times
    sheet = Image.new("RGB", (len(shown) * (wide + 8) - 8, len(CROPS) * (high + 8) + line - 8), "white")
    draw = ImageDraw.Draw(sheet)
    for column, place in enumerate(shown):
        draw.text((column * (wide + 8), 0), "all light of the original" if place is None else WHO[place], "black", font)
    for row, (scene, left, top, _) in enumerate(CROPS):
        whole, bodies = variants(ours, scene, ratio)
        for column, place in enumerate(shown):
            image = Image.open(io.BytesIO(whole if place is None else bodies[place])).convert("RGB")
            x, y = int(left * image.width), int(top * image.height)
            crop = image.crop((x, y, x + side[0], y + side[1])).resize((wide, high), Image.Resampling.NEAREST)
            sheet.paste(crop, (column * (wide + 8), line + row * (high + 8)))
    sheet.save(path, quality=90, method=6)
    print(f"\nCrops of {', '.join(name for *_, name in CROPS)} at {ratio}: {path}")
