import OnesheetCore
import OnesheetTesting
import XCTest

@testable import Dialects

/// Addresses of clients of Jellyfin, Emby and Plex, and their meaning. Server tests cover the responses.
final class MediaServerDialectTests: XCTestCase {
    /// Their addresses have no signatures, and few sizes.
    private let server = FakeDialectServer(acceptsUnsigned: false)
    private let item = "f27caa37e5142225cceded48f6553502"

    func testAddressesOfJellyfin() throws {
        for (rest, id, options) in [
            ("Images/Primary", "Images/Primary", []),
            (
                "Images/Primary?fillHeight=340&fillWidth=227&quality=96&tag=d41d8cd9", "Images/Primary?tag=d41d8cd9",
                ["cover", "w:256", "h:400"]
            ),
            ("images/backdrop/0?MaxWidth=1280&format=jpg", "Images/Backdrop", ["w:1280", "format:jpg"]),
            ("Images/Backdrop/2?maxWidth=1281&api_key=secret", "Images/Backdrop/2", ["w:1600"]),
            ("Images/Backdrop?imageIndex=1&tag=1", "Images/Backdrop/1?tag=1", []),
            (
                "Images/Logo/0?MaxWidth=1000&MaxHeight=1000&Format=original&Tag=ab&EnableImageEnhancers=false",
                "Images/Logo?tag=ab", ["w:1280", "h:1280"]
            ),
            (
                "Images/Thumb?fillWidth=320&PercentPlayed=40&UnplayedCount=3&AddPlayedIndicator=true&blur=0", "Images/Thumb",
                ["w:320"]
            ),
            ("Images/Primary?height=220&width=156&maxWidth=&Tag=", "Images/Primary", ["w:192", "h:256"]),
            ("Images/boxrear?maxWidth=0&maxHeight=99999&format=WEBP", "Images/BoxRear", ["h:3840", "format:webp"]),
        ] as [(String, String, [String])] {
            let image = try XCTUnwrap(try JellyfinDialect().image(at: "\(item)/\(rest)", on: server), rest)
            XCTAssertEqual(image.title, TitleReference(source: "jellyfin", id: "/Items/\(item)/\(id)"), rest)
            XCTAssertEqual(image.options.map { $0.replacing("resizing_type:", with: "") }, options, rest)
            XCTAssertEqual(image.negotiates, !options.isEmpty && !options.contains { $0.hasPrefix("format") }, rest)
            XCTAssertTrue(image.isSize && image.isShared, rest)
            XCTAssertEqual(image.wantsFallback, false, rest)
        }
    }

    func testSpellingsOfAnItemAreOneItem() throws {
        let dashed = "F27CAA37-E514-2225-CCED-ED48F6553502"
        XCTAssertEqual(
            try JellyfinDialect().image(at: "\(dashed)/Images/Primary", on: server)?.title.id, "/Items/\(item)/Images/Primary")
        XCTAssertEqual(try JellyfinDialect().image(at: "1234/Images/Primary", on: server)?.title.id, "/Items/1234/Images/Primary")
    }

    func testAddressesOfPlex() throws {
        let path = "/library/metadata/1/thumb/1700000000"
        for (query, id, options) in [
            (
                "width=240&height=360&minSize=1&upscale=1&url=%2Flibrary%2Fmetadata%2F1%2Fthumb%2F1700000000%3FX-Plex-Token%3Dsecret&X-Plex-Token=secret",
                path, ["cover", "w:256", "h:400"]
            ),
            ("url=\(path)&width=1920&height=1920", path, ["w:1920", "h:1920"]),
            (
                "url=http%3A%2F%2F127.0.0.1%3A32400%2Flibrary%2Fmetadata%2F1%2Fart%2F2&width=1280&format=jpeg",
                "/library/metadata/1/art/2", ["w:1280", "format:jpeg"]
            ),
            ("url=/library/sections/1/composite/2&opacity=100&blur=0&saturation=100", "/library/sections/1/composite/2", []),
        ] as [(String, String, [String])] {
            let image = try XCTUnwrap(try PlexDialect().image(at: "?\(query)", on: server), query)
            XCTAssertEqual(image.title, TitleReference(source: "plex", id: id), query)
            XCTAssertEqual(image.options.map { $0.replacing("resizing_type:", with: "") }, options, query)
            XCTAssertFalse("\(image)".contains("secret"), query)
        }
    }

    func testSidesAreFew() throws {
        var boxes: Set<[String]> = []
        for side in 1...4096 {
            let image = try XCTUnwrap(
                try JellyfinDialect().image(at: "1/Images/Primary?maxWidth=\(side)&quality=\(side)", on: server))
            boxes.insert(image.options)
        }
        XCTAssertEqual(boxes.count, ClientBox.sides.count)
    }

    func testUnsupportedRequestsAreRefused() {
        for (address, words) in [
            ("\(item)", "/Items/\(item)"), ("\(item)/Images/", "unknown kind of image"),
            ("\(item)/Images/Primry", "did you mean “Primary”?"),
            ("\(item)/Images/Primary/0/tag/jpg/1/2/0/0", "there is nothing"), ("\(item)/Images/Primary/x", "option “index”"),
            ("\(item)/Images/Primary/1000", "0 to 999"), ("..%2f/Images/Primary", "there is nothing"),
            ("\(String(repeating: "a", count: 65))/Images/Primary", "there is nothing"),
            ("\(item)/Images/Primary?maxWidth=-1", "“-1”"),
            ("\(item)/Images/Primary?fillWidth=227.5", "whole number"), ("\(item)/Images/Primary?format=svg", "avif, jpeg"),
            ("\(item)/Images/Primary?tag=a%26b", "letters and digits"), ("\(item)/Images/Primary?Blur=20", "option “blur”"),
            ("\(item)/Images/Primary?backgroundColor=%23000", "backgroundcolor"), ("\(item)/Images/Primary?a=%zz", "%zz"),
            ("\(item)/Images/Primary?\(String(repeating: "a&", count: 65))", "64 parameters"),
            ("\(item)/Images/Primary?a=\(String(repeating: "a", count: 4096))", "4096 bytes"),
        ] {
            XCTAssertThrowsError(try JellyfinDialect().image(at: Substring(address), on: server), address) { error in
                XCTAssertTrue("\(error)".contains(words), "\(address): \(error)")
            }
        }
    }

    func testOnlyImagesOfPlexAreAskedFor() {
        for url in [
            "", "/:/scrobble?key=1", "/library/sections", "/library/metadata/1", "/library/metadata/1/refresh/1",
            "/library/metadata/1/thumb/../2",
            "/library/metadata/1/thumb/1/2", "/library/metadata/%2E%2E/thumb/1", "//evil.example/thumb/1/2",
            "library/metadata/1/thumb/1",
            "https://metadata-static.plex.tv/a/b/thumb/1", "http://127.0.0.1:32400/:/prefs", "/library/metadata/1/thumb/1%00",
            "/photo/:/transcode",
        ] {
            let address = "?width=1&url=\(PercentEncoding.encode(url))&X-Plex-Token=secret"
            XCTAssertThrowsError(try PlexDialect().image(at: Substring(address), on: server), url) { error in
                XCTAssertTrue("\(error)".contains("url"), "\(url): \(error)")
                XCTAssertFalse("\(error)".contains("secret"), "\(error)")
            }
        }
        XCTAssertThrowsError(try PlexDialect().image(at: "", on: server))
        XCTAssertThrowsError(try PlexDialect().image(at: "?url=/library/metadata/1/thumb/1&blur=40", on: server))
    }
}
