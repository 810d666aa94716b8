import CZlib
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// Responses with a content coding that was not requested.
final class ContentCodingTests: TransportTestCase {
    private let text = [UInt8]("one sheet, ".utf8) + [UInt8](repeating: 7, count: 300_000) + [UInt8]("the end".utf8)

    func testThatAPackedBodyIsUnpacked() async throws {
        let packed = deflate(text)
        for (coding, body) in [
            ("gzip", gzip(text)), ("x-gzip", gzip(text)), ("GZIP", gzip(text)), ("deflate", packed), ("deflate", raw(packed)),
            ("identity", text), ("none", text), ("UTF-8", text), ("binary", text), ("aws-chunked", text), ("", text),
            ("aws-chunked, gzip", gzip(text)), ("gzip, utf-8", gzip(text)), ("gzip, gzip", gzip(gzip(text))),
            ("gzip, gzip", gzip(text)),
            ("deflate,gzip", gzip(packed)), ("gzip", gzip(text) + gzip([1, 2, 3])), ("gzip", gzip(text) + [0, 0, 0, 0]),
            ("gzip", gzip([])),
        ] {
            // Given a response in a content coding
            let origin = try await origin(coding, body)
            // When it is requested
            let answer = try await transport().get(HTTPRequest(url: origin.url + "/"), under: loopback)
            // Then the body is decoded, and the coding field is removed
            let plain = body == gzip([]) ? [] : body.count > gzip(text).count + 4 && coding == "gzip" ? text + [1, 2, 3] : text
            let isPacked = coding.lowercased().contains("gzip") || coding == "deflate"
            XCTAssertEqual([UInt8](buffer: answer.body), plain, coding)
            if isPacked { XCTAssertNil(answer.headers["content-encoding"]) }
        }
    }

    func testThatABodyThatIsOnlySaidToBePackedIsTakenAsItIs() async throws {
        for body in [text, [0x1F]] {
            // Given a body without gzip's magic bytes
            let origin = try await origin("gzip", body)
            // When it is requested
            let answer = try await transport().get(HTTPRequest(url: origin.url + "/"), under: loopback)
            // Then it is unchanged
            XCTAssertEqual(Array(answer.body.readableBytesView), body)
        }
    }

    func testThatADamagedBodyIsAnError() async throws {
        let whole = gzip(text)
        var flipped = whole
        flipped[flipped.count - 6] ^= 1
        for body in [Array(whole.dropLast(1)), Array(whole.prefix(30)), Array(whole.prefix(3)), flipped] {
            // Given a truncated or flipped body
            let origin = try await origin("gzip", body)
            // When it is requested
            let error = await failure(of: origin.url + "/", loopback)
            // Then it is the origin's fault, and not retried
            XCTAssertEqual(error, .failed(url: origin.url + "/", reason: "its gzip coding is damaged"))
            XCTAssertEqual(origin.requests(), 1)
        }
    }

    func testThatAnUnknownCodingIsAnError() async throws {
        for (coding, name) in [
            ("br", "br"), ("zstd", "zstd"), ("none, BR, utf-8", "br"), ("compress", "compress"),
        ] {
            let origin = try await origin(coding, text)
            let error = await failure(of: origin.url + "/", loopback)
            guard case .failed(_, let reason) = error else { return XCTFail("\(String(describing: error))") }
            XCTAssertTrue(reason.hasPrefix("it has the content coding “\(name)"), reason)
            XCTAssertLessThan(reason.utf8.count, 100)
        }
    }

    func testManyCodingsAreAnError() async throws {
        let origin = try await origin(Array(repeating: "gzip", count: 6).joined(separator: ","), text)
        let error = await failure(of: origin.url + "/", loopback)
        XCTAssertEqual(error, .failed(url: origin.url + "/", reason: "it has more than 5 content codings"))
    }

    func testAnAnswerKeepsTheMemoryOfItsBody() async throws {
        // Given an answer with a coding, and one without
        let words = String(repeating: "words ", count: 1 << 15)
        let coded = try await origin("gzip", gzip(Array(words.utf8)))
        let plain = try await origin { _, _ in .answer(body: ByteBuffer(string: words)) }
        for origin in [coded, plain] {
            let memory = MemoryBudget(limit: 8 << 20)
            let answer = try await transport(memory: memory).get(HTTPRequest(url: origin.url + "/"), under: loopback)
            // Then its body is counted for as long as it is here
            XCTAssertEqual(String(buffer: answer.body), words)
            XCTAssertGreaterThanOrEqual(memory.reserved, words.utf8.count)
            withExtendedLifetime(answer) {}
        }
    }

    func testThatABombIsAsLargeAsWhatItUnpacksTo() async throws {
        // Given 64 MiB of zeros in 64 KiB
        let bomb = gzip([UInt8](repeating: 0, count: 64 << 20))
        XCTAssertLessThan(bomb.count, 128 << 10)
        let origin = try await origin("gzip", bomb)
        // When it is requested with a size limit, and with a memory limit
        let large = await failure(of: origin.url + "/", OriginPolicy(networks: [.loopback], maxBytes: 1 << 20))
        let memory = MemoryBudget(limit: 8 << 20)
        let scarce = await Self.failure(of: origin.url + "/", loopback, transport(memory: memory))
        // Then both limits apply, and nothing stays reserved
        XCTAssertEqual(large, .tooLarge(url: origin.url + "/", limit: 1 << 20))
        XCTAssertEqual(scarce, .overloaded(url: origin.url + "/"))
        XCTAssertEqual(memory.reserved, 0)
    }

    func testThatMembersWithoutBytesDoNotGoOnForEver() async throws {
        // Given a hundred thousand empty members
        let origin = try await origin("gzip", Array(repeatElement(gzip([]), count: 100_000).joined()))
        // When it is requested
        let error = await failure(of: origin.url + "/", loopback)
        // Then it is not a valid response
        XCTAssertEqual(error, .failed(url: origin.url + "/", reason: "its gzip coding is damaged"))
    }

    private func origin(_ coding: String, _ body: [UInt8]) async throws -> OriginServer {
        try await origin { _, _ in .answer(fields: ["Content-Encoding": coding], body: ByteBuffer(bytes: body)) }
    }

    /// RFC 1950.
    private func deflate(_ bytes: [UInt8]) -> [UInt8] {
        var size = compressBound(UInt(bytes.count))
        var packed = [UInt8](repeating: 0, count: Int(size))
        XCTAssertEqual(compress2(&packed, &size, bytes, UInt(bytes.count), 9), Z_OK)
        return Array(packed.prefix(Int(size)))
    }

    /// RFC 1951: the same without header and checksum.
    private func raw(_ packed: [UInt8]) -> [UInt8] { Array(packed.dropFirst(2).dropLast(4)) }

    /// RFC 1952.
    private func gzip(_ bytes: [UInt8]) -> [UInt8] {
        let checksum = UInt32(truncatingIfNeeded: crc32(0, bytes, UInt32(bytes.count)))
        let tail = [checksum, UInt32(truncatingIfNeeded: bytes.count)].flatMap { word in
            (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + raw(deflate(bytes)) + tail
    }
}
