import Foundation
import OnesheetCore
import XCTest

@testable import OnesheetServer

/// `GET /addresses`: one transform in each grammar.
final class AddressesTests: ServerTestCase {
    private let dialects = "dialects: [thumbor, cloudflare, iiif, next]"
    private let administrator = [("Authorization", "Bearer secret-for-tests")]

    func testThatEveryAddressShowsTheSamePicture() async throws {
        // Given a server with all dialects
        let server = try await server(keys: dialects)
        for (options, format, named) in [
            ("w:60", "jpg", ["thumbor", "cloudflare", "iiif"]), ("rs:fill:60:90:1/g:no", "png", ["thumbor", "cloudflare"]),
            ("rs:fill:60:60/q:50", "webp", ["thumbor", "cloudflare"]), ("w:64/q:50", "", ["cloudflare", "next"]),
            ("s:60:90/bl:2", "jpg", ["thumbor", "cloudflare"]), ("", "png", ["thumbor", "cloudflare", "iiif"]),
            ("w:60/pd:2", "jpg", []), ("rs:force:40:50:1/rot:90/fl:1:0", "jpg", ["cloudflare"]),
        ] {
            // When the addresses of a transform are asked for
            let found = try await addresses(options, format, on: server).json()
            let own = try XCTUnwrap(found["address"] as? String, options)
            let others = try XCTUnwrap(found["dialects"] as? [String: Any]).compactMapValues { $0 as? String }
            // Then those dialects have one that can say it
            XCTAssertEqual(others.keys.sorted(), named.sorted(), "\(options) \(others)")
            // And each shows the very bytes
            let picture = try await server.send(own)
            XCTAssertEqual(picture.status, 200, own)
            for address in others.values {
                let other = try await server.send(address)
                XCTAssertEqual(other.body, picture.body, address)
            }
        }
    }

    func testThatSignaturesAreForTheAdministrator() async throws {
        // Given a server that makes what was signed
        let key = "0102030405060708"
        let server = try await server(
            keys: "signing: { keys: [{ key: \"\(key)\", salt: \"\(key)\" }] }\nadmin: { token: secret-for-tests }\n\(dialects)")
        // Then a visitor gets only addresses that need no signature
        let ladder = try await addresses("w:92", "jpg", on: server).json()
        XCTAssertEqual(ladder["address"] as? String, "/t/p/w92/sample/1.jpg")
        let anybody = try await addresses("w:60", "jpg", on: server)
        XCTAssertNil(try anybody.json()["address"] as? String, anybody.text)
        XCTAssertFalse(anybody.text.contains("thumbor/"), anybody.text)
        // When the administrator does, they are signed, and good
        let found = try await addresses("w:60", "jpg", on: server, fields: administrator).json()
        XCTAssertEqual(found["isSigned"] as? Bool, true)
        let others = try XCTUnwrap(found["dialects"] as? [String: Any]).compactMapValues { $0 as? String }
        XCTAssertEqual(Array(others.keys), ["thumbor"])
        for address in [try XCTUnwrap(found["address"] as? String)] + others.values {
            let answer = try await server.send(address)
            XCTAssertEqual(answer.status, 200, address)
        }
        let wrong = try await addresses("w:60", "jpg", on: server, fields: [("Authorization", "Bearer wrong")])
        XCTAssertEqual(wrong.status, 401)
    }

    func testThatAServerThatAcceptsUnsafeGivesNoSignaturesAway() async throws {
        // Given a server with keys that accepts unsigned addresses for now
        let key = "0102030405060708"
        let server = try await server(
            keys: "signing: { keys: [{ key: \"\(key)\", salt: \"\(key)\" }], unsafe: true }\nadmin: { token: secret-for-tests }")
        // When a stranger asks for an image
        let answer = try await server.send("/i/unsafe/w:61/plain/sample://1@jpg")
        // Then its canonical address is not signed
        XCTAssertEqual(answer.field("Link"), "</i/unsafe/w:61/plain/sample%3A%2F%2F1@jpg>; rel=\"canonical\"")
    }

    func testThatAPlusIsASpace() async throws {
        let server = try await server()
        for (query, count) in [("Lighthouse+of", 1), ("Lighthouse%20of", 1), ("Lighthouse%2Bof", 0)] {
            let titles = try await server.send("/sources/sample/titles?query=\(query)").json()["titles"] as? [Any]
            XCTAssertEqual(titles?.count, count, query)
        }
        let explained = try await server.send("/explain?url=/i/unsafe/w:60/plain/sample://1+2@jpg")
        XCTAssertTrue(explained.text.contains("1%202") || explained.text.contains("1 2"), explained.text)
    }

    func testThatAPresetIsSaidByItsName() async throws {
        let server = try await server(keys: "presetsOnly: true\npresets: { small: \"w:60\" }")
        let found = try await addresses("pr:small", "jpg", on: server).json()
        let address = try XCTUnwrap(found["address"] as? String)
        XCTAssertEqual(address, "/i/unsafe/pr:small/plain/sample%3A%2F%2F1@jpg")
        let picture = try await server.send(address)
        XCTAssertEqual(picture.status, 200)
    }

    func testThatAnExpiryAndADownloadAreNotLost() async throws {
        let server = try await server(keys: dialects)
        for option in ["exp:4102444800", "att:1"] {
            // When a transform at a ladder size has an option that is not part of the image
            let found = try await addresses("w:92/\(option)", "jpg", on: server).json()
            // Then the address has it, and no dialect, which cannot express it, has an address
            XCTAssertEqual(found["address"] as? String, "/i/unsafe/w:92/\(option)/plain/sample%3A%2F%2F1@jpg")
            let others = try XCTUnwrap(found["dialects"] as? [String: Any])
            XCTAssertEqual(others.keys.sorted(), ["cloudflare", "iiif", "next", "thumbor"])
            XCTAssertTrue(others.values.allSatisfy { $0 is NSNull }, "\(others)")
        }
    }

    func testThatAWrongOptionIsNamed() async throws {
        let server = try await server()
        for (options, option) in [("w:many", "w"), ("rs:fill:3:4/q:200", "q"), ("rs:stretch", "rs"), ("g:top", "g")] {
            let answer = try await addresses(options, "jpg", on: server)
            XCTAssertEqual(answer.status, 400, options)
            XCTAssertEqual(try answer.json()["option"] as? String, option, answer.text)
        }
        let unknown = try await addresses("wdith:3", "jpg", on: server)
        assertProblem(unknown, 400, "unknown option “wdith”")
        let nobody = try await server.send("/addresses?of=nobody://1&options=w:3")
        XCTAssertEqual(nobody.status, 404)
        let nothing = try await server.send("/addresses")
        XCTAssertEqual(nothing.status, 400)
    }

    private func addresses(
        _ options: String, _ format: String, on server: RunningServer, fields: [(String, String)] = []
    ) async throws -> ServerAnswer {
        try await server.send(
            "/addresses?of=sample%3A%2F%2F1&options=\(PercentEncoding.encode(options))&format=\(format)", fields: fields)
    }
}
