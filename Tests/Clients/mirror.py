"""Clients of TMDB in front of a server that mirrors it: their requests, as their sources build them, with only the host changed."""

import io
import json
import secrets
from urllib.request import Request, urlopen

from fake_tmdb import FILE, FakeTMDB
from server import get

# Questions of clients, without the key that each of them adds.
QUESTIONS = {
    "Seerr": [
        "movie/550?language=de&append_to_response=credits,external_ids,videos,keywords,release_dates,watch/providers"
        "&include_video_language=de,%20en",
        "tv/1396?language=de&append_to_response=aggregate_credits,credits,external_ids,keywords,videos,content_ratings,watch/providers",
        "tv/1396/season/1?language=de&append_to_response=external_ids", "search/multi?query=fight%20club&page=1&include_adult=false",
        "discover/movie?sort_by=popularity.desc&page=2&with_genres=18%7C35&vote_count.gte=10", "trending/all/day?page=1&language=de",
        "find/tt0137523?external_source=imdb_id", "collection/10?language=de", "person/287/combined_credits?language=de",
        "genre/movie/list?language=de", "configuration/languages", "watch/providers/regions",
    ],
    "Jellyfin": [
        "movie/550?append_to_response=credits,releases,images,videos,keywords&language=pt-BR&include_image_language=pt-BR,null,en",
        "tv/1396/season/1/episode/2?append_to_response=credits,images,external_ids,videos&language=pt-BR", "movie/550/images",
        "search/movie?query=Fight+Club&year=1999&language=pt-BR", "find/81189?external_source=tvdb_id",
    ],
    "Kodi": [
        "search/movie?query=Fight%20Club&year=1999&language=de-DE",
        "movie/550?append_to_response=trailers,images,releases,casts,keywords&language=de-DE", "movie/550?append_to_response=trailers,images",
    ],
    "MediaElch": ["movie/550/images?language=de-DE&include_image_language=en,null,de", "movie/550/casts?language=de-DE"],
    "Posterizarr": ["movie/550?append_to_response=images&language=xx&include_image_language=xx,en,de", "tv/1396/season/1/images"],
    "TMDB Helper": [
        "movie/550?append_to_response=credits,images,release_dates,content_ratings,external_ids,movie_credits,tv_credits,keywords,reviews,videos,"
        "watch/providers&language=de-DE&include_image_language=de,null,en&include_video_language=de,null,en&region=DE",
    ],
    "AIOMetadata": [
        "tv/1396?append_to_response=external_ids,content_ratings,images,translations,keywords,videos,season/1,season/2"
        "&include_image_language=pt,en,null,ja",
    ],
    "tinyMediaManager": ["collection/10/images", "tv/1396/season/1/episode/2/images"],
    "Kometa": ["movie/550?append_to_response=external_ids,keywords&language=en", "discover/tv?with_networks=213&page=1"],
    "Swift TMDb": ["movie/550/images?include_image_language=de,en", "tv/1396/season/1?language=de-DE"],
    "tivi": ["tv/1396?append_to_response=external_ids", "tv/popular?page=2&language=en"],
    "MovieSwiftUI": ["movie/550?append_to_response=keywords,images&include_image_language=en,en,null&language=en", "movie/popular?page=3"],
}
# The same questions as some of these, in other words.
AGAIN = [
    "movie/550?include_video_language=en,de&append_to_response=videos,credits,keywords,external_ids,watch%2Fproviders,release_dates&language=DE",
    "search/movie?language=de-DE&year=1999&query=fight+club", "trending/all/day?language=de", "movie/550-fight-club/images",
]
# The sizes that clients ask for, and the sides of what they get of a file of 1000 × 1500.
SIZES = {
    "w92": (92, 138), "w154": (154, 231), "w185": (185, 278), "w200": (200, 300), "w300": (300, 450), "w342": (342, 513),
    "w400": (400, 600), "w500": (500, 750), "w780": (780, 1170), "w1280": (1000, 1500), "h632": (421, 632), "original": (1000, 1500),
    "w600_and_h900_bestv2": (600, 900), "w300_and_h450_face": (300, 450), "w276_and_h350_face": (276, 350),
    "w780_filter(duotone,ffffff,bababa)": (780, 1170), "h100_filter(negate,000,666)": (67, 100), "w500/": (500, 750),
}


def read(url, question):
    """The status and the document that a client reads."""
    status, fields, body = get(f"{url}/3/{question}{'&' if '?' in question else '?'}api_key=theirs", Authorization="Bearer theirs")
    assert fields["content-type"] == "application/json;charset=utf-8", (question, fields)
    return status, json.loads(body)


