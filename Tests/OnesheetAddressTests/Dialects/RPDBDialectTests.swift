import OnesheetCore
import OnesheetTesting
import XCTest

@testable import Dialects

/// Addresses of rating posters and their translations. Server tests cover the responses.
final class RPDBDialectTests: XCTestCase {
    private let server = FakeDialectServer(acceptsUnsigned: false)
    private let poster = ["resizing_type:fill", "w:580", "h:859", "format:jpg"]

    func testAddressesNameATitle() throws {
        for (address, id) in [
            ("imdb/poster-default/tt0137523.jpg", "tt0137523"), ("imdb/poster-default/0137523.jpg", "tt0137523"),
            ("tmdb/poster-default/movie-550.jpg", "550"), ("tmdb/poster-default/series-1396.jpg", "tv-1396"),
            ("tmdb/poster-default/tv-1396", "tv-1396"), ("tvdb/poster-default/81189.jpg", "tvdb-81189"),
            ("tvdb/backdrop-default/series-81189.jpg", "tvdb-81189"), ("imdb/poster/tt0137523.jpg", "tt0137523"),
            ("imdb/episode-default/episode-tt0903747-S1E1.jpg", "tt0903747-s1-e1"),
            ("imdb/episode-default/tt0959621.jpg", "tt0959621"),
            ("tmdb/episode-default/episode-1396-S10E2.jpg", "tv-1396-s10-e2"),
            ("tmdb/season-default/season-1396-S0.jpg", "tv-1396-s0"),
            ("tvdb/episode-default/episode-81189-S3E5.jpg", "tvdb-81189-s3-e5"),
            ("imdb/thumbnail/tt0903747/S1E1.jpg", "tt0903747-s1-e1"), ("tmdb/thumbnail/series-1396/S2E3.png", "tv-1396-s2-e3"),
            ("imdb/season-default/season-tt0903747-S2.jpg", "tt0903747-s2"),
        ] {
            XCTAssertEqual(try image(address).title, TitleReference(source: "films", id: id), address)
        }
    }

    func testAddressesNameASizeAndAFormat() throws {
        for (address, options) in [
            ("imdb/poster-default/tt1.jpg", poster), ("imdb/poster-default/tt1", poster),
            ("imdb/poster-default/tt1.png", ["resizing_type:fill", "w:580", "h:859", "format:png"]),
            ("imdb/poster-default/tt1.jpg?imageSize=very-large", ["resizing_type:fill", "w:2000", "h:2962", "format:jpg"]),
            ("imdb/poster-default/tt1.jpg?x=1&imageSize=large", ["resizing_type:fill", "w:1280", "h:1896", "format:jpg"]),
            ("imdb/backdrop-default/tt1.jpg", ["resizing_type:fill", "w:1920", "h:1080", "format:jpg"]),
            ("imdb/backdrop-default/tt1.jpg?imageSize=small", ["resizing_type:fill", "w:1280", "h:720", "format:jpg"]),
            ("imdb/logo-default/tt1", ["w:780", "h:244", "format:png"]),
            ("imdb/episode-default/tt1.webp", ["resizing_type:fill", "w:780", "h:439", "format:webp"]),
        ] {
            let image = try image(address)
            XCTAssertEqual(image.options, options, address)
            XCTAssertTrue(image.isSize, address)
        }
    }

    func testAddressesNameAKindAndLanguages() throws {
        for (address, selector) in [
            ("imdb/poster-default/tt1.jpg", "poster.de.en"), ("imdb/poster-default/tt1.jpg?lang=fr", "poster.fr.de.en"),
            ("imdb/poster-default/tt1.jpg?lang=en", "poster.en.de"), ("imdb/textless-default/tt1.jpg", "poster.none.de.en"),
            ("imdb/poster-default/tt1.jpg?textless=true&lang=pt-BR", "poster.none.pt-BR.de.en"),
            ("imdb/logo-default/tt1.png?lang=ko", "logo.ko.de.en"), ("imdb/backdrop-default/tt1.jpg?lang=ko", "backdrop"),
            ("imdb/episode-default/tt1.jpg", "still"), ("imdb/season-default/season-tt1-S1.jpg", "poster.de.en"),
        ] {
            XCTAssertEqual(try image(address).selector.description, selector, address)
        }
        // A key without languages leaves them to the source
        XCTAssertEqual(try image("imdb/poster-default/tt1.jpg", key: "other-key-2").selector, .poster)
    }

    func testIgnoredParametersAreNamed() throws {
        for (address, ignored) in [
            ("imdb/poster-default/tt1.jpg?unknown=1", []), ("imdb/poster-bars/tt1.jpg", ["label"]), ("imdb/poster/tt1.jpg", []),
            ("imdb/rating-order/tt1.jpg?order=imdb%2Crt", ["label", "order"]), ("imdb/textless-default/tt1.jpg", []),
            ("imdb/poster-default/tt1.jpg?badges=hdr&badges=4k&ratings_limit=3", ["badges", "ratings_limit"]),
            ("imdb/poster-default/tt1.jpg?ratings_limit=0", []), ("imdb/poster-default/tt1.jpg?lang=d%2F", ["lang"]),
            ("imdb/poster-default/tt1.jpg?lang=zh-Hant", []), ("imdb/poster-default/tt1.jpg?lang=es-419", []),
        ] {
            XCTAssertEqual(try image(address).ignored, ignored, address)
        }
        for value in ["true", "TRUE", "True", "T", "1"] {
            XCTAssertEqual(try image("imdb/poster-default/tt1.jpg?fallback=\(value)").wantsFallback, true, value)
        }
        XCTAssertEqual(try image("imdb/poster-default/tt1.jpg?textless=TRUE").selector.description, "poster.none.de.en")
        XCTAssertNil(try image("imdb/poster-default/tt1.jpg?fallback=false").wantsFallback)
    }

