import Foundation
import OnesheetCore
import OnesheetHTTP
import XCTest

final class FreshnessHeadersTests: XCTestCase {
    private let now = Date(timeIntervalSince1970: 1_795_262_400)

    func testThatTheOriginsWordsDecideHowLongAnOriginalIsFresh() {
        let date = HTTPDate.text(now)
        let inAnHour = HTTPDate.text(now + 3600)
        let tenDaysAgo = HTTPDate.text(now - 864_000)
        let table: [(headers: [String: String], seconds: Double)] = [
            (["cache-control": "max-age=60"], 60),
            (["cache-control": "public, max-age=60"], 60),
            (["cache-control": "MAX-AGE=60"], 60),
            (["cache-control": "max-age=\"60\""], 60),
            (["cache-control": "max-age=60, s-maxage=600"], 600),
            (["cache-control": "s-maxage=0, max-age=60"], 0),
            (["cache-control": "max-age=60, max-age=10"], 10),
            (["cache-control": "max-age=abc"], 0),
            (["cache-control": "max-age=-5"], 0),
            (["cache-control": "max-age"], 0),
            (["cache-control": "max-age=99999999999999999999"], 2_147_483_648),
            (["cache-control": "no-cache"], 0),
            (["cache-control": "max-age=60, no-cache=\"set-cookie, x\""], 0),
            (["cache-control": "extension=\"a, max-age=5\", max-age=60"], 60),
            (["pragma": "no-cache"], 0),
            (["pragma": "no-cache", "cache-control": "max-age=60"], 60),
            (["date": date, "expires": inAnHour], 3600),
            (["date": date, "expires": inAnHour, "cache-control": "max-age=60"], 60),
            (["expires": "0"], 0),
            (["expires": "yesterday, more or less"], 0),
            (["date": date, "expires": date], 0),
            (["date": date, "last-modified": tenDaysAgo], 86_400),
            (["date": date, "last-modified": inAnHour], 86_400),
            ([:], 86_400),
            (["age": "20", "cache-control": "max-age=60"], 40),
            (["age": "100", "cache-control": "max-age=60"], 0),
            (["age": "nonsense", "cache-control": "max-age=60"], 60),
            (["age": "20, 3", "cache-control": "max-age=60"], 40), (["age": "20;a=1", "cache-control": "max-age=60"], 40),
            (["date": HTTPDate.text(now - 30), "cache-control": "max-age=60"], 30),
            (["date": inAnHour, "cache-control": "max-age=60"], 60),
        ]

        for (headers, seconds) in table {
            let freshness = Freshness(headers, requested: now, received: now)
            XCTAssertEqual(freshness.freshUntil.timeIntervalSince(now), seconds, accuracy: 0.001, "\(headers)")
        }
    }

    func testThatWhatTheOriginForbidsToKeepIsNotKept() {
        let table: [(headers: [String: String], isStorable: Bool)] = [
            (["cache-control": "no-store"], false),
            (["cache-control": "private"], false),
            (["cache-control": "max-age=60, Private"], false),
            (["cache-control": "private=\"x-user\""], false),
            (["vary": "*"], false), (["vary": "accept, *"], false), (["vary": "*,accept"], false),
            (["vary": "accept"], true),
            (["cache-control": "no-cache"], true),
            (["cache-control": "max-age=0"], true),
            ([:], true),
        ]

        for (headers, isStorable) in table {
            let freshness = Freshness(headers, requested: now, received: now, rules: FreshnessRules(minimum: 3600))
            XCTAssertEqual(freshness.isStorable, isStorable, "\(headers)")
        }
    }

    func testThatTheTimeOnTheWayCountsAsAge() {
        let freshness = Freshness(["age": "10", "cache-control": "max-age=60"], requested: now - 5, received: now)

        XCTAssertEqual(freshness.freshUntil, now + 45)
    }

