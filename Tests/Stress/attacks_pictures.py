"""Pictures that cost more than they look, alone and as candidates of an election."""

import pictures
from attack import Attack, attack

# What a bad picture may be answered with: it is the picture's fault (4xx), or it took too long (503, 504).
BAD = (400, 404, 413, 415, 422, 504)
ANY = (200,) + BAD


class Pictures(Attack):
    """Asks for pictures of the hostile origin, each time under another address."""
    names = ()
    expect = ANY

    def turn(self, random):
        name = random.choice(self.names)
        options, extension = random.choice([("rs:fit:60:0", "png"), ("rs:fill:300:450", "jpg"), ("rs:fit:60:0", "jpg")])
        self.get(self.scene.image(f"http://{self.scene.hostile}/file/{name}/{self.next()}", options, extension), random, self.expect)


@attack
class Segments(Pictures):
    name = "jpeg-segments"
    what = "JPEGs of 1 MB with 250,000 empty APP1 segments, or as many comments behind fill bytes"
    names = ("segments.jpg", "segments-and-rubbish.jpg")
    threads = 2


@attack
class Scans(Pictures):
    name = "jpeg-scans"
    what = "progressive JPEGs of 62 million pixels with 99 and 5,000 scans"
    names = ("scans-in-limit.jpg", "scans-beyond.jpg")
    threads = 1


@attack
class Stages(Pictures):
    name = "icc-stages"
    what = "ICC profiles with 2,000 to 1,500,000 processing elements (mpet), in JPEG and PNG"
    names = ("stages.jpg", "stages-many.png", "stages-some.png")
    threads = 2


@attack
class Profiles(Pictures):
    name = "icc-many"
    what = "64 PNGs of 15 KB, each with another profile of 9 MB"
    names = tuple(f"grid-{seed}.png" for seed in range(64))
    threads = 2


@attack
class Thin(Pictures):
    name = "png-thin"
    what = "PNGs of 1 × 31,000,000 and 31,000,000 × 1 in 60 KB"
    names = ("tall.png", "wide.png", "half-tall.png")

    def turn(self, random):
        options = random.choice(["rs:fit:100:0", "rs:fill:300:450", "rs:fit:0:500", "rs:force:500:500"])
        name = random.choice(self.names)
        self.get(self.scene.image(f"http://{self.scene.hostile}/file/{name}/{self.next()}", options), random, ANY)


@attack
class Bombs(Pictures):
    name = "png-bombs"
    what = "zTXt and iTXt of 400 MB, iCCP of 200 MB, IDAT with 200 MB too many"
    names = ("text.png", "international.png", "profile-bomb.png", "pixels-bomb.png")


@attack
class Damaged(Pictures):
    name = "damaged"
    what = "pictures that are cut, empty, contradict themselves, or are none"
    names = ("cut.png", "cut.jpg", "head-only.jpg", "no-iend.png", "wrong-crc.png", "no-pixels.png", "zero.png", "huge.png", "huge.jpg",
             "text.txt", "empty-boxes.avif", "riff.webp")


@attack
class Odd(Attack):
    name = "odd-pictures"
    what = "strange pictures that have to be served: palette indices outside PLTE, bytes behind the end, EXIF integers of any kind, gzip"
    threads = 1
    pause = 0.2

    def prepare(self):
        self.pictures = [(f"/file/{name}", color) for name, _, color in pictures.odd()]

    def turn(self, random):
        word = self.next()
        path, color = random.choice(self.pictures + [(f"/gzip/{word}.png", pictures.color_of(word))])
        url = f"http://{self.scene.hostile}{path}" if path.startswith("/gzip") else f"http://{self.scene.hostile}{path}/{word}"
        answer = self.get(self.scene.image(url), random, (200,))
        if answer and answer.status == 200:
            pixel = pictures.first_pixel(answer.body)[0]
            if not pictures.is_near(pixel, color, 12):
                self.wrong(f"{path.split('/')[2]} has the colour {pixel}, not {color}")


@attack
class Elections(Attack):
    name = "elections"
    what = "titles whose candidates are nine hostile pictures and a good one; searched for by likeness"
    pause = 0.1

    def turn(self, random):
        self.get(f"/t/p/w92/films/election-{self.next()}.jpg", random, ANY + (502,))
