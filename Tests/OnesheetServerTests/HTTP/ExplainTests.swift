import Foundation
import NIOCore
import OnesheetAddress
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// `GET /explain`: what is known of the image at an address.
final class ExplainTests: ServerTestCase {
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testThatAnAddressInEveryGrammarIsExplainedAndNothingIsFetched() async throws {
        // Given a server with dialects, whose sample source counts its calls
        let server = try await server(keys: "dialects: [thumbor, cloudflare, iiif, next]")
        for (address, grammar) in [
            ("/t/p/w342/sample/1.jpg", "sizes"), ("/i/unsafe/w:342/plain/sample://1@jpg", "options"),
            ("/thumbor/unsafe/fit-in/342x0/filters:format(jpeg)/sample://1", "thumbor"),
            ("/cdn-cgi/image/width=342,format=jpeg/sample://1", "cloudflare"),
            ("/iiif/3/sample%3A%2F%2F1/full/342,/0/default.jpg", "iiif"),
            ("https://elsewhere.example/_next/image?url=sample%3A%2F%2F1&w=342&q=80", "next"),
        ] {
            // When it is explained
            let found = try await explain(address, on: server, "&accept=image/jpeg").json()
            // Then each is the same picture, which no request has made
            XCTAssertEqual(found["grammar"] as? String, grammar, address)
            XCTAssertEqual(found["canonical"] as? String, "/t/p/w342/sample/1.jpg", address)
            XCTAssertEqual(found["options"] as? [String], ["w:342"], address)
            XCTAssertEqual(found["title"] as? String, "sample://1", address)
            XCTAssertEqual(found["missReason"] as? String, "absent", address)
            XCTAssertNil(found["stored"], address)
            XCTAssertNil(found["originalTier"], address)
            XCTAssertNil(found["stages"], address)
        }
    }

    func testThatATitleStandsForItsPosterOnTheWall() async throws {
        let server = try await server()
        let found = try await explain("sample://1", on: server, "&accept=image/jpeg").json()
        XCTAssertEqual(found["canonical"] as? String, "/t/p/w342/sample/1.jpg", "\(found)")
        assertProblem(try await explain("elsewhere://1", on: server), 404, "unknown source “elsewhere”")
        assertProblem(try await explain("sample://", on: server), 400, "names no title")
    }

    func testThatItSaysWhereAPictureIsAndHowItWasMade() async throws {
        // Given a picture that was asked for
        let server = try await server()
        _ = try await server.send("/t/p/w92/sample/1.jpg")
        // When it is explained
        let found = try await explain("/t/p/w92/sample/1.jpg", on: server).json()
        // Then the explanation has its tier and the stages of its making
        let stored = try XCTUnwrap(found["stored"] as? [String: Any])
        XCTAssertEqual(stored["tier"] as? String, "memory")
        XCTAssertEqual(stored["state"] as? String, "fresh")
        XCTAssertEqual(stored["width"] as? Int, 92)
        XCTAssertEqual(found["originalTier"] as? String, "memory")
        XCTAssertNil(found["missReason"])
        let making = try XCTUnwrap(found["lastMaking"] as? [String: Any])
        XCTAssertEqual(making["outcome"] as? String, "made")
        XCTAssertEqual(making["reason"] as? String, "absent")
        XCTAssertEqual(making["askedOrigin"] as? Bool, true)
        let stages = try XCTUnwrap(making["stages"] as? [[String: Any]])
        XCTAssertEqual(stages.map { $0["stage"] as? String }, ["origin", "render", "store"])
        // And of another size, that its original is there
        let other = try await explain("/t/p/w154/sample/1.jpg", on: server).json()
        XCTAssertEqual(other["missReason"] as? String, "absent")
        XCTAssertEqual(other["originalTier"] as? String, "memory")
        // And it is made if that is asked for
        let made = try await explain("/t/p/w154/sample/1.jpg", on: server, "&fetch").json()
        XCTAssertEqual((made["stages"] as? [Any])?.count, 3)
        XCTAssertNil(made["missReason"])
        XCTAssertEqual((made["lastMaking"] as? [String: Any])?["askedOrigin"] as? Bool, false)
    }

    func testThatAnIdWithADotIsExplainedAsItsImageIsFound() async throws {
        // Given a title whose id ends like a file
        let pictures = folder()
        try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
        try Data(try Picture.jpeg(width: 50, height: 60).readableBytesView).write(to: URL(filePath: "\(pictures)/other.jpg.jpg"))
        let server = try await server(sources: "art: { type: folder, path: \"\(pictures)\" }")
        // When the address without an extension is explained, with a fetch
        try await untilCached { try await explain("/t/p/w92/art/other.jpg", on: server, "&fetch").json()["stored"] != nil }
        for more in ["&fetch", ""] {
            let found = try await explain("/t/p/w92/art/other.jpg", on: server, more).json()
            // Then the explanation is of that title
            XCTAssertEqual(found["id"] as? String, "other.jpg", more)
            XCTAssertNotNil(found["stored"], more)
        }
    }

    func testThatAFetchFailsAsTheImageDoes() async throws {
        let server = try await server(keys: "dialects: [iiif]")
        let address = "/iiif/3/sample%3A%2F%2F1/full/3000,/0/default.jpg"
        let image = try await server.send(address)
        let known = try await explain(address, on: server)
        let made = try await explain(address, on: server, "&fetch")
        XCTAssertEqual(image.status, 400)
        XCTAssertEqual(known.status, 200, known.text)
        XCTAssertEqual(made.status, 400, made.text)
    }

