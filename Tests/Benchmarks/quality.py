"""Compares bytes, similarity and time of formats and qualities, ours and those of others. Called by .ci/bench-quality; see there."""

import io
import math
import multiprocessing
import os
import statistics
import subprocess
import sys
import time

os.environ["VIPS_CONCURRENCY"] = "1"
import numpy as np
import pyvips
from PIL import Image

import light
from peers import luma

SCENES = ["clean", "poster", "grainy", "noisy", "flat", "leaves"]
# The others have more grain than film, or none.
POSTERS = ["clean", "poster", "grainy", "leaves"]
# Those by score: posters, photographs, letters and stars.
SCORED = POSTERS + ["meadow", "letters", "ink", "stars"]
WIDTHS = [185, 342, 500, 780]
QUALITIES = [20, 35, 50, 60, 70, 80, 85, 90, 95]
FORMATS = ["jpeg", "webp", "avif"]
# libvips as it is, and as others call it: the suffix, its options without the quality, and the quality.
OTHERS = {
    "libvips": {"jpeg": ({}, 75), "webp": ({}, 75), "avif": ({}, 50)},
    "sharp": {
        "jpeg": ({"optimize_coding": True}, 80),
        "webp": ({"effort": 4}, 80),
        "avif": ({"effort": 4, "subsample_mode": "off"}, 50),
    },
    "imgproxy": {"jpeg": ({"optimize_coding": True}, 80), "webp": ({"effort": 4}, 79), "avif": ({"effort": 1}, 63)},
}


def similarities(a, b):
    """SSIM (Wang, Bovik, Sheikh, Simoncelli 2004) in windows of 8 x 8 samples, one every four samples."""

    def means(x):
        sums = np.cumsum(np.cumsum(np.pad(x, ((1, 0), (1, 0))), axis=0), axis=1)
        return ((sums[8:, 8:] - sums[:-8, 8:] - sums[8:, :-8] + sums[:-8, :-8]) / 64)[::4, ::4]

    u, v = means(a), means(b)
    aa, bb, ab = means(a * a) - u * u, means(b * b) - v * v, means(a * b) - u * v
    return ((2 * u * v + 6.5025) * (2 * ab + 58.5225)) / ((u * u + v * v + 6.5025) * (aa + bb + 58.5225))


def distance(a, b):
    """The measure of `quality: auto` with floating-point numbers."""

    def norm(x, y):
        return float(np.mean(np.clip(1 - similarities(x, y), 0, 1) ** 4) ** 0.25)

    def quarter(x):
        rows, columns = x.shape[0] // 4, x.shape[1] // 4
        return np.floor((x[: rows * 4, : columns * 4].reshape(rows, 4, columns, 4).sum((1, 3)) + 8) / 16)

    return norm(a, b) + 13 * norm(quarter(a), quarter(b))


class Look:
    """One file beside its picture before encoding: bytes, SSIM and PSNR of luma, and the distance."""

    def __init__(self, body, reference, seconds=0.0):
        y = luma(Image.open(io.BytesIO(body)))
        self.bytes = len(body)
        self.seconds = seconds
        self.ssim = float(np.mean(similarities(y, reference)))
        self.psnr = 10 * math.log10(255**2 / max(float(np.mean((y - reference) ** 2)), 1e-6))
        self.distance = distance(y, reference)


