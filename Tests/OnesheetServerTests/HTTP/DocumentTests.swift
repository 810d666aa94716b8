import Foundation
import NIOCore
import OnesheetTesting
import XCTest

@testable import OnesheetServer

/// The header fields of responses other than images.
final class DocumentTests: ServerTestCase {
    private let paths = [
        "/sources", "/sources/sample/titles", "/sources/sample/titles/1", "/sources/sample/titles/1/posters", "/3/configuration",
        "/",
        "/?plain",
    ]

    func testThatEveryAnswerSaysHowItMayBeKept() async throws {
        let server = try await server(keys: "dialects: [iiif]\nadmin: { token: 9f86d081884c7d65 }")
        let authorized = [("Authorization", "Bearer 9f86d081884c7d65")]
        for (path, expected) in [
            ("/health", "no-store"), ("/ready", "no-store"), ("/metrics", "no-cache"), ("/sources", "no-cache"),
            ("/sources/sample/titles", "no-cache"), ("/sources/sample/titles/1", "no-cache"),
            ("/sources/sample/titles/1/posters", "no-cache"), ("/3/configuration", "public, max-age=3600"), ("/", "no-cache"),
            ("/cache/stats", "no-cache"), ("/figures", "no-cache"), ("/errors", "no-cache"), ("/prefetch", "no-cache"),
            ("/explain?url=/t/p/w92/sample/1", "no-store"), ("/addresses?of=sample://1", "no-store"), ("/blocked/", "no-cache"),
            ("/none", "no-store"), ("/t/p/w1/sample/1", "no-store"),
            ("/iiif/3/sample:%2F%2F1/info.json", "public, max-age=60"), ("/favicon.ico", "public, max-age=86400"),
        ] {
            // Twice: some are answered early.
            for _ in 0..<2 {
                let answer = try await server.send(path, fields: authorized)
                XCTAssertEqual(answer.field("Cache-Control"), expected, "\(path) \(answer.status)")
            }
        }
    }

    func testThatADocumentHasAValidator() async throws {
        let server = try await server()
        for path in paths {
            // Given a document
            let first = try await server.send(path)
            let tag = try XCTUnwrap(first.field("ETag"), path)
            XCTAssertTrue(first.field("Vary")?.contains("Accept-Encoding") ?? false, path)
            // When a client that has it asks again
            let again = try await server.send(path, fields: [("If-None-Match", tag)])
            // Then it need not be sent
            XCTAssertEqual(again.status, 304, path)
            XCTAssertEqual(again.body.readableBytes, 0, path)
            XCTAssertEqual(again.field("ETag"), tag, path)
            XCTAssertEqual(again.field("Cache-Control"), first.field("Cache-Control"), path)
            XCTAssertNil(again.field("Content-Type"), path)
            let other = try await server.send(path, fields: [("If-None-Match", "\"other\"")])
            XCTAssertEqual(other.status, 200, path)
        }
    }

    func testThatADocumentIsSentOnlyIfItMeetsTheConditionOfTheRequest() async throws {
        let server = try await server()
        for path in paths {
            // Given a document
            let first = try await server.send(path)
            let tag = try XCTUnwrap(first.field("ETag"), path)
            // When a client asks for this one or any, or with a date, which documents do not have
            for (name, value) in [
                ("If-Match", tag), ("If-Match", "\"other\", \(tag)"), ("If-Match", "*"),
                ("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"), ("If-Modified-Since", "Sat, 01 Jan 2200 00:00:00 GMT"),
            ] {
                let answer = try await server.send(path, fields: [(name, value)])
                // Then it is sent
                XCTAssertEqual(answer.status, 200, "\(path) \(name): \(value)")
                XCTAssertEqual(answer.field("ETag"), tag, "\(path) \(name): \(value)")
            }
            // When it asks for another one
            for value in ["\"other\"", "W/\(tag)"] {
                let answer = try await server.send(path, fields: [("If-Match", value)])
                // Then it is not sent
                assertProblem(answer, 412, "does not meet the request's condition", context: "\(path) \(value)")
            }
            // And If-Match precedes If-None-Match
            let both = try await server.send(path, fields: [("If-Match", "\"other\""), ("If-None-Match", tag)])
            assertProblem(both, 412, "does not meet the request's condition", context: path)
            let known = try await server.send(path, fields: [("If-Match", tag), ("If-None-Match", tag)])
            XCTAssertEqual(known.status, 304, path)
        }
    }

    func testThatADocumentIsCompressedForClientsThatAcceptIt() async throws {
        let server = try await server()
        for path in paths + ["/metrics"] {
            let plain = try await server.send(path)
            XCTAssertNil(plain.field("Content-Encoding"), path)
            // When a client can unpack a coding
            for accepted in ["br, gzip;q=0.8", "gzip, br, zstd", "gzip, zstd;q=0.5", "zstd;q=0, *"] {
                let packed = try await server.send(path, fields: [("Accept-Encoding", accepted)])
                XCTAssertEqual(packed.status, 200, path)
                let isPacked = packed.field("Content-Encoding") == "gzip"
                // Then what is long comes in fewer bytes, under a validator of its own
                XCTAssertEqual(isPacked, plain.body.readableBytes >= 512, "\(path) \(accepted)")
                XCTAssertEqual(packed.field("ETag")?.hasSuffix("-gzip\""), isPacked, path)
                XCTAssertEqual(packed.body.readableBytesView.starts(with: [0x1F, 0x8B]), isPacked, path)
                if isPacked { XCTAssertLessThan(packed.body.readableBytes, plain.body.readableBytes, path) }
                if path != "/metrics" {
                    let again = try await server.send(
                        path, fields: [("Accept-Encoding", accepted), ("If-None-Match", packed.field("ETag") ?? "")])
                    XCTAssertEqual(again.status, 304, path)
                    XCTAssertEqual(try unpacked(packed), plain.text, path)
                }
            }
            let refused = try await server.send(path, fields: [("Accept-Encoding", "gzip;q=0, zstd, identity")])
            XCTAssertNil(refused.field("Content-Encoding"), path)
        }
    }

    /// The document of a packed answer, by the coding's own program.
    private func unpacked(_ answer: ServerAnswer) throws -> String {
        guard let coding = answer.field("Content-Encoding") else { return answer.text }
        let unpacker = Process()
        let (input, output) = (Pipe(), Pipe())
        unpacker.executableURL = URL(filePath: "/usr/bin/env")
        unpacker.arguments = [coding, "-dc"]
        (unpacker.standardInput, unpacker.standardOutput) = (input, output)
        try unpacker.run()
        try input.fileHandleForWriting.write(contentsOf: Data(answer.body.readableBytesView))
        try input.fileHandleForWriting.close()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        unpacker.waitUntilExit()
        return text
    }

    func testThatImagesSayWhichPagesMayShowThem() async throws {
        for (keys, expected) in [
            ("", "cross-origin"), ("cors: { resourcePolicy: same-site }", "same-site"), ("cors: { resourcePolicy: none }", nil),
        ] as [(String, String?)] {
            let server = try await server(keys: keys)
            for _ in 0..<2 {
                let answer = try await server.send("/t/p/w92/sample/1.jpg")
                XCTAssertEqual(answer.field("Cross-Origin-Resource-Policy"), expected, keys)
            }
            let list = try await server.send("/sources")
            XCTAssertNil(list.field("Cross-Origin-Resource-Policy"), keys)
        }
        do {
            _ = try await server(keys: "cors: { resourcePolicy: nobody }")
            XCTFail("a policy that is none was accepted")
        } catch {
            XCTAssertTrue("\(error)".contains("nobody"), "\(error)")
        }
    }
}
