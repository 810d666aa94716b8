"""Runs our renderer and libvips in turns and prints a table. Called by .ci/bench-peers; see there."""

import io
import os
import statistics
import subprocess
import sys
import time

os.environ["VIPS_CONCURRENCY"] = "1"
import numpy as np
import pyvips
from PIL import Image

# job: original, width, suffix of the outcome
JOBS = {
    "large-w342": ("large", 342, ".jpg"),
    "large-w500": ("large", 500, ".jpg"),
    "large-w780": ("large", 780, ".jpg"),
    "small-w185": ("small", 185, ".jpg"),
    "small-w342": ("small", 342, ".jpg"),
    "progressive-w342": ("progressive", 342, ".jpg"),
    "progressive-w500": ("progressive", 500, ".jpg"),
    "full-color-w342": ("full-color", 342, ".jpg"),
    "full-color-w500": ("full-color", 500, ".jpg"),
    "png-w342-jpeg": ("picture", 342, ".jpg"),
    "png-w342-png": ("picture", 342, ".png"),
    "clear-w342-png": ("clear", 342, ".png"),
}
LADDER = [780, 500, 342, 185, 154, 92]


def vips(original, width, suffix):
    options = {"Q": 80, "strip": True} if suffix == ".jpg" else {"strip": True}
    image = pyvips.Image.thumbnail_buffer(original, width, height=10_000_000)
    return image.write_to_buffer(suffix, **options)


def weights(samples, outputs):
    """Lanczos3 as a matrix: with it the references are made."""
    scale = samples / outputs
    centers = (np.arange(outputs) + 0.5) * scale
    x = (np.arange(samples) + 0.5 - centers[:, None]) / max(scale, 1)
    table = np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)
    return table / table.sum(axis=1, keepdims=True)


def luma(image):
    if image.mode == "RGBA":
        image = Image.alpha_composite(Image.new("RGBA", image.size, (255, 255, 255, 255)), image).convert("RGB")
    return np.asarray(image.convert("YCbCr"), dtype=np.float64)[:, :, 0]


def opened(samples):
    """Linear light of stored values (IEC 61966-2-1)."""
    values = samples / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def closed(light):
    light = np.clip(light, 0, 1)
    return 255 * np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)


def compare(body, reference):
    """PSNR of luma in dB, and SSIM over windows of 8 × 8."""
    y = luma(Image.open(io.BytesIO(body)))
    error = np.mean((y - reference) ** 2)
    psnr = 10 * np.log10(255**2 / error)

    def means(a):
        sums = np.cumsum(np.cumsum(np.pad(a, ((1, 0), (1, 0))), axis=0), axis=1)
        return (sums[8:, 8:] - sums[:-8, 8:] - sums[8:, :-8] + sums[:-8, :-8]) / 64

    a, b = means(y), means(reference)
    aa, bb, ab = means(y * y) - a * a, means(reference**2) - b * b, means(y * reference) - a * b
    ssim = ((2 * a * b + 6.5025) * (2 * ab + 58.5225)) / ((a * a + b * b + 6.5025) * (aa + bb + 58.5225))
    return psnr, float(np.mean(ssim))


def main(program, directory, rounds):
    pyvips.cache_set_max(0)
    ours = subprocess.Popen([program, "serve", directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run_ours(job, repeats):
        ours.stdin.write(f"{job} {repeats}\n")
        ours.stdin.flush()
        return [float(word) for word in ours.stdout.readline().split()]

    def run_vips(work, repeats):
        start = time.process_time()
        for _ in range(repeats):
            work()
        return (time.process_time() - start) / repeats

    originals = {}
    for original, _, _ in JOBS.values():
        with open(f"{directory}/{original}.original", "rb") as file:
            originals[original] = file.read()

    def ladder():
        for width in LADDER:
            vips(originals["large"], width, ".jpg")

    jobs = {name: (lambda o=o, w=w, s=s: vips(originals[o], w, s)) for name, (o, w, s) in JOBS.items()}
    jobs["ladder"] = ladder
    times = {name: ([], [], [], [], []) for name in jobs}
    for work in jobs.values():
        work()
    for _ in range(rounds):
        for name, work in jobs.items():
            repeats = 2 if name == "ladder" else 4
            cpu, clock = run_ours(name, repeats)
            times[name][0].append(cpu)
            # The same work in a process that reaches nothing: the ratio of processor time, and what it adds on the clock.
            apart = run_ours(f"process:{name}", repeats)
            times[name][3].append(apart[0] / cpu)
            times[name][4].append(apart[1] - clock)
            # Right behind ours: the ratios are taken round by round, so that a machine that changes its pace does not change them.
            has_floor = name in JOBS and JOBS[name][2] == ".jpg" and JOBS[name][0] != "picture"
            if has_floor:
                times[name][2].append(run_ours(f"floor:{name}", repeats)[0])
            times[name][1].append(run_vips(work, repeats))
    ours.stdin.close()
    ours.wait()

    subprocess.run([program, "write", directory], check=True)
    print(f"libvips {pyvips.version(0)}.{pyvips.version(1)}.{pyvips.version(2)}; CPU ms, median of {rounds} rounds, one thread\n")
    print("| job | ours | libvips | floor | ours/libvips | ours/floor | in a process | added µs | PSNR-Y ours | libvips | SSIM ours | libvips |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, (mine, theirs, floor, apart, added) in times.items():
        a, b = statistics.median(mine), statistics.median(theirs)
        f = statistics.median(floor) if floor else None
        ratio, over = (statistics.median([m / t for m, t in zip(mine, peer)] or [0]) for peer in (theirs, floor))
        row = [name, f"{a * 1e3:.2f}", f"{b * 1e3:.2f}", f"{f * 1e3:.2f}" if f else "", f"{ratio:.2f}", f"{over:.2f}" if f else ""]
        row += [f"{statistics.median(apart):.2f}", f"{statistics.median(added) * 1e6:.0f}"]
        if name in JOBS:
            original, width, suffix = JOBS[name]
            full = luma(Image.open(io.BytesIO(originals[original])))
            height = round(full.shape[0] * width / full.shape[1])
            # Each in its own light: ours averages light, and libvips stored values.
            down, across = weights(full.shape[0], height), weights(full.shape[1], width).T
            with open(f"{directory}/{name}.ours{suffix}", "rb") as file:
                p, s = compare(file.read(), closed(down @ opened(full) @ across))
            q, t = compare(vips(originals[original], width, suffix), np.clip(down @ full @ across, 0, 255))
            row += [f"{p:.2f}", f"{q:.2f}", f"{s:.4f}", f"{t:.4f}"]
        print("| " + " | ".join(row) + " |")
    top = statistics.median(times["large-w780"][0])
    print(f"\nladder of {len(LADDER)} / its largest size alone: {statistics.median(times['ladder'][0]) / top:.2f}")
    subprocess.run([program, "peak", directory], check=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 7)