def prefetched(url, token, **order):
    """What became of each title of an order."""
    request = Request(
        f"{url}/prefetch", json.dumps({"source": "tmdb", "sizes": ["w342", "w154"], **order}).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    with urlopen(request, timeout=60) as answer:
        return {title["title"]: title["state"] for title in json.load(answer)["titles"]}


def drawn(context):
    """A JPEG of 1000 × 1500."""
    file = io.BytesIO()
    context.module("PIL.Image").effect_noise((1000, 1500), 60).convert("RGB").save(file, "JPEG")
    return file.getvalue()


def check_tmdb_mirror(context):
    """Clients of TMDB get from a mirror what TMDB tells, with one call for each question, and also while TMDB is away."""
    Image = context.module("PIL.Image")
    tmdbsimple, tmdbv3api = context.module("tmdbsimple"), context.module("tmdbv3api")

    def libraries(url):
        """What two libraries read from an API at an address."""
        tmdbsimple.API_KEY = "theirs"
        film, search = tmdbsimple.Movies(550), tmdbsimple.Search()
        film.base_uri = search.base_uri = f"{url}/3"
        read = [film.info(append_to_response="credits,images", language="de"), film.images(), film.credits(), search.movie(query="Fight")]
        for client in [tmdbv3api.Movie(), tmdbv3api.TV(), tmdbv3api.Trending()]:
            client.api_key, client._base, client.cache = "theirs", f"{url}/3", False
            if isinstance(client, tmdbv3api.Movie):
                read += [client.details(550).poster_path, client.popular()[0].title]
            elif isinstance(client, tmdbv3api.TV):
                read += [client.details(1396).id]
            else:
                read += [client.movie_day().results[0].title]
        return read

    questions = sum(QUESTIONS.values(), []) + ["movie/404?language=de", "tv/1/season/404"]
    with FakeTMDB(drawn(context)) as fake:
        wanted = {question: read(fake.url, question) for question in questions + AGAIN}
        expected = libraries(fake.url)
        token = secrets.token_hex(32)
        keys = f"clients: {{ trustedProxies: [] }}\nadmin: {{ token: {token} }}"
        with context.server(keys, fake.source, dialects="tmdb") as server:
            fake.asked.clear()
            fake.keys.clear()

            def compare(questions):
                for question in questions:
                    assert read(server.url, question) == wanted[question], (question, read(server.url, question), wanted[question])

            def pictures():
                for size, sides in SIZES.items():
                    status, fields, body = get(f"{server.url}/t/p/{size}/{FILE}.jpg")
                    assert status == 200 and fields["content-type"] == "image/jpeg", (size, status, body[:300])
                    width, height = Image.open(io.BytesIO(body)).size
                    assert abs(width - sides[0]) <= 1 and abs(height - sides[1]) <= 1, (size, width, height)

            # Each question is one call with the key of the server, however often and in whatever words it comes.
            compare(questions * 2 + AGAIN)
            assert len(fake.asked) == len(questions), sorted(fake.asked)
            assert fake.keys == {("Bearer ours",)}, fake.keys
            assert libraries(server.url) == expected, (libraries(server.url), expected)
            pictures()
            # A list by name, a collection and ids; the file of the posters is there.
            for state in ["new", "known"]:
                assert prefetched(server.url, token, list="popular") == {"tmdb://550": state}
            told = prefetched(server.url, token, list="collection-10")
            assert told == {"tmdb://550": "known", "tmdb://404": "failed"}, told
            told = prefetched(server.url, token, ids=["tv-1396", "550"])
            assert told == {"tmdb://tv-1396": "new", "tmdb://550": "known"}, told
            assert len(fake.files) == 1, fake.files
            # Answers ahead of a client are asked for once.
            calls = len(fake.asked)
            for state in ["new", "known"]:
                assert prefetched(server.url, token, ids=["550"], answers=["language=fr-FR&append_to_response=credits"]) == {"tmdb://550": state}
            assert read(server.url, "movie/550?append_to_response=credits&language=fr-FR")[1]["id"] == 550
            assert len(fake.asked) == calls + 1, sorted(fake.asked)
            assert get(f"{server.url}/t/p/w342/unknown.jpg")[0] == 404
            configuration = json.loads(get(f"{server.url}/3/configuration?api_key=theirs")[2])
            assert configuration["images"]["secure_base_url"] == f"{server.url}/t/p/" and configuration["change_keys"], configuration
            for path in ["account", "authentication/token/new", "movie/550/account_states"]:
                assert read(server.url, path)[0] == 403 and read(server.url, path)[1]["status_code"] == 3, read(server.url, path)
            # Everything that was seen is there without TMDB.
            fake.stop()
            compare(questions + AGAIN)
            assert libraries(server.url) == expected
            pictures()
            assert "theirs" not in open(server.log.name, errors="replace").read()
    return f"{len(questions)} questions of {len(QUESTIONS)} clients"