    func testThatTheConfiguredMinimumAndMaximumBoundWhatTheOriginSays() {
        let rules = FreshnessRules(minimum: 100, maximum: 1000)
        let table: [(String, Double)] = [("max-age=5", 100), ("max-age=500", 500), ("max-age=5000", 1000), ("no-cache", 100)]

        for (header, seconds) in table {
            let freshness = Freshness(["cache-control": header], requested: now, received: now, rules: rules)
            XCTAssertEqual(freshness.freshUntil, now + seconds, header)
        }
    }

    func testThatWhatIsPastItsTimeGoesThroughItsStatesInOrder() {
        let freshness = Freshness(
            ["cache-control": "max-age=10, stale-while-revalidate=20, stale-if-error=60"], requested: now, received: now)

        let states = [0, 9.9, 10, 29.9, 30, 69.9, 70].map { freshness.state(at: now + $0) }

        XCTAssertEqual(
            states,
            [.fresh, .fresh, .staleWhileRevalidate, .staleWhileRevalidate, .staleIfError, .staleIfError, .stale])
    }

    func testThatStalenessIsAsConfiguredWhereTheOriginSaysNothing() {
        let rules = FreshnessRules(staleWhileRevalidate: 5, staleIfError: 50)

        let freshness = Freshness(["cache-control": "max-age=10"], requested: now, received: now, rules: rules)

        XCTAssertEqual([freshness.staleUntil, freshness.staleOnErrorUntil], [now + 15, now + 60])
    }

    func testThatNothingStaleIsServedWhereTheOriginForbidsIt() {
        for header in [
            "max-age=10, must-revalidate", "max-age=10, proxy-revalidate", "s-maxage=10",
            "max-age=10, must-revalidate, stale-if-error=9", "max-age=10, proxy-revalidate, stale-if-error=9",
            "no-cache, stale-if-error=99, stale-while-revalidate=99",
        ] {
            let freshness = Freshness(["cache-control": header], requested: now, received: now)
            XCTAssertEqual(freshness.state(at: now + 10), .stale, header)
        }
    }

    func testA304WithoutWordsLeavesThoseOfTheOriginal() {
        // Given originals that are fresh for a minute, never, until a time, and for a time that a 304 changes
        let inAnHour = HTTPDate.text(now + 3600)
        let table: [(headers: [String: String], answer: [String: String], seconds: Double)] = [
            (["cache-control": "max-age=60"], [:], 60), (["cache-control": "no-cache"], [:], 0), (["pragma": "no-cache"], [:], 0),
            (["expires": inAnHour], [:], 3500), (["cache-control": "max-age=60"], ["cache-control": "max-age=600"], 600),
            ([:], [:], 86_400), (["cache-control": "max-age=60, x=\(String(repeating: "y", count: 1024))"], [:], 0),
        ]
        for (headers, answer, seconds) in table {
            // When a 304 comes later
            let freshness = Freshness(headers, requested: now, received: now)
            let renewed = freshness.revalidated(answer, requested: now + 100, received: now + 100)
            // Then what it does not say stays
            XCTAssertEqual(renewed.freshUntil.timeIntervalSince(now + 100), seconds, accuracy: 0.001, "\(headers)")
        }
    }

    func testA304WithAnotherStrongTagIsAboutAnother() {
        for (own, other, isConfirmed) in [
            ("\"a\"", "\"a\"", true), ("\"a\"", "\"b\"", false), ("W/\"a\"", "\"a\"", true), ("W/\"a\"", "\"b\"", false),
            ("\"a\"", "W/\"b\"", true), ("\"a\"", nil, true), (nil, "\"b\"", true),
        ] as [(String?, String?, Bool)] {
            let freshness = Freshness(own.map { ["etag": $0] } ?? [:], requested: now, received: now)
            XCTAssertEqual(freshness.isConfirmed(by: other), isConfirmed, "\(own ?? "none"), \(other ?? "none")")
        }
    }

