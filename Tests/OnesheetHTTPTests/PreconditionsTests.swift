import FoundationEssentials
import HTTPTypes
import XCTest

@testable import OnesheetHTTP

final class PreconditionsTests: XCTestCase {
    /// 2026-11-21 12:00:00.5 UTC
    private let modified = Date(timeIntervalSince1970: 1_795_262_400.5)
    private let second = "Sat, 21 Nov 2026 12:00:00 GMT"
    private let later = "Sat, 21 Nov 2026 12:00:01 GMT"
    private let earlier = "Sat, 21 Nov 2026 11:59:59 GMT"

    func testThatConditionsAreAskedInTheOrderOfTheStandard() {
        let table: [([HTTPField.Name: String], Preconditions.Outcome)] = [
            ([:], .met),
            ([.ifMatch: "\"v\""], .met), ([.ifMatch: "*"], .met), ([.ifMatch: "\"x\", \"v\""], .met),
            ([.ifMatch: "\"x\""], .failed), ([.ifMatch: "W/\"v\""], .failed), ([.ifMatch: "v"], .failed), ([.ifMatch: ""], .failed),
            ([.ifUnmodifiedSince: second], .met), ([.ifUnmodifiedSince: earlier], .failed), ([.ifUnmodifiedSince: "soon"], .met),
            ([.ifNoneMatch: "\"v\""], .notModified), ([.ifNoneMatch: "W/\"v\""], .notModified), ([.ifNoneMatch: "*"], .notModified),
            ([.ifNoneMatch: "\"a,b\",\"v\""], .notModified), ([.ifNoneMatch: "\"a\" garbage, \"v\""], .met),
            ([.ifNoneMatch: "\"x\""], .met), ([.ifNoneMatch: "\"v"], .met),
            ([.ifModifiedSince: second], .notModified), ([.ifModifiedSince: earlier], .met), ([.ifModifiedSince: later], .met),
            ([.ifModifiedSince: "soon"], .met),
            // A validator overrides the date, and If-Match comes before If-None-Match
            ([.ifNoneMatch: "\"x\"", .ifModifiedSince: second], .met),
            ([.ifMatch: "\"v\"", .ifUnmodifiedSince: earlier], .met),
            ([.ifMatch: "\"x\"", .ifNoneMatch: "\"v\""], .failed),
            ([.ifMatch: "\"v\"", .ifNoneMatch: "\"v\""], .notModified),
        ]
        for (fields, outcome) in table { XCTAssertEqual(conditions(fields).outcome, outcome, "\(fields)") }
    }

    func testThatDatesCountForNothingWithoutADateOfTheRepresentation() {
        let table: [([HTTPField.Name: String], Preconditions.Outcome)] = [
            ([.ifUnmodifiedSince: earlier], .met), ([.ifModifiedSince: second], .met), ([.ifMatch: "\"v\""], .met),
            ([.ifMatch: "\"x\""], .failed), ([.ifNoneMatch: "\"v\""], .notModified),
        ]
        for (fields, outcome) in table { XCTAssertEqual(conditions(fields, modified: nil).outcome, outcome, "\(fields)") }
        XCTAssertFalse(conditions([.ifRange: second], modified: nil).allowsRange)
        XCTAssertTrue(conditions([.ifRange: "\"v\""], modified: nil).allowsRange)
    }

    func testThatAPartIsOnlySentOfWhatTheClientHas() {
        let table: [(String?, Bool)] = [
            (nil, true), ("\"v\"", true), ("\"x\"", false), ("W/\"v\"", false), ("*", false), ("\"v", false),
            (second, false), (earlier, false), (later, false), ("soon", false), ("", false),
            ("\"v\", \"x\"", false), ("\"x\", \"v\"", false), ("\"v\",", false), ("\"v\" \"v\"", false),
        ]
        for (field, isAllowed) in table {
            let conditions = conditions(field.map { [.ifRange: $0] } ?? [:])
            XCTAssertEqual(conditions.allowsRange, isAllowed, field ?? "none")
        }
    }

    private func conditions(_ fields: [HTTPField.Name: String]) -> Preconditions { conditions(fields, modified: modified) }

    private func conditions(_ fields: [HTTPField.Name: String], modified: Date?) -> Preconditions {
        var all = HTTPFields()
        for (name, value) in fields { all[name] = value }
        return Preconditions(fields: all, validator: "v", modified: modified)
    }
}
