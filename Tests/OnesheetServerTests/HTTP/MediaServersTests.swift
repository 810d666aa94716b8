import NIOCore
import OnesheetCore
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// Images of media servers, whose clients have changed nothing.
final class MediaServersTests: ServerTestCase {
    private let item = "f27caa37e5142225cceded48f6553502"

    func testSizesOfAnImageShareOneOriginal() async throws {
        // Given
        let jellyfin = try await mediaServer()
        let server = try await server(jellyfin)
        for (path, width, height) in [
            ("/Items/\(item)/Images/Primary?tag=400a600", 400, 600),
            ("/Items/\(item)/Images/Primary?fillWidth=100&fillHeight=150&tag=400a600", 128, 192),
            ("/emby/Items/\(item)/Images/Primary/0?MaxWidth=100&Tag=400a600&api_key=x", 128, 192),
            ("/items/\(item)/images/primary?maxheight=64&TAG=400a600", 43, 64),
            ("/emby/items/\(item.uppercased())/Images/Primary?fillWidth=300&fillHeight=300&format=Png&tag=400a600", 320, 480),
        ] {
            // When
            let answer = try await server.send(path, fields: [("Origin", "https://app.example")])
            // Then
            XCTAssertEqual(answer.status, 200, "\(path) \(answer.text.prefix(200))")
            let header = try Picture.header(answer.body)
            XCTAssertEqual([header.width, header.height], [width, height], path)
            XCTAssertEqual(answer.field("Access-Control-Allow-Origin"), "*", path)
        }
        XCTAssertEqual(jellyfin.requests(), 1)
    }

    func testNewTagIsANewImage() async throws {
        let server = try await server(try await mediaServer())
        let (old, new) = (
            try await server.send("/Items/\(item)/Images/Primary?maxWidth=64&tag=40a60"),
            try await server.send("/Items/\(item)/Images/Primary?maxWidth=64&tag=41a60")
        )
        XCTAssertEqual([old.status, new.status], [200, 200])
        XCTAssertNotEqual(old.body, new.body)
    }

    func testSizesNeedNeitherSignatureNorPreset() async throws {
        let keys = "signing: { keys: [{ key: \"6b6579\", salt: \"00\" }] }\npresetsOnly: true\npresets: { default: \"q:30\" }"
        let server = try await server(try await mediaServer(), keys: keys)
        let answer = try await server.send("/Items/\(item)/Images/Primary?fillWidth=100&fillHeight=150&tag=400a600")
        XCTAssertEqual(answer.status, 200, answer.text)
    }

    func testPlexGetsTheTokenOfTheServerAlone() async throws {
        // Given
        let plex = try await mediaServer()
        let server = try await server(plex)
        // When clients ask with tokens of their own
        let paths = ["theirs", "others"].map {
            "/photo/:/transcode?url=%2Flibrary%2Fmetadata%2F1%2Fthumb%2F40%3FX-Plex-Token%3D\($0)&width=60&height=90&minSize=1&X-Plex-Token=\($0)"
        }
        for path in paths {
            let answer = try await server.send(path, fields: [("X-Plex-Token", "theirs")])
            XCTAssertEqual(answer.status, 200, answer.text)
            XCTAssertFalse("\(answer.fields)".contains("theirs"))
        }
        // Then they are one image, and the log has no token
        XCTAssertEqual(plex.requests(for: "/library/metadata/1/thumb/40"), 1)
        XCTAssertEqual(plex.requests(), 1)
        for path in paths {
            let shown = AccessLine.visible(target: path)
            XCTAssertFalse(shown.contains("theirs") || shown.contains("others"), shown)
        }
    }

    func testPagesOfEveryOriginMaySendTheirKeys() async throws {
        let server = try await server(try await mediaServer())
        let asked = [
            ("Access-Control-Request-Method", "GET"), ("Access-Control-Request-Headers", "authorization"),
            ("Origin", "https://app.example"),
        ]
        let image = try await server.send("/Items/\(item)/Images/Primary", method: "OPTIONS", fields: asked)
        XCTAssertEqual(image.field("Access-Control-Allow-Origin"), "*")
        XCTAssertTrue(image.field("Access-Control-Allow-Headers")?.contains("Authorization") ?? false)
        // And other addresses of the server stay closed
        let other = try await server.send("/sources", method: "OPTIONS", fields: asked)
        XCTAssertNil(other.field("Access-Control-Allow-Origin"))
    }

    func testMissingImagesAndOtherAddresses() async throws {
        let origin = try await mediaServer()
        let server = try await server(origin)
        for (path, status) in [
            ("/Items/\(item)/Images/Logo?tag=none", 404), ("/Items/\(item)/Images/Foo", 400), ("/Items/\(item)/PlaybackInfo", 404),
            ("/Items/", 404),
            ("/photo/:/transcode?url=/:/scrobble&X-Plex-Token=theirs", 400), ("/photo/:/transcode", 400),
            ("/photo/:/transcodes", 404),
            ("/t/p/w92/plex/%2F:%2Fscrobble", 404),
        ] {
            let answer = try await server.send(path)
            XCTAssertEqual(answer.status, status, "\(path) \(answer.text.prefix(200))")
            XCTAssertFalse(answer.text.contains("theirs"), answer.text)
        }
        // No path but those of images and titles is asked for.
        XCTAssertEqual(origin.requests(for: "/:/scrobble"), 0)
    }

    /// Jellyfin and Plex in one: pictures whose tag or version has their sides. Plex wants the token. The age is that of the file, as Jellyfin
    /// tells it.
    private func mediaServer() async throws -> OriginServer {
        try await origin { target, fields in
            let isPlex = target.hasPrefix("/library/")
            guard !isPlex || fields["x-plex-token"] == "ours" else { return .answer(status: 401) }
            let name = isPlex ? (target.contains("/thumb/") ? "40a60" : "") : String(target.split(separator: "=").last ?? "")
            let sides = name.split(separator: "a").compactMap { Int($0) }
            guard sides.count == 2, let picture = try? Picture.jpeg(width: sides[0], height: sides[1]) else {
                return .answer(status: 404)
            }
            return .answer(
                type: "image/jpeg", fields: ["Cache-Control": "public, max-age=31536000", "Age": "99999999"], body: picture)
        }
    }

    private func server(_ origin: OriginServer, keys: String = "") async throws -> RunningServer {
        try await server(
            sources: """
                jellyfin: { type: rest, manifest: jellyfin, baseURL: "\(origin.url)", variables: { token: ours }, networks: [loopback] }
                plex:
                  type: rest
                  manifest: plex
                  baseURL: "\(origin.url)"
                  headers: { X-Plex-Token: ours }
                  networks: [loopback]
                """, keys: "dialects: [jellyfin, plex]\n\(keys)")
    }
}
