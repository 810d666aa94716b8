"""Services of titles that answer with lies, and visitors who spend their quota."""

import json, os, time, unicodedata, urllib.parse

import pictures
from attack import Attack, attack

FAULT = (200, 400, 404, 413, 422, 502, 504)


@attack
class BigJSON(Attack):
    name = "json-big"
    what = "answers of a service of 30 MiB of `\"a\",` and of 4 MiB of opening brackets"
    pause = 0.1

    def turn(self, random):
        word = f"{random.choice(['big', 'deep'])}-{self.next()}"
        self.get(random.choice([f"/sources/films/titles?query={word}", f"/t/p/w92/films/{word}.jpg"]), random, FAULT)


@attack
class Numbers(Attack):
    name = "numbers"
    what = "`until` of 1e300, numbers that are `nan` and `1e999`, totals of Int.max, names of 1 MB"

    def turn(self, random):
        word = self.next()
        self.get(random.choice([
            f"/sources/liar/titles/until-huge-{word}", f"/sources/liar/titles/until-small-{word}", f"/sources/liar/titles?query=last-{word}",
            f"/sources/liar/titles?query=low-{word}", f"/sources/liar/titles/name-{word}", f"/t/p/w92/liar/any-{word}.jpg",
            f"/sources/films/titles?query=intmax-{word}", f"/sources/films/titles?query=negative-{word}", f"/sources/films/titles?query=huge-{word}",
            f"/sources/films/titles?query=nan-{word}", f"/sources/films/titles/nan-{word}", f"/sources/films/titles/inf-{word}",
            f"/sources/films/titles/minus-{word}", f"/sources/films/titles?page={random.choice([2**63 - 1, 2**63, -1, 10**30])}&query=a",
            "/sources/korea/titles", f"/sources/korea/titles?date=2026-11-{random.randrange(1, 20):02}",
            "/sources/korea/titles?date=999999-12-31", "/sources/korea/titles?date=-9223372036854775808-01-01",
        ]), random, FAULT)


@attack
class EndlessLists(Attack):
    name = "endless-lists"
    what = "lists whose next page is always the first, or always one more, for prefetch and for people"
    threads = 1
    pause = 2
    timeout = 25

    def turn(self, random):
        phrase = random.choice(["loop", "grow"])
        body = json.dumps({"source": "liar", "query": f"{phrase}-{self.next()}", "sizes": ["w92"], "dryRun": random.random() < 0.5}).encode()
        begun = time.monotonic()
        answer = self.get("/prefetch", random, FAULT, method="POST", body=body,
                          fields={"Authorization": f"Bearer {self.scene.token}", "Content-Type": "application/json"})
        if answer is None and phrase == "loop" and time.monotonic() - begun >= self.timeout:
            self.wrong("prefetch of a list whose next page is its first does not end")


@attack
class Mirror(Attack):
    name = "mirror"
    what = "a mirror of TMDB: made-up files and films, parameters in any order and case, pages without end, answers of 30 MiB"
    threads = 4

    def prepare(self):
        self.asked = 0

    def same(self, random):
        """A question in other words each time, which the service has to be asked once."""
        parts = ["images", "credits", "videos"]
        languages = random.sample(["de", "en", "null"], 3)
        random.shuffle(parts)
        words = [f"language={random.choice(['de-DE', 'de-de', 'DE-DE', 'DE-de'])}", f"append_to_response={','.join(parts)}",
                 f"include_image_language={random.choice([',', ',%20', '%2C']).join(languages)}", f"api_key={self.next()}"]
        words += random.sample(["page=1", "include_adult=FALSE", f"_={self.next()}", f"LANGUAGE={self.next()}", "language=de-DE"], 2)
        random.shuffle(words)
        self.get(f"/3/movie/{random.choice(['551', '551-a-film', '551-' + self.next()])}?{'&'.join(words)}", random, (200,))
        with self.lock:
            self.asked += 1
            asked = self.asked
        if asked % 200 == 0 and (calls := self.scene.counts("127.0.0.7").get("tmdb/551", 0)) > 1 + asked // 20:
            self.wrong("a question in other words is asked again and again")

    def turn(self, random):
        if random.randrange(4) == 0:
            return self.same(random)
        word = self.next().replace("-", "x")
        parameters = ["language=de-DE", "append_to_response=images,credits,videos", "include_image_language=de,en,null", f"_={word}",
                      f"api_key={word}", "page=1"]
        random.shuffle(parameters)
        spelled = "&".join(text.upper() if random.random() < 0.2 else text for text in parameters)
        path = random.choice([
            f"/t/p/w342/{word}.jpg", f"/t/p/w342/known{random.randrange(50)}.jpg", f"/t/p/w{random.randrange(1, 3000)}/known1.jpg",
            f"/t/p/w780_filter({word})/known1.jpg", f"/3/movie/{random.randrange(10**9)}", f"/3/movie/none{word}",
            f"/3/movie/550?{spelled}", f"/3/movie/popular?page={random.randrange(10**9)}", f"/3/search/movie?query={word}",
            f"/3/search/movie?query=big-{word}", f"/3/{word}/{word}/{word}", f"/3/movie/550?{'with_a=1&' * 63}with_b={word}",
            f"/3/account/{word}", f"/3/movie/{'1' * 7000}"])
        answer = self.get(path, random, (200, 400, 403, 404, 502, 504))
        if answer and path.startswith("/3/") and answer.status >= 400 and b"status_code" not in answer.body:
            self.wrong(f"an error that is not TMDB's: {answer.text}")


