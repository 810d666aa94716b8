import Foundation
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import Dialects

/// Addresses of TMDB and their meaning. Server tests cover the responses.
final class TMDBDialectTests: XCTestCase {
    private let server = FakeDialectServer()

    func testPicturesAreSizesOfOneOriginal() throws {
        for (address, id, options) in [
            ("original/abc.jpg", "/abc.jpg", []),
            ("w342/abc.jpg", "/abc.jpg", ["w:342", "format:jpg"]),
            ("w342//abc.jpg", "/abc.jpg", ["w:342", "format:jpg"]),
            ("h632/abc.jpg", "/abc.jpg", ["h:632", "format:jpg"]),
            ("w1280/abc.png", "/abc.png", ["w:1280", "format:png"]),
            // TMDB has a PNG for each SVG, and the server makes WebP of its originals
            ("w500/abc.svg", "/abc.png", ["w:500", "format:png"]),
            ("original/abc.svg", "/abc.png", []),
            ("w342/abc.webp", "/abc.jpg", ["w:342", "format:webp"]),
            ("original/abc.webp", "/abc.jpg", ["format:webp"]),
            ("w600_and_h900_bestv2/abc.jpg", "/abc.jpg", ["resizing_type:fill", "w:600", "h:900", "format:jpg"]),
            ("w300_and_h450_face/abc.jpg", "/abc.jpg", ["resizing_type:fill", "w:300", "h:450", "gravity:sm", "format:jpg"]),
            (
                "w1920_and_h800_multi_faces/abc.jpg", "/abc.jpg",
                ["resizing_type:fill", "w:1920", "h:800", "gravity:sm", "format:jpg"]
            ),
            ("w780_filter(duotone,ffffff,bababa)/abc.png", "/abc.png", ["w:780", "format:png"]),
            ("h100_filter%28negate%2C000%2C666%29/abc.png", "/abc.png", ["h:100", "format:png"]),
        ] as [(Substring, String, [String])] {
            let image = try XCTUnwrap(try TMDBDialect().image(at: address, on: server), "\(address)")
            XCTAssertEqual(image.title, TitleReference(source: "tmdb", id: id), "\(address)")
            XCTAssertEqual(image.options, options, "\(address)")
            XCTAssertTrue(image.isSize, "\(address)")
        }
    }

    func testOtherSizesNeedAServerThatMakesThem() throws {
        let address: Substring = "w343/abc.jpg"
        XCTAssertEqual(try TMDBDialect().image(at: address, on: server)?.isSize, false)
        XCTAssertThrowsError(try TMDBDialect().image(at: address, on: FakeDialectServer(acceptsUnsigned: false)))
        XCTAssertNoThrow(try TMDBDialect().image(at: "w342/abc.jpg", on: FakeDialectServer(acceptsUnsigned: false)))
    }

    func testAddressesOfNoPictureAreRefused() {
        for (address, words) in [
            ("w342/", "/t/p/w342/"), ("w342/abc", "abc"), ("w342/abc.gif", "abc.gif"), ("w342/a%2Fb.jpg", "a%2Fb.jpg"),
            ("w342/\(String(repeating: "a", count: 65)).jpg", "there is nothing"), ("q342/abc.jpg", "unknown size “q342”"),
            ("w0/abc.jpg", "unknown size"), ("w342_bestv2/abc.jpg", "unknown size"), ("h900_and_w600/abc.jpg", "unknown size"),
            ("w600_and_h900_and_h1/abc.jpg", "unknown size"), ("w342_filter(/abc.jpg", "unknown size"),
            ("w342_filter(<script>)/abc.jpg", "unknown size"), ("w1234567/abc.jpg", "unknown size"),
        ] as [(Substring, String)] {
            XCTAssertThrowsError(try TMDBDialect().image(at: address, on: server), "\(address)") { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
            }
        }
    }

    func testSpellingsOfAQuestionAreOneQuestion() throws {
        for (address, target) in [
            ("movie/550", "/movie/550"),
            ("movie/550?", "/movie/550"),
            ("movie/550-fight-club?api_key=SECRET&language=de-de", "/movie/550?language=de-DE"),
            ("movie/550?language=DE-DE&_=17&callback=x&session_id=SECRET", "/movie/550?language=de-DE"),
            (
                "movie/550?append_to_response=images,credits,,images&include_image_language=null,%20DE,en",
                "/movie/550?append_to_response=credits%2Cimages&include_image_language=de%2Cen%2Cnull"
            ),
            ("search/movie?page=1&query=Fight++Club&include_adult=false", "/search/movie?query=fight%20club"),
            ("search/movie?query=&page=02", "/search/movie?page=2&query="),
            ("trending/all/day?page=1", "/trending/all/day"),
            ("find/tt0137523?external_source=IMDB_ID", "/find/tt0137523?external_source=imdb_id"),
            (
                "discover/movie?with_genres=18%7C35&vote_average.gte=7&region=de&with_%26api_key%3D=x",
                "/discover/movie?region=DE&vote_average.gte=7&with_genres=18%7C35"
            ),
            ("watch/providers/regions?language=en", "/watch/providers/regions?language=en"),
        ] as [(Substring, String)] {
            XCTAssertEqual(try TMDBQuestion(address).target, target, "\(address)")
        }
    }

