internal import XCTest

/// Waits while `condition` holds and lets other tasks run, for state that sends no notification of its changes.
///
/// If the condition still holds after a minute, the test fails here instead of hanging.
package func waitWhile(
    _ condition: @autoclosure () -> Bool, isolation: isolated (any Actor)? = #isolation, file: StaticString = #filePath,
    line: UInt = #line
) async {
    let deadline = ContinuousClock.now + .seconds(60)
    while condition() {
        guard ContinuousClock.now < deadline else { return XCTFail("this still holds after a minute", file: file, line: line) }
        await Task.yield()
    }
}