@attack
class RatingPosters(Attack):
    name = "rating-posters"
    what = "addresses of rating posters: made-up keys, ids, labels, sizes and parameters; only the right key may get a picture"
    key = "stress-key-of-all"

    def turn(self, random):
        word = self.next()
        key = random.choice([self.key] * 4 + [word, self.key[:-1], self.key.upper(), f"{self.key}%00", "x" * 5000])
        kind = random.choice(["poster", "textless", "backdrop", "logo", "episode", "season", "rating", "banner"])
        label = random.choice(["default", word, "x" * 200, "%2e%2e", "order"])
        base, title = random.choice([
            ("imdb", f"tt1{random.randrange(10**6)}"), ("imdb", f"tt{random.randrange(10**9)}"), ("tmdb", f"movie-{random.randrange(10**9)}"),
            ("tmdb", f"series-{word}"), ("tvdb", f"{random.randrange(10**9)}"), ("imdb", f"episode-tt1-S{'9' * 30}E1"), ("tmdb", "%2e%2e"),
            ("imdb", "x" * 3000), ("anidb", word)])
        query = random.choice(["", "?fallback=true", f"?lang={word}", f"?imageSize={word}", "?imageSize=very-large&lang=de", f"?_={word}",
                               f"?order={'imdb%2C' * 500}", "?" + "badges=a&" * 400])
        path = random.choice([f"/{key}/{base}/{kind}-{label}/{title}.{random.choice(['jpg', 'png', 'gif'])}{query}"] * 9 + [f"/{key}/isValid"])
        answer = self.get(path, random, (200, 400, 403, 404, 414, 431, 502, 504))
        if answer and answer.status == 200 and key != self.key:
            self.wrong(f"an answer for a made-up key: {path[:60]}")
        if answer and self.key.encode() in answer.body:
            self.wrong("an answer with a key in it")


