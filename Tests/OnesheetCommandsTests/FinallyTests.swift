import XCTest

@testable import OnesheetCommands

final class FinallyTests: XCTestCase {
    private enum Failure: Error { case work, end }

    func testThatTheErrorOfTheWorkIsShownEvenIfTheEndFails() async {
        for (doesWorkFail, doesEndFail, expected) in [
            (true, true, Failure.work), (true, false, .work), (false, true, .end), (false, false, nil),
        ] {
            var failure: Failure?
            var hasEnded = false
            do {
                try await finally {
                    hasEnded = true
                    if doesEndFail { throw Failure.end }
                } _: {
                    if doesWorkFail { throw Failure.work }
                }
            } catch {
                failure = error as? Failure
            }
            XCTAssertEqual(failure, expected)
            XCTAssertTrue(hasEnded)
        }
    }
}