    func testRedirectBoundsTheFreshnessOfItsTarget() {
        let target = Freshness(["cache-control": "max-age=600"], requested: now, received: now)
        for (redirect, seconds, isStorable) in [
            (["cache-control": "max-age=60"], 60, true), (["cache-control": "max-age=6000"], 600, true),
            (["cache-control": "no-store, max-age=60"], 60, false), ([:], 600, true), (["expires": "0"], 0, true),
        ] as [([String: String], Double, Bool)] {
            let least = target.within([["location": "/"], redirect], requested: now, received: now)
            XCTAssertEqual(least.freshUntil.timeIntervalSince(now), seconds, "\(redirect)")
            XCTAssertEqual(least.isStorable, isStorable, "\(redirect)")
        }
    }

    func testThatAnOriginalIsAskedForWithItsValidators() {
        let both = Freshness(["etag": "W/\"a\"", "last-modified": "x"], requested: now, received: now)
        let none = Freshness([:], requested: now, received: now)

        XCTAssertEqual(both.conditions, ["if-none-match": "W/\"a\"", "if-modified-since": "x"])
        XCTAssertEqual(none.conditions, [:])
    }

    func testThatAnAnswerOf304RenewsTheFreshnessAndKeepsTheValidators() {
        let first = Freshness(["cache-control": "max-age=10", "etag": "\"a\""], requested: now, received: now)

        let renewed = first.revalidated(["cache-control": "max-age=20"], requested: now + 30, received: now + 30)

        XCTAssertEqual(renewed.freshUntil, now + 50)
        XCTAssertEqual(renewed.entityTag, "\"a\"")
    }

    func testThatAnOriginalWithAValidatorIsUsefulForLonger() {
        let rules = FreshnessRules(staleWhileRevalidate: 0, staleIfError: 0)

        let plain = Freshness(["cache-control": "max-age=10"], requested: now, received: now, rules: rules)
        let tagged = Freshness(["cache-control": "max-age=10", "etag": "\"a\""], requested: now, received: now, rules: rules)

        XCTAssertEqual(plain.usefulUntil(grace: 100), now + 10)
        XCTAssertEqual(tagged.usefulUntil(grace: 100), now + 110)
    }

    func testThatACombiningMarkHidesNoDirective() {
        // Given a field with a combining mark after the comma before `no-store`
        let freshness = Freshness(
            ["cache-control": "max-age=60,\u{301}x, no-store", "date": ""], requested: .now, received: .now)
        XCTAssertFalse(freshness.isStorable)
        let hidden = Freshness(
            ["cache-control": "max-age=\"6,\u{301}0\",no-store\u{301}, private"], requested: .now, received: .now)
        XCTAssertFalse(hidden.isStorable)
    }
}

final class HTTPDateTests: XCTestCase {
    private let now = Date(timeIntervalSince1970: 1_795_262_400)
    private let moment = Date(timeIntervalSince1970: 784_111_777)

    func testThatAllThreeFormsOfADateAreRead() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            XCTAssertEqual(HTTPDate.parse(text, now: now), moment, text)
        }
    }

    func testThatWhatIsNoDateIsNotRead() {
        let texts = [
            "", "0", "-1", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 99999999999999999999 08:49:37 GMT",
            "Sun, 06 \u{301} 1994 08:49:37 GMT",
        ]

        for text in texts { XCTAssertNil(HTTPDate.parse(text, now: now), text) }
    }

    func testThatAYearOfTwoDigitsIsReadAtAnyTime() {
        for seconds in [-1e300, -1, 1e300, .infinity, -.infinity, .nan] {
            XCTAssertNotNil(
                HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: Date(timeIntervalSince1970: seconds)), "\(seconds)")
        }
    }

    func testThatADateIsWrittenAsItIsRead() {
        XCTAssertEqual(HTTPDate.text(moment), "Sun, 06 Nov 1994 08:49:37 GMT")
        for day in stride(from: -30_000, through: 60_000, by: 37) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 12_345)
            XCTAssertEqual(HTTPDate.parse(HTTPDate.text(date), now: now), date)
        }
    }

    func testThatAYearOfTwoDigitsIsTheNearestThatMakesSense() {
        XCTAssertEqual(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: now), moment)
        XCTAssertEqual(
            HTTPDate.parse("Saturday, 21-Nov-26 12:00:00 GMT", now: now), now)
    }
}
