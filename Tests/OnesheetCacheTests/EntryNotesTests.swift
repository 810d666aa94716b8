import FoundationEssentials
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetCache

/// Earlier and later versions must read each other's files: names and texts never change.
final class EntryNotesTests: XCTestCase {
    private let clock = ManualClock()
    private let key = CacheKey(.variant, "sample://1#w92.jpg")

    private let texts = [
        "fresh-until": "1795262400.25", "stale-until": "1795262460.25", "stale-on-error-until": "1795348800.25", "etag": "W/\"ä\"",
        "last-modified": "Thu, 01 Jan 1970 00:00:00 GMT", "cache-control": "max-age=60", "expires": "0",
        "origin": "https://example.com/a.jpg", "page": "https://example.com/",
        "site": "example.com", "asked-at": "1795262400.0", "original": "Vh5kq7P7wqXyZ", "width": "92", "height": "138",
        "color": "#0a10ff", "thumbhash": "1QcSHQRnh493V4dIh4eXh1h4kJUI", "look": "00000000000000ff",
    ]

    func testThatACostIsANumberThatEvictionCanUse() throws {
        for (cost, read) in [(1e308, 86_400_000), (.infinity, 86_400_000), (-1, 0), (.nan, 0), (12.5, 12.5)] as [(Double, Double)] {
            var entry = entry(texts)
            entry.cost = cost
            XCTAssertEqual(try XCTUnwrap(CacheEntry.decode(entry.encoded(for: key))).entry.cost, read)
        }
    }

    func testThatEveryNoteIsReadAndWrittenAsItWasBefore() {
        let entry = entry(texts)

        XCTAssertEqual(entry.freshness?.freshUntil, Date(timeIntervalSince1970: 1_795_262_400.25))
        XCTAssertEqual(entry.freshness?.staleUntil, Date(timeIntervalSince1970: 1_795_262_460.25))
        XCTAssertEqual(entry.freshness?.staleOnErrorUntil, Date(timeIntervalSince1970: 1_795_348_800.25))
        XCTAssertEqual(entry.freshness?.conditions.count, 2)
        XCTAssertEqual(entry.freshness?.cacheControl, "max-age=60")
        XCTAssertEqual(entry.freshness?.expires, "0")
        XCTAssertEqual(
            entry.provenance,
            Provenance(
                location: "https://example.com/a.jpg", page: "https://example.com/", site: "example.com",
                askedAt: Date(timeIntervalSince1970: 1_795_262_400), original: "Vh5kq7P7wqXyZ"))
        XCTAssertEqual(
            entry.presentation,
            Presentation(
                width: 92, height: 138, color: Color(red: 10, green: 16, blue: 255), thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
                perceptualHash: 255))
        XCTAssertEqual(Dictionary(uniqueKeysWithValues: EntryNotes(entry).pairs.map { ($0.name, $0.value) }), texts)
    }

    func testThatAFileOfAnEarlierVersionIsReadWithNotesInAnyOrderAndUnknownOnesPassedOver() throws {
        // Given the fields of an entry of an earlier version
        var fields = ByteBuffer()
        fields.writeFields(of: .sample(at: clock), for: key)
        fields.moveWriterIndex(to: fields.writerIndex - 4)
        var expected = CacheEntry.sample(at: clock)
        expected.body = ByteBuffer()
        let notes = texts.map { ($0.key, $0.value) } + [("length", "7"), ("", "empty"), ("width", "1")]
        fields.writeInteger(UInt32(notes.count))
        for text in notes.flatMap({ [$0.0, $0.1] }) {
            fields.writeInteger(UInt32(text.utf8.count))
            fields.writeString(text)
        }
        // When they are parsed
        let (found, entry) = try XCTUnwrap(fields.readFields())
        // Then all known facts are present
        let typed = self.entry(texts)
        (expected.freshness, expected.provenance, expected.presentation) = (typed.freshness, typed.provenance, typed.presentation)
        XCTAssertEqual(found, key)
        XCTAssertEqual(entry, expected)
    }

    func testThatAValueThatCannotBeReadIsNone() {
        let entry = entry(
            texts.merging(["width": "wide", "color": "#+a10ff", "look": "ff", "stale-until": "soon", "asked-at": ""]) { $1 })

        XCTAssertNil(entry.freshness)
        XCTAssertNil(entry.provenance.askedAt)
        XCTAssertEqual(entry.presentation, Presentation(height: 138, thumbHash: "1QcSHQRnh493V4dIh4eXh1h4kJUI"))
    }

    func testThatDatesThatNoClockShowsAreNone() {
        for text in ["1e300", "-1e300", "nan", "inf"] {
            XCTAssertNil(entry(texts.merging(["asked-at": text]) { $1 }).provenance.askedAt, text)
        }
        for seconds in [-1e300, 1e300, .nan] {
            var (fields, entry) = (ByteBuffer(), CacheEntry.sample(at: clock))
            entry.created = Date(timeIntervalSinceReferenceDate: seconds)
            fields.writeFields(of: entry, for: key)
            XCTAssertNil(fields.readFields(), "\(seconds)")
        }
    }

    func testThatAnEncodedEntryIsReadAgainAndAnyOtherBytesAreNone() throws {
        var entry = entry(texts)
        (entry.body, entry.tags, entry.cost) = (ByteBuffer(string: "bytes"), [.source("sample")], 2.5)

        let bytes = entry.encoded(for: key)

        let decoded = try XCTUnwrap(CacheEntry.decode(bytes))
        XCTAssertEqual(decoded.key, key)
        XCTAssertEqual(decoded.entry, entry)
        XCTAssertNil(CacheEntry.decode(ByteBuffer()))
        XCTAssertNil(CacheEntry.decode(ByteBuffer(bytes: [0xFF, 0xFF, 0xFF, 0xFF, 1])))
        XCTAssertNil(CacheEntry.decode(try XCTUnwrap(bytes.getSlice(at: 1, length: bytes.readableBytes - 1))))
    }

    private func entry(_ texts: [String: String]) -> CacheEntry {
        var notes = EntryNotes()
        for (name, value) in texts { notes.add(name, value: value) }
        var entry = CacheEntry.sample(at: clock)
        (entry.freshness, entry.provenance, entry.presentation) = (notes.freshness, notes.provenance, notes.presentation)
        return entry
    }
}