    func testAnAddressThatCannotBeReadSaysWhyWithoutTheKey() {
        for (address, words) in [
            ("imdb/poster-default/nm1.jpg", "nm1"), ("tmdb/poster-default/550.jpg", "movie-550"),
            ("imdb/poster-default/tt0903747-1.jpg", "tt0903747-1"), ("imdb/poster-default/tt.jpg", "“tt”"),
            ("imdb/poster-default/ttx1.jpg", "ttx1"), ("imdb/season-default/season-tt0903747-1.jpg", "S1"),
            ("imdb/season-default/season-film-S1.jpg", "film"), ("tvdb/poster-default/x.jpg", "“x”"),
            ("tvdb/poster-default/movie-1.jpg", "movie-1"), ("imdb/poster-default/tt1.gif", ".gif"),
            ("imdb/poster-default/tt1.jpg?imageSize=small", "imageSize"), ("imdb/season-default/tt1.jpg", "season-tt0903747-S2"),
            ("imdb/episode-default/episode-tt1-1x1.jpg", "S1E1"), ("imdb/poster-default/tt1/x.jpg", "/…/imdb"),
            ("anidb/poster-default/1.jpg", "/…/anidb"), ("imdb/profile/tt1.jpg", "/…/imdb"),
            ("imdb/poster-default/tt1.jpg?lang=%zz", "%zz"), ("imdb/thumbnail/tt1/x.jpg", "S1E1"), ("imdb", "/…/imdb"),
        ] {
            XCTAssertThrowsError(try image(address), address) { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
                XCTAssertFalse("\(error)".contains("secret-key"), "\(error)")
            }
        }
    }

    func testOnlyKnownKeysGetImages() throws {
        for key in [
            "secret-key-2", "SECRET-KEY-1", "secret-key-1x", "", "x", "secret%2Dkey-1", String(repeating: "a", count: 4000),
        ] {
            for rest in ["imdb/poster-default/tt1.jpg", "isValid", "requests"] {
                XCTAssertThrowsError(try image(rest, key: key), key) { error in
                    XCTAssertEqual(error as? RequestError, .forbidden("this server has no such key"), key)
                }
            }
        }
        XCTAssertNil(try dialect().image(at: "secret-key-1/isValid", on: server))
    }

    func testAKeyMayBeForSomeKinds() throws {
        XCTAssertNoThrow(try image("imdb/poster-default/tt1.jpg", key: "other-key-2"))
        XCTAssertThrowsError(try image("imdb/logo-default/tt1.png", key: "other-key-2")) { error in
            XCTAssertEqual(error as? RequestError, .forbidden("this key is not for images of the kind “logo”"))
        }
    }

    func testOnlyItsOwnPathsAreAddresses() {
        for (path, isAddress) in [
            ("/key/isValid", true), ("/key/requests", true), ("/key/imdb/poster-x/tt1.jpg", true), ("/key/tvdb/logo/1", true),
            ("/key/tmdb/textless-a/movie-1.jpg", true), ("/sources/tmdb/titles/1", false), ("/key/imdb/titles/1", false),
            ("/t/p/w342/tmdb/550", false), ("/key", false), ("//isValid", false), ("/key/imdb/poster-x", false), ("/", false),
            ("/key/isValid/x", false),
        ] as [(Substring, Bool)] {
            XCTAssertEqual(RPDBDialect.isAddress(path), isAddress, "\(path)")
        }
    }

    func testKeysThatCannotBeUsedAreErrors() {
        func key(_ text: String) -> [String: ConfigurationValue] { ["key": .scalar(text)] }
        for (keys, words) in [
            ([], "at least one"), ([key("short")], "8 to 128"), ([key("with/slash-1")], "8 to 128"),
            ([key("twice-key"), key("twice-key")], "twice"), ([["languages": .list([])]], "key"),
            ([key("good-key-1").merging(["languages": .list([.scalar("x!")])]) { $1 }], "x!"),
            ([key("good-key-1").merging(["kinds": .list([.scalar("postr")])]) { $1 }], "postr"),
            ([key("good-key-1").merging(["limits": .scalar("1")]) { $1 }], "limits"),
            ([key("good-key-1").merging(["requests": .scalar("0")]) { $1 }], "a number a second"),
            ([key("good-key-1").merging(["requests": .scalar("nan")]) { $1 }], "a number a second"),
            ([key("good-key-1").merging(["burst": .scalar("5")]) { $1 }], "“requests”"),
            ([key("good-key-1").merging(["requests": .scalar("1"), "burst": .scalar("0")]) { $1 }], "at least 1"),
        ] {
            XCTAssertThrowsError(try dialect(keys), words) { error in
                XCTAssertTrue("\(error)".contains(words), "\(words): \(error)")
                for key in ["good-key-1", "twice-key"] { XCTAssertFalse("\(error)".contains(key), "\(error)") }
            }
        }
    }

    private func image(_ address: String, key: String = "secret-key-1") throws -> DialectImage {
        let image = try dialect().image(at: "\(key)/\(address)", on: server)
        return try XCTUnwrap(image, address)
    }

    private func dialect(
        _ keys: [[String: ConfigurationValue]] = [
            ["key": .scalar("secret-key-1"), "languages": .list([.scalar("de"), .scalar("en")])],
            ["key": .scalar("other-key-2"), "kinds": .list([.scalar("poster")])],
        ]
    ) throws -> RPDBDialect {
        let keys = ConfigurationValue.mapping(["source": .scalar("films"), "keys": .list(keys.map { .mapping($0) })])
        return try RPDBDialect(try ConfigurationDecoder().decode(RPDBDialect.Configuration.self, from: keys))
    }
}