    func testThatAFailureOfAnAddressWithAFallbackIsToldWithIt() async throws {
        // Given an origin that fails, and an address that then redirects to the original
        let origin = try await origin { _, _ in .answer(status: 500) }
        let server = try await server(
            sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }", keys: "dialects: [cloudflare]",
            clock: ManualClock().wallClock)
        let address = "/cdn-cgi/image/w=20,onerror=redirect/\(origin.url)/a.jpg"
        // When it is explained before a fetch, with one and after it
        let before = try await explain(address, on: server).json()
        let fetched = try await explain(address, on: server, "&fetch").json()
        let after = try await explain(address, on: server).json()
        // Then each names the fallback, and the last two why it answers
        XCTAssertEqual(before["fallback"] as? String, "\(origin.url)/a.jpg")
        XCTAssertEqual(before["missReason"] as? String, "absent")
        XCTAssertNil(before["failure"])
        for found in [fetched, after] {
            XCTAssertEqual(found["fallback"] as? String, "\(origin.url)/a.jpg")
            XCTAssertEqual(found["missReason"] as? String, "failed")
            XCTAssertTrue((found["failure"] as? String ?? "").contains("500"), "\(found)")
            XCTAssertNil(found["stages"])
        }
        // And without a fallback the fetch fails as the image does
        let plain = "/cdn-cgi/image/w=20/\(origin.url)/a.jpg"
        assertProblem(try await explain(plain, on: server, "&fetch"), 502, "500")
        let known = try await explain(plain, on: server).json()
        XCTAssertNil(known["fallback"])
    }

    func testThatAFailureIsToldAsTheImageTellsIt() async throws {
        let server = try await server()
        let image = try await server.send("/t/p/w92/sample/nothing.jpg")
        XCTAssertEqual(image.status, 404)
        let found = try await explain("/t/p/w92/sample/nothing.jpg", on: server).json()
        XCTAssertEqual(found["missReason"] as? String, "failed")
        XCTAssertEqual((found["lastMaking"] as? [String: Any])?["outcome"] as? String, "failed")
        let failure = try XCTUnwrap(found["failure"] as? String)
        XCTAssertTrue(image.text.contains(failure), failure)
    }

    func testThatAPurgeIsCountedForTheAdministratorAlone() async throws {
        // Given a title with two sizes
        let server = try await server(keys: "admin: { token: secret-for-tests }")
        for size in ["w92", "w154"] { _ = try await server.send("/t/p/\(size)/sample/1.jpg") }
        // When a visitor, the administrator and a client with a wrong token ask
        let anybody = try await explain("/t/p/w92/sample/1.jpg", on: server)
        let found = try await explain("/t/p/w92/sample/1.jpg", on: server, fields: administrator).json()
        let wrong = try await explain("/t/p/w92/sample/1.jpg", on: server, fields: [("Authorization", "Bearer wrong")])
        // Then only the administrator learns what others have asked for
        XCTAssertNil(try anybody.json()["purge"])
        let purge = try XCTUnwrap(found["purge"] as? [String: Any])
        XCTAssertEqual(purge["tag"] as? String, "title:sample://1")
        XCTAssertGreaterThanOrEqual(purge["entries"] as? Int ?? 0, 3)
        XCTAssertEqual(wrong.status, 401)
        // And nothing was removed
        let again = try await explain("/t/p/w92/sample/1.jpg", on: server).json()
        XCTAssertNil(again["missReason"])
    }

    func testThatASignatureIsNeededAsForTheImage() async throws {
        // Given a server that makes what was signed
        let key = "0102030405060708"
        let server = try await server(keys: "signing: { keys: [{ key: \"\(key)\", salt: \"\(key)\" }] }\ndialects: [thumbor]")
        let path = "/w:60/plain/sample://1@jpg"
        let bytes = try XCTUnwrap([UInt8](hex: key))
        let signature = try XCTUnwrap(Signature(keys: [SigningKey(key: bytes, salt: bytes)]).sign(path))
        // When addresses are explained
        for (address, status) in [
            ("/i/\(signature)\(path)", 200), ("/i/unsafe\(path)", 403), ("/i/AAAA\(path)", 403),
            ("/thumbor/unsafe/60x0/sample://1", 403),
        ] {
            let answer = try await explain(address, on: server)
            // Then those alone that show the image
            XCTAssertEqual(answer.status, status, address)
            if status == 403 { XCTAssertFalse(answer.text.contains(signature), address) }
        }
    }

    func testThatExplanationsAreMissesOfTheirClient() async throws {
        // Given a server where an address may cause two misses
        let server = try await server(keys: "clients: { perAddress: { misses: 0.001, burst: 2 }, trustedProxies: [] }")
        // When it asks for three explanations
        var statuses: [Int] = []
        for _ in 0..<3 { statuses.append(try await explain("/t/p/w92/sample/1.jpg", on: server).status) }
        // Then the third has to wait
        XCTAssertEqual(statuses, [200, 200, 429])
    }

    func testThatWhatIsNoImageIsRefused() async throws {
        let server = try await server(keys: "dialects: [iiif]")
        for (address, status) in [
            ("/nowhere", 404), ("/t/p/w1/sample/1", 400), ("/t/p/w92/nobody/1", 404), ("", 400), ("sources", 404),
            ("/iiif/3/sample%3A%2F%2F1/info.json", 400), ("http://host.example", 404), ("%", 404),
        ] {
            let answer = try await explain(address, on: server)
            XCTAssertEqual(answer.status, status, address)
        }
        let missing = try await server.send("/explain")
        XCTAssertEqual(missing.status, 400)
    }

    private func explain(
        _ address: String, on server: RunningServer, _ more: String = "", fields: [(String, String)] = []
    ) async throws -> ServerAnswer {
        try await server.send("/explain?url=\(PercentEncoding.encode(address))\(more)", fields: fields)
    }
}
