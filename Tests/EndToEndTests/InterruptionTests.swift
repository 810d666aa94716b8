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

    func testThatASignalDuringRendersLosesNoProcess() async throws {
        for attempt in 1...3 {
            // Given a prefetch that renders
            let errors = Pipe()
            let sizes = "w92,w154,w185,w342,w500,w780"
            let command = try Program.start(
                ["prefetch", "sample", "--sizes", sizes, "--formats", "jpg,png", "--cache", "c\(attempt)"], in: folder,
                errors: errors)
            let log = LogReader(errors.fileHandleForReading)
            _ = await log.read(until: " s left")
            // When Ctrl-C ends it
            kill(command.processIdentifier, SIGINT)
            command.waitUntilExit()
            // Then no render process is lost on the way
            XCTAssertEqual(command.terminationStatus, 130)
            let text = await log.read(until: "\u{0}")
            XCTAssertTrue(text.contains("run the same command again"), text)
            XCTAssertFalse(text.contains("a render process was lost"), text)
        }
    }

    func testThatASignalEndsARenderAndLeavesNoFile() async throws {
        for (signal, status) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            // Given a render that waits for its picture in a pipe
            let path = folder.appending(path: "in\(signal)").path
            XCTAssertEqual(mkfifo(path, 0o600), 0)
            let command = try Program.start(["render", path, "-o", "out.png"], in: folder)
            let writer = await withCheckedContinuation { done in
                Thread.detachNewThread { done.resume(returning: open(path, O_WRONLY)) }
            }
            defer { close(writer) }
            XCTAssertGreaterThanOrEqual(writer, 0)
            // When it receives the signal, then it ends with the status of that signal and leaves nothing
            kill(command.processIdentifier, signal)
            command.waitUntilExit()
            XCTAssertEqual(command.terminationReason, .exit)
            XCTAssertEqual(command.terminationStatus, status)
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            XCTAssertEqual(names.filter { $0.hasPrefix("out") || $0.hasSuffix(".part") }, [])
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