    func testQuestionsOfAccountsAndMadeUpPathsAreRefused() {
        for address in [
            "account", "account/1/favorite/movies?session_id=x", "authentication/token/new", "guest_session/1/rated/movies",
            "movie/550/account_states", "movie/550/rating", "list/1/item_status", "Account/5", "movie/550/Rating", "list/5/clear",
            "movie/550?append_to_response=images,account_states", "movie/550?append_to_response=Rating",
        ] as [Substring] {
            XCTAssertThrowsError(try TMDBQuestion(address), "\(address)") { error in
                guard case .forbidden? = error as? RequestError else { return XCTFail("\(address): \(error)") }
            }
        }
        for address in [
            "", "/", "movie//550", "movie/550/", "movie/../550", "movie/a%2Fb", "movie/\(String(repeating: "1", count: 300))",
        ]
            as [Substring]
        {
            XCTAssertThrowsError(try TMDBQuestion(address), "\(address)") { error in
                guard case .noSuchPath? = error as? RequestError else { return XCTFail("\(address): \(error)") }
            }
        }
        let many = (0..<65).map { "with_a=\($0)" }.joined(separator: "&")
        for query in [
            many, "query=" + String(repeating: "a", count: 5000), "query=%zz", "language=en?api_key=K", "language=en%26api_key=K",
            "append_to_response=images;api_key=K",
        ] {
            XCTAssertThrowsError(try TMDBQuestion("search/movie?\(query)")) { error in
                guard case .malformed? = error as? RequestError else { return XCTFail("\(error)") }
            }
        }
    }

    func testClientsAskAboutTitlesAndLists() throws {
        for (subject, query, targets) in [
            (.title("550"), "", ["/movie/550"]), (.title("movie-550"), "language=de-de", ["/movie/550?language=de-DE"]),
            (.title("tv-1396"), "append_to_response=b,a", ["/tv/1396?append_to_response=a%2Cb"]),
            (.title("tv-1396-s1"), "", ["/tv/1396/season/1"]), (.title("tv-1396-s1-e2"), "", ["/tv/1396/season/1/episode/2"]),
            (.title("person-287"), "", ["/person/287"]), (.title("collection-10"), "", ["/collection/10"]),
            (
                .list("popular", titles: 41), "language=de&append_to_response=images",
                ["/movie/popular?language=de", "/movie/popular?language=de&page=2", "/movie/popular?language=de&page=3"]
            ),
            (.list("tv-trending", titles: 0), "", ["/trending/tv/week"]),
            (.list("collection-10", titles: 41), "", ["/collection/10"]), (.list("unknown", titles: 1), "", []),
        ] as [(ServiceSubject, String, [String])] {
            XCTAssertEqual(try TMDBDialect().questions(about: subject, with: query).map(\.target), targets, "\(subject)")
        }
        for id in ["tt1", "tv-", "tv-1-2", "tv-1-s", "tv-1-s1-2", "tv-1-s1-e1-x", "", "-", "../550", "season-tt1-1", "550a"] {
            XCTAssertEqual(try TMDBDialect().questions(about: .title(id), with: "").map(\.target), [], id)
        }
        XCTAssertThrowsError(try TMDBDialect().questions(about: .title("550"), with: "language=%zz"))
    }

    func testImagesOfAnAnswerAreItsFiles() throws {
        let question = try XCTUnwrap(try TMDBDialect().questions(about: .title("550"), with: "").first)
        let images = question.images(
            in: .object([
                "poster_path": .string("/a_1.jpg"), "backdrop_path": .string("/b.svg"), "still_path": .null,
                "profile_path": .string("/../c.jpg"), "title": .string("/d.jpg"),
            ]))
        XCTAssertEqual(images, [ServiceImage(.poster, id: "/a_1.jpg"), ServiceImage(.backdrop, id: "/b.png")])
        XCTAssertEqual(question.images(in: .array([])), [])
    }

    func testAWrongQueryIsAnErrorAboutEverySubject() {
        for subject in [ServiceSubject.title("550"), .title(""), .list("unknown", titles: 1)] {
            XCTAssertThrowsError(try TMDBDialect().questions(about: subject, with: "append_to_response=rating"), "\(subject)")
        }
    }

    func testFreshnessFollowsTheAgeOfAFilm() {
        let now = Date(timeIntervalSince1970: 1_795_262_400)  // 2026-11-21
        let (hour, day) = (3600.0, 86_400.0)
        for (path, document, seconds) in [
            ("movie/550", ["release_date": "2026-11-01"], hour), ("movie/550", ["release_date": "2027-05-01"], hour),
            ("movie/550", ["release_date": "2026-05-01"], day), ("movie/550", ["release_date": "1990-05-01"], 30 * day),
            ("movie/550", ["release_date": ""], hour), ("movie/550", [:], hour),
            ("tv/1", ["first_air_date": "1990-05-01", "last_air_date": "2026-11-20"], hour),
            ("tv/1", ["first_air_date": "1990-05-01", "last_air_date": "1991-05-01"], 30 * day),
            ("tv/1/season/2", ["air_date": "1991-05-01"], 30 * day), ("tv/1/season/2/episode/3", ["air_date": "2026-11-20"], hour),
            ("movie/550/images", ["release_date": "1990-05-01"], day), ("person/287", [:], day),
            ("configuration/languages", [:], day),
            ("movie/popular", [:], hour), ("search/movie", [:], hour), ("trending/all/day", [:], hour), ("movie/latest", [:], 600),
        ] as [(String, [String: String], Double)] {
            let value = JSONValue.object(document.mapValues { .string($0) })
            XCTAssertEqual(
                TMDBFreshness.seconds(of: value, at: path.split(separator: "/").map(String.init), now), seconds,
                "\(path) \(document)")
        }
        XCTAssertEqual(
            TMDBFreshness.seconds(
                of: .object(["last_air_date": "1991-05-01", "in_production": .bool(true)]), at: ["tv", "1"], now), day)
    }
}