class Ours:
    def __init__(self, program, directory):
        self.directory = directory
        self.process = subprocess.Popen([program, "encode", directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def render(self, scene, width, form, quality, effort="-", repeats=1):
        self.process.stdin.write(f"{scene} {width} {form} {quality} {effort} {repeats}\n")
        self.process.stdin.flush()
        seconds = float(self.process.stdout.readline())
        with open(f"{self.directory}/quality.out", "rb") as file:
            return file.read(), seconds

    def picture(self, scene, width):
        return luma(Image.open(io.BytesIO(self.render(scene, width, "png", 80)[0])))


def save(image, form, options, quality):
    options = dict(options, Q=quality, strip=True)
    if form == "avif":
        return image.heifsave_buffer(compression="av1", **options)
    return image.write_to_buffer({"jpeg": ".jpg", "webp": ".webp"}[form], **options)


def thumbnail(original, width):
    return pyvips.Image.thumbnail_buffer(original, width, height=10_000_000)


def pixels(image):
    return luma(Image.open(io.BytesIO(image.write_to_buffer(".png", compression=1))))


def bytes_at(looks, ssim):
    """Bytes at a similarity, between the neighbouring qualities; `nan` beyond them."""
    looks = sorted(looks, key=lambda look: look.ssim)
    return float(np.exp(np.interp(ssim, [l.ssim for l in looks], [math.log(l.bytes) for l in looks], left=math.nan, right=math.nan)))


def mean(values):
    return sum(values) / len(values)


def table(title, head, rows):
    print(f"\n{title}\n\n| " + " | ".join(head) + " |")
    print("|---|" + "---:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)


def qualities(ours):
    """Every format, size and quality of ours, in turns."""
    looks = {}
    for width in WIDTHS:
        for scene in SCENES:
            reference = ours.picture(scene, width)
            for quality in QUALITIES:
                for form in FORMATS:
                    body, seconds = ours.render(scene, width, form, quality)
                    looks[form, width, quality, scene] = Look(body, reference, seconds)
    rows = []
    for width in WIDTHS:
        for quality in QUALITIES:
            row = [f"w{width}, {quality}"]
            for form in FORMATS:
                some = [looks[form, width, quality, scene] for scene in SCENES]
                row.append(f"{mean([l.bytes for l in some]) / 1000:.1f}")
                row.append(f"{mean([l.ssim for l in some]):.4f}")
                row.append(f"{mean([l.psnr for l in some]):.1f}")
                row.append(f"{statistics.median([l.seconds for l in some]) * 1e3:.1f}")
            rows.append(row)
    head = [f"{form}: {word}" if word == "KB" else word for form in FORMATS for word in ["KB", "SSIM", "PSNR-Y", "ms"]]
    table("Our qualities: means of all pictures, median processor time of a render", ["size, quality"] + head, rows)
    rows = []
    for quality in QUALITIES:
        row = [quality]
        for form in FORMATS[1:]:
            for name in ("ssim", "distance"):
                offsets = [
                    getattr(looks[form, width, quality, scene], name) - getattr(looks["jpeg", width, quality, scene], name)
                    for width in WIDTHS
                    for scene in POSTERS
                ]
                row.append(f"{statistics.median(offsets):+.4f}")
        rows.append(row)
    table("One look: the median of the differences from JPEG of the same number, posters",
          ["quality", "webp SSIM", "webp distance", "avif SSIM", "avif distance"], rows)
    return looks


def others(looks, originals):
    rows, defaults = [], []
    for width in WIDTHS:
        images = {scene: thumbnail(originals[scene], width).copy_memory() for scene in SCENES}
        references = {scene: pixels(images[scene]) for scene in SCENES}
        wanted = {scene: looks["jpeg", width, 80, scene].ssim for scene in SCENES}

        def relative(by_scene):
            """The geometric mean of the bytes beside our JPEG of quality 80, without pictures that never are so alike."""
            ratios = [by_scene[s] / looks["jpeg", width, 80, s].bytes for s in SCENES if not math.isnan(by_scene[s])]
            return f"{math.exp(mean([math.log(r) for r in ratios])):.2f}" + ("" if len(ratios) == len(SCENES) else f" ({len(ratios)})")

        row = [f"w{width}"]
        for form in FORMATS:
            row.append(relative({s: bytes_at([looks[form, width, q, s] for q in QUALITIES], wanted[s]) for s in SCENES}))
        for name, forms in OTHERS.items():
            for form, (options, quality) in forms.items():
                if width != 342 and name != "libvips":
                    continue
                scale = [30, 40, 50, 60, 70, 80, 90] if form == "avif" else [20, 35, 50, 60, 70, 80, 85, 90, 95]
                all_looks = {s: [Look(save(images[s], form, options, q), references[s]) for q in scale] for s in SCENES}
                same = relative({s: bytes_at(all_looks[s], wanted[s]) for s in SCENES})
                if name == "libvips":
                    row.append(same)
                if width != 342:
                    continue
                times, some = [], []
                for scene in SCENES:
                    start = time.process_time()
                    body = save(thumbnail(originals[scene], width), form, options, quality)
                    times.append(time.process_time() - start)
                    some.append(Look(body, references[scene]))
                defaults.append([
                    f"{name}, {form} {quality}", f"{mean([l.bytes for l in some]) / 1000:.1f}", f"{mean([l.ssim for l in some]):.4f}",
                    f"{mean([l.psnr for l in some]):.1f}", f"{statistics.median(times) * 1e3:.1f}", same,
                ])
        rows.append(row)
    table("Bytes at the SSIM of our JPEG of quality 80, which is 1",
          ["size"] + FORMATS + [f"libvips {form}" for form in FORMATS], rows)
    for form in FORMATS:
        some = [looks[form, 342, 80, scene] for scene in SCENES]
        same = [bytes_at([looks[form, 342, q, s] for q in QUALITIES], looks["jpeg", 342, 80, s].ssim) for s in SCENES]
        ratio = [a / looks["jpeg", 342, 80, s].bytes for a, s in zip(same, SCENES) if not math.isnan(a)]
        defaults.insert(FORMATS.index(form), [
            f"ours, {form} 80", f"{mean([l.bytes for l in some]) / 1000:.1f}", f"{mean([l.ssim for l in some]):.4f}",
            f"{mean([l.psnr for l in some]):.1f}", f"{statistics.median([l.seconds for l in some]) * 1e3:.1f}",
            f"{math.exp(mean([math.log(r) for r in ratio])):.2f}" + ("" if len(ratio) == len(SCENES) else f" ({len(ratio)})"),
        ])
    table("Defaults at w342", ["who", "KB", "SSIM", "PSNR-Y", "ms", "bytes at equal SSIM"], defaults)


def ratios(ours, rounds, jobs, base):
    """Medians of the times beside those of `base`, which runs before each."""
    found = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            first = ours.render(*base, repeats=4)[1]
            found[name].append(ours.render(*job, repeats=4)[1] / first)
    return {name: statistics.median(values) for name, values in found.items()}


def efforts(ours, rounds):
    jobs = {f"webp {e}": ("poster", 342, "webp", 80, str(e)) for e in (0, 1, 2, 3, 4, 6)}
    jobs |= {f"avif {e}": ("poster", 342, "avif", 80, str(e)) for e in (0, 1, 2, 3)}
    times = ratios(ours, rounds, jobs, ("poster", 342, "jpeg", 80))
    wanted, found = {}, {name: [] for name in jobs}
    for scene in POSTERS:
        reference = ours.render(scene, 342, "png", 80)[0]

        def scored(form, quality, effort):
            body = ours.render(scene, 342, form, quality, effort)[0]
            return light.score(reference, body), math.log(len(body))

        wanted[scene] = scored("jpeg", 80, "-")
        for name, job in jobs.items():
            scores, sizes = zip(*sorted(scored(job[2], quality, job[4]) for quality in (50, 65, 75, 80, 85, 90, 95)))
            size = np.interp(wanted[scene][0], scores, sizes, left=math.nan, right=math.nan)
            found[name].append(math.exp(size - wanted[scene][1]))
    rows = [[name, f"{times[name]:.2f}", f"{np.nanmean(found[name]):.3f}"] for name in jobs]
    table("Efforts at w342: the time of a render beside JPEG's, and bytes at its SSIMULACRA2", ["format, effort", "time", "bytes"], rows)


def at_score(curve, score):
    """The logarithm of the bytes at a score, between the neighbouring qualities; `nan` beyond them."""
    scores, sizes = zip(*sorted(curve))
    return np.interp(score, scores, sizes, left=math.nan, right=math.nan)


def turbo(picture, quality):
    """As libjpeg-turbo writes it, with Huffman tables of its own for each file."""
    body = io.BytesIO()
    picture.save(body, "jpeg", quality=quality, subsampling=2, optimize=True)
    return body.getvalue()


def scores(ours, width=342):
    """SSIMULACRA2 of all formats beside the picture before encoding: bytes at equal score, the score of a number, and that of auto."""
    jobs = []
    for scene in SCORED:
        reference = ours.render(scene, width, "png", 80)[0]
        picture = Image.open(io.BytesIO(reference)).convert("RGB")
        same = pyvips.Image.new_from_buffer(reference, "")
        jobs += [(("libjpeg-turbo", q, scene), reference, turbo(picture, q)) for q in QUALITIES]
        for form in FORMATS:
            jobs += [((form, q, scene), reference, ours.render(scene, width, form, q)[0]) for q in QUALITIES + ["auto"]]
        for form, (options, _) in list(OTHERS["libvips"].items())[1:]:
            jobs += [((f"libvips {form}", q, scene), reference, save(same, form, options, q)) for q in range(30, 96, 8)]
    with multiprocessing.Pool() as pool:
        found = pool.starmap(light.score, [job[1:] for job in jobs], chunksize=1)
    looks = {job[0]: (score, math.log(len(job[2]))) for job, score in zip(jobs, found)}

    def curve(who, scene):
        return [look for (name, quality, of), look in looks.items() if (name, of) == (who, scene) and quality != "auto"]

    names = FORMATS + ["libvips webp", "libvips avif"]
    rows = []
    for quality in (70, 80, 90):
        row = [f"libjpeg-turbo, {quality}", f"{mean([looks['libjpeg-turbo', quality, s][0] for s in SCORED]):.1f}"]
        for name in names:
            logs = [at_score(curve(name, s), looks["libjpeg-turbo", quality, s][0]) - looks["libjpeg-turbo", quality, s][1] for s in SCORED]
            row.append(f"{np.exp(np.nanmean(logs)):.2f} ({np.exp(np.nanmax(logs)):.2f})")
        rows.append(row)
    table(f"Bytes at the SSIMULACRA2 of libjpeg-turbo, which is 1; in brackets the worst image of {len(SCORED)}", ["", "score"] + names, rows)
    rows = [[q] + [f"{mean([looks[name, q, s][0] for s in SCORED]):.1f}" for name in ["libjpeg-turbo"] + FORMATS] for q in QUALITIES]
    table("The mean score of a quality", ["quality", "libjpeg-turbo"] + FORMATS, rows)
    rows = []
    for form in FORMATS:
        for quality in (80, "auto"):
            some = [looks[form, quality, s] for s in SCORED]
            rows.append([f"{form}, {quality}", f"{mean([l[0] for l in some]):.1f}", f"{statistics.pstdev([l[0] for l in some]):.1f}",
                         f"{min(l[0] for l in some):.1f}", f"{mean([math.exp(l[1]) for l in some]) / 1000:.1f}"])
    table("auto and 80: mean, standard deviation and least of the scores", ["", "mean", "deviation", "least", "KB"], rows)


def huffman(ours, rounds):
    rows = []
    for scene, high in (("poster", 1500), ("large", 3000)):
        for width in (92, 154, 185, 342, 500):
            with_tables, without = (scene, width, "jpeg", 80, "1"), (scene, width, "jpeg", 80, "0")
            cost = ratios(ours, rounds, {scene: with_tables}, without)[scene]
            saved = 1 - len(ours.render(*with_tables)[0]) / len(ours.render(*without)[0])
            is_on = len(ours.render(scene, width, "jpeg", 80)[0]) == len(ours.render(*with_tables)[0])
            pixels = (high / 1.5 / width) ** 2
            rows.append([f"{high * 2 // 3} × {high} to w{width}", f"{pixels:.0f}", f"{(cost - 1) * 100:+.1f} %", f"{saved * 100:.1f} %",
                         "on" if is_on else ""])
    table("Huffman tables made for each JPEG", ["sizes", "pixels per pixel", "time", "bytes saved", "default"], rows)


def look(ours, scene, width, form, quality, reference):
    body, seconds = ours.render(scene, width, form, quality)
    return Look(body, reference, seconds)


def automatic(ours, width=342):
    rows, sums = [], []
    references = {scene: ours.picture(scene, width) for scene in SCENES}
    for form in FORMATS:
        found = {s: look(ours, s, width, form, "auto", references[s]) for s in SCENES}
        for name in ("ssim", "distance"):
            sign = 1 if name == "ssim" else -1
            worst = min(sign * getattr(l, name) for l in found.values())
            for quality in range(50, 96):
                fixed = [look(ours, s, width, form, quality, references[s]) for s in SCENES]
                if min(sign * getattr(l, name) for l in fixed) >= worst - 1e-9:
                    break
            total = sum(l.bytes for l in found.values())
            sums.append([f"{form}, worst {name}", f"{sign * worst:.4f}", f"{total / 1000:.1f}", quality,
                         f"{sum(l.bytes for l in fixed) / 1000:.1f}", f"{total / sum(l.bytes for l in fixed):.2f}"])
        for scene in SCENES:
            a = found[scene]
            b = look(ours, scene, width, form, 80, references[scene])
            rows.append([f"{form}, {scene}", f"{a.bytes / 1000:.1f}", f"{a.ssim:.4f}", f"{a.distance:.3f}", f"{a.seconds * 1e3:.0f}",
                         f"{b.bytes / 1000:.1f}", f"{b.ssim:.4f}", f"{b.distance:.3f}", f"{b.seconds * 1e3:.0f}"])
    table(f"auto and 80 at w{width}", ["picture", "auto: KB", "SSIM", "distance", "ms", "80: KB", "SSIM", "distance", "ms"], rows)
    table("auto and the lowest number that is nowhere worse: KB of all pictures",
          ["format, of", "worst", "auto", "number", "its KB", "ratio"], sums)


def main(program, directory, rounds, parts):
    pyvips.cache_set_max(0)
    ours = Ours(program, directory)
    originals = {}
    for scene in SCENES:
        with open(f"{directory}/{scene}.original", "rb") as file:
            originals[scene] = file.read()
        for form in FORMATS:
            ours.render(scene, 342, form, 80)
    print(f"libvips {pyvips.version(0)}.{pyvips.version(1)}.{pyvips.version(2)}; {rounds} rounds; pictures {', '.join(SCENES)}")
    if "light" in parts:
        light.light(ours, table)
        light.crops(ours, "docs/images/linear-light.webp")
    looks = qualities(ours) if {"qualities", "others"} & parts else {}
    if "others" in parts:
        others(looks, originals)
    if "efforts" in parts:
        efforts(ours, rounds)
    if "scores" in parts:
        scores(ours)
    if "huffman" in parts:
        huffman(ours, rounds)
    if "auto" in parts:
        automatic(ours)
    ours.process.stdin.close()
    ours.process.wait()


if __name__ == "__main__":
    parts = set(sys.argv[4:]) or {"light", "qualities", "others", "efforts", "scores", "huffman", "auto"}
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), parts)
