internal import OnesheetCore
internal import XCTest

/// Waits while `condition` holds and lets other tasks run, for state that sends no notification of its changes.
///
/// If the condition still holds after a minute, the test fails here instead of hanging.
package func waitWhile(
    _ condition: @autoclosure () -> Bool, isolation: isolated (any Actor)? = #isolation, file: StaticString = #filePath,
    line: UInt = #line
) async {
    let deadline = ContinuousClock.now + .seconds(60)
    var looks = 0
    while condition() {
        guard ContinuousClock.now < deadline else { return XCTFail("this still holds after a minute", file: file, line: line) }
        looks += 1
        await pauseBetweenLooks(looks)
    }
}

/// Waits until `condition` holds, which usually asks a server or another process. If it does not hold after a minute, the test fails.
package func waitUntil(
    _ condition: () async throws -> Bool, isolation: isolated (any Actor)? = #isolation, file: StaticString = #filePath,
    line: UInt = #line
) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    var looks = 0
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            return XCTFail("this does not hold after a minute", file: file, line: line)
        }
        looks += 1
        await pauseBetweenLooks(looks)
    }
}

/// Lets other tasks run, and after some looks also other processes: a test that looks all the time takes a processor from what it waits
/// for, and from the tests beside it.
private func pauseBetweenLooks(_ looks: Int) async {
    if looks > 50, await sleepUnlessCancelled(for: .milliseconds(2)) { return }
    await Task.yield()
}