@attack
class MediaServers(Attack):
    name = "media-servers"
    what = "images of media servers: made-up items and tags, 4,000 widths, parameters in any order and case, paths that are no images"
    threads = 4
    widths = 4000

    def prepare(self):
        self.sizes = set()

    def turn(self, random):
        word = self.next().replace("-", "x")
        parameters = [f"maxWidth={random.randrange(1, self.widths)}", f"quality={random.randrange(101)}", f"api_key={word}", "tag=1"]
        random.shuffle(parameters)
        spelled = "&".join(text.lower() if random.random() < 0.3 else text for text in parameters)
        url = urllib.parse.quote(random.choice([
            "/library/metadata/1/thumb/1", f"/library/metadata/{random.randrange(10**6)}/thumb/{random.randrange(10**6)}", "/:/scrobble?key=1",
            f"/library/metadata/../{word}/thumb/1", f"/library/sections?{word}", f"http://127.0.0.1:1/{word}", "/library/metadata/1/refresh/1",
            "//127.0.0.9/library/metadata/1/thumb/1", "1" * 3000]), safe="")
        path = random.choice([
            f"/Items/1/Images/Primary?{spelled}", f"/emby/items/1/images/primary?{spelled}", f"/Items/1/Images/Primary?maxWidth=64&tag={word}",
            f"/Items/{word}/Images/Backdrop/{random.randrange(2000)}?fillWidth=64&fillHeight=96", f"/Items/1/Images/{word}",
            "/Items/1/Images/Primary?tag=none", f"/Items/1/Images/Primary?{'a=1&' * 70}", f"/Items/{'1' * 7000}/Images/Primary", "/Items/1",
            f"/photo/:/transcode?url={url}&width={random.randrange(1, self.widths)}&height=96&minSize=1&X-Plex-Token={word}"])
        answer = self.get(path, random, (200, 400, 404))
        if answer and answer.status == 200 and path.startswith("/Items/1/Images/Primary?") and "maxwidth" in path.lower():
            self.sizes.add(len(answer.body))
            if len(self.sizes) > 64:
                self.wrong(f"{len(self.sizes)} sizes of an image for {self.widths} widths")
        if answer and word in answer.text and "X-Plex-Token" in path and word not in urllib.parse.unquote(url):
            self.wrong(f"an answer with a token: {answer.text}")


@attack
class Twins(Attack):
    name = "unicode-twins"
    what = "ids that look the same and are not: U+212A and K, é composed and decomposed; each has to have its own picture"
    threads = 3

    def turn(self, random):
        word = self.next()
        letter = random.choice(["K\u212a", "é" + unicodedata.normalize("NFD", "é"), "Å\u212b", "Ω\u2126", "가" + unicodedata.normalize("NFD", "가")])
        twins = [f"{word}{letter[0]}", f"{word}{letter[1:]}"]
        random.shuffle(twins)
        for twin in twins * 2:
            quoted = urllib.parse.quote(twin, safe="")
            answer = self.get(random.choice([f"/t/p/w92/program/{quoted}.png", f"/i/unsafe/rs:fit:60:0/plain/program://{quoted}@png"]),
                              random, (200,))
            if answer and answer.status == 200:
                pixel = pictures.first_pixel(answer.body)[0]
                if not pictures.is_near(pixel, pictures.color_of(twin)):
                    self.wrong(f"{ascii(twin[len(word):])} was shown another picture")
        # The same in an URL: the origin decides by bytes.
        for twin in twins:
            url = f"http://{self.scene.honest}/good/60x90/{urllib.parse.quote(twin, safe='')}.png"
            answer = self.get(self.scene.image(url), random, (200, 400, 404))
            if answer and answer.status == 200:
                pixel = pictures.first_pixel(answer.body)[0]
                if not any(pictures.is_near(pixel, pictures.color_of(name)) for name in (twin, urllib.parse.quote(twin, safe=''))):
                    self.wrong(f"{ascii(twin[len(word):])} in an URL was shown another picture")


@attack
class MadeUpIDs(Attack):
    name = "made-up-ids"
    what = "posters of titles with new and long ids: the folder of the cache stays in its budget, and the index with it"
    threads = 3

    def turn(self, random):
        self.get(f"/t/p/w92/program/{self.next()}{'-long' * 150}.jpg", random, (200,))


class Quota(Attack):
    """One visitor from one address who asks for what nobody asked for before. The calls are counted at the service."""
    threads = 2

    def address(self, random): return "127.0.8.1"


@attack
class UnknownIDs(Quota):
    name = "unknown-ids"
    what = "posters of ids that there are not, from one address"

    def turn(self, random):
        self.get(f"/t/p/w92/quota/unknown-{self.next()}.jpg", random, (404,))


@attack
class Searches(Quota):
    name = "searches"
    what = "searches for new phrases, from one address"

    def turn(self, random):
        self.get(f"/sources/quota/titles?query=new-{self.next()}", random, (200,))


@attack
class Candidates(Quota):
    name = "posters"
    what = "the candidates of the same three titles again and again, from one address"

    def turn(self, random):
        self.get(f"/sources/quota/titles/{random.randrange(1, 4)}/posters", random, (200,))
