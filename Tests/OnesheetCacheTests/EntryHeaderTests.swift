import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetCache

final class EntryHeaderTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.original, "poster")

    func testThatAHeaderSaysEverythingAboutItsEntryButTheBody() throws {
        var entry = CacheEntry.sample(at: clock, cacheTime: .date(clock.now + 0.125), tags: [.source("a")], cost: 1.5)
        entry.provenance.location = "https://example.com/a.jpg"
        let bytes = EntryHeader.bytes(of: entry, for: key, named: key.entryName, end: clock.now + 7)

        let header = try EntryHeader(bytes, named: key.entryName)

        var facts = entry
        facts.body = ByteBuffer()
        XCTAssertEqual(header.key, key)
        XCTAssertEqual(header.facts, facts)
        XCTAssertEqual(header.end, clock.now + 7)
        XCTAssertEqual([header.length, header.bodyLength], [bytes.readableBytes, entry.body.readableBytes])
    }

    func testThatAHeaderUnderAnotherNameIsDamage() {
        let bytes = EntryHeader.bytes(of: .sample(at: clock), for: key, named: key.entryName, end: nil)

        XCTAssertThrowsError(try EntryHeader(bytes, named: CacheKey(.original, "other").entryName))
    }

    func testThatRandomBytesAreDamageAndNothingWorse() {
        var random = SystemRandomNumberGenerator()
        let whole = EntryHeader.bytes(of: .sample(at: clock, tags: [.source("a")]), for: key, named: key.entryName, end: nil)

        for round in 0..<20_000 {
            var bytes = whole.getBytes(at: 0, length: whole.readableBytes) ?? []
            // Mainly lengths and counts: any byte after the word.
            for _ in 0...(round % 4) {
                bytes[Int.random(in: 8..<bytes.count, using: &random)] = .random(in: 1...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0..<(round % 3 * 40 + 1), using: &random))
            guard bytes != whole.getBytes(at: 0, length: whole.readableBytes) else { continue }
            XCTAssertThrowsError(try EntryHeader(ByteBuffer(bytes: bytes), named: key.entryName))
        }
    }

    func testThatFieldsOfAnyLengthsAreReadWithoutTrappingWhenTheirDigestFits() {
        var random = SystemRandomNumberGenerator()
        var whole = ByteBuffer()
        var entry = CacheEntry.sample(at: clock, tags: [.source("a")])
        entry.provenance.location = "https://example.com/a.jpg"
        whole.writeFields(of: entry, for: key)

        for _ in 0..<20_000 {
            var fields = whole
            for _ in 0..<2 {
                fields.setInteger(
                    UInt8.random(in: 0...255, using: &random), at: Int.random(in: 0..<fields.writerIndex, using: &random))
            }
            // Any result is fine: these bytes passed the checksum, so we or an attacker made them.
            if let (read, _) = fields.readFields() { XCTAssertTrue(CacheKind.allCases.contains(read.kind)) }
        }
    }
}
