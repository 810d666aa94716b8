import OnesheetCore
import OnesheetTesting
import XCTest

final class ExactTextTests: XCTestCase {
    func testThatWhatOnlyLooksTheSameIsNotTheSame() {
        for (one, other) in LookalikeTexts.pairs {
            // Given two texts that are equal in Swift
            XCTAssertEqual(one, other)
            // Then they give two titles, two keys with two hashes, two tags
            XCTAssertNotEqual(ExactText(one), ExactText(other))
            XCTAssertEqual(Set([ExactText(one), ExactText(other), ExactText(one)]).count, 2)
            let titles = [one, other].map { TitleReference(source: "films", id: $0) }
            XCTAssertEqual(Set(titles).count, 2)
            XCTAssertNotEqual(titles[0], titles[1])
            let keys = [one, other].map { CacheKey(.original, $0) }
            XCTAssertEqual(Set(keys).count, 2)
            XCTAssertNotEqual(keys[0].hash, keys[1].hash)
            XCTAssertEqual(Set([CacheTag(one), CacheTag(other)]).count, 2)
        }
    }

    func testThatTheSameBytesAreTheSame() {
        for text in ["", "a", String(repeating: "가\u{301}", count: 1000)] {
            XCTAssertEqual(ExactText(text), ExactText(text + ""))
            XCTAssertEqual(Set([ExactText(text), ExactText(text[...])]).count, 1)
            XCTAssertEqual(CacheKey(.variant, text), CacheKey(.variant, text))
            XCTAssertEqual(CacheKey(.variant, text).hash, CacheKey(.variant, text).hash)
        }
    }

    func testThatTheOrderIsTheBytes() {
        let texts = ["e\u{301}", "f", "", "\u{E9}", "e"].map { ExactText($0) }
        XCTAssertEqual(
            texts.sorted().map { Array($0.description.utf8) },
            texts.map { Array($0.description.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }

    func testThatMarksAreFoundWhateverStandsBehindThem() {
        // Given texts in which a character consists of a separator and a combining mark
        let path = "/a/\u{301}b?\u{600}c"
        // Then
        XCTAssertEqual(path.pieces(at: "/").map { Array($0.utf8) }, ["a", "\u{301}b?\u{600}c"].map { Array($0.utf8) })
        XCTAssertEqual(path.cut(at: "?").map { Array($0.before.utf8) }, Array("/a/\u{301}b".utf8))
        XCTAssertEqual(path.cut(atLast: "/").map { Array($0.before.utf8) }, Array("/a".utf8))
        XCTAssertNil(path.cut(at: "#"))
        XCTAssertTrue(path.starts(withBytesOf: "/a/"))
        XCTAssertTrue("x,\u{301}".ends(withBytesOf: "\u{301}"))
        XCTAssertTrue(path.contains(mark: "?"))
        XCTAssertEqual(Array(path.dropFirst(bytes: 3).utf8), Array("\u{301}b?\u{600}c".utf8))
        XCTAssertEqual(Array("a+\u{301}+b".replacing(bytesOf: "+", with: "%20").utf8), Array("a%20\u{301}%20b".utf8))
        XCTAssertEqual("x://://y".firstRange(ofBytesOf: "://").map { "x://://y"[..<$0.lowerBound] }, "x")
        XCTAssertNil("aa".firstRange(ofBytesOf: "aaa"))
        XCTAssertEqual("a,,b,".pieces(at: ",", omittingEmptySubsequences: false), ["a", "", "b", ""])
        XCTAssertEqual("a/b/c/d".pieces(at: "/", maxSplits: 2, omittingEmptySubsequences: false), ["a", "b", "c/d"])
        XCTAssertEqual("HT\u{212A}".lowercasedASCII().utf8.count, 5)
    }

    func testThatEveryNumberBecomesAWholeOne() {
        let table: [(Double, Int)] = [
            (1e300, .max), (-1e300, .min), (.infinity, .max), (-.infinity, .min), (.nan, 0), (1e-300, 0), (-0.9, 0), (2.9, 2),
            (-2.9, -2), (9_223_372_036_854_775_808, .max), (-9_223_372_036_854_775_808, .min),
        ]
        for (number, whole) in table { XCTAssertEqual(Int(saturating: number), whole, "\(number)") }
    }
}
