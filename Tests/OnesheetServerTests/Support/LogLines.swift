import Logging
import Synchronization
import XCTest

@testable import OnesheetCommands
@testable import OnesheetServer

/// A log for assertions.
final class LogLines: Sendable {
    private struct State {
        var lines: [String] = []
        var expected: [(text: String, expectation: XCTestExpectation)] = []
    }

    private let state = Mutex(State())

    var all: [String] { state.withLock { $0.lines } }

    /// A logger that appends its lines here.
    func logger(_ format: LogConfiguration.Format = .text, level: Logger.Level = .debug) -> Logger {
        var configuration = LogConfiguration()
        (configuration.format, configuration.level) = (format, level)
        return Log.make(configuration) { line in self.add(line) }
    }

    /// Fulfilled by the next line that contains `text`.
    func expectation(of text: String) -> XCTestExpectation {
        let expectation = XCTestExpectation(description: "a log line with “\(text)”")
        state.withLock { $0.expected.append((text, expectation)) }
        return expectation
    }

    private func add(_ line: String) {
        state.withLock { state in
            state.lines.append(line)
            state.expected.removeAll { text, expectation in
                guard line.contains(text) else { return false }
                expectation.fulfill()
                return true
            }
        }
    }
}
