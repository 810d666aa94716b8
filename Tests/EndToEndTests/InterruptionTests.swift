import Foundation
import OnesheetTesting
import XCTest

/// Commands that a signal ends while they work.
final class InterruptionTests: CommandTestCase {
    func testThatASignalEndsABundleAndLeavesNoFile() async throws {
        for (signal, status) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            try await assertEnds(["bundle", "films", "-o", "a.tar"], by: signal, with: status)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            let left = names.filter { $0.hasPrefix("a.tar") || $0.hasSuffix(".part") }
            XCTAssertEqual(left, [])
        }
    }

    func testThatASignalEndsAPrefetch() async throws {
        for (signal, status) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            try await assertEnds(["prefetch", "films", "--json"], by: signal, with: status)
        }
    }

    private func assertEnds(_ arguments: [String], by signal: Int32, with status: Int32, line: UInt = #line) async throws {
        // Given a source with one film, whose picture an origin holds back
        let gate = Gate()
        let origin = try await OriginServer.start { _, _ in .held(gate, .answer(status: 404)) }
        addTeardownBlock { try await origin.stop() }
        defer { gate.open() }
        let program = """
            while IFS= read -r line; do
                id=${line#'{"id":'}; id=${id%%,*}
                case $line in
                    *initialize*) result='{"protocol":1}' ;;
                    *'"method":"titles"'*) result='{"titles":[{"id":"1","name":"One"}],"total":1}' ;;
                    *'"method":"title"'*) result='{"id":"1","name":"One"}' ;;
                    *) result='{"candidates":[{"url":"\(origin.url)/one.jpg"}]}' ;;
                esac
                printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
            done
            """
        try Data(program.utf8).write(to: folder.appending(path: "films.sh"))
        let source = "films: { type: exec, command: [sh, films.sh], networks: [loopback] }"
        try Data("sources: { \(source) }\nlimits: { originTimeout: 1h, originIdleTimeout: 1h }\n".utf8).write(
            to: folder.appending(path: "onesheet.yaml"))
        // With a cache of its own, because the cached candidates of an earlier command name another origin.
        let command = try Program.start(arguments + ["--sizes", "w92", "--cache", "c\(signal)"], in: folder)
        let isAsked = XCTestExpectation(description: "the origin is asked for the picture")
        Task {
            await gate.hasBeenReached()
            isAsked.fulfill()
        }
        await fulfillment(of: [isAsked], timeout: 60)
        // When the command receives the signal, then it ends with the status of that signal
        kill(command.processIdentifier, signal)
        command.waitUntilExit()
        XCTAssertEqual(command.terminationReason, .exit, "\(arguments)", line: line)
        XCTAssertEqual(command.terminationStatus, status, "\(arguments)", line: line)
    }
}
