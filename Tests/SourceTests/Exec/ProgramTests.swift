import ConfigurationYAML
import ExecSource
import Foundation
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

/// Real programs of `examples/exec-source`.
final class ProgramTests: XCTestCase {
    private static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("examples/exec-source").path

    private static func source(_ command: [String], limits: Limits = Limits(), timeout: Duration = .seconds(30)) throws
        -> ExecSource
    {
        try ExecSource(
            .init(command: command, environment: ["SAMPLE": "seen"], timeout: Interval(timeout)),
            context: .forTesting(limits: limits))
    }

    private static func failure(_ source: ExecSource) async -> SourceError? {
        do throws(SourceError) {
            _ = try await source.title("1")
            return nil
        } catch {
            return error
        }
    }

    func testThatTheExamplesConform() async throws {
        // Given
        let programs = ["films.sh", "films.py"].map { "\(Self.examples)/\($0)" }

        for program in programs {
            let suite = SourceConformance(transport: FakeTransport(), knownID: "2", unknownID: "99", list: TitleQuery()) { _ in
                try Self.source([program])
            }

            // When
            let report = await suite.run()

            // Then
            XCTAssertTrue(report.failures.isEmpty, "\(program)\n\(report)")
        }
    }

    func testThatTheExamplesAnswerTheSame() async throws {
        // Given
        let sources = try ["films.sh", "films.py"].map { try Self.source(["\(Self.examples)/\($0)"]) }

        // When
        var answers: [[String]] = []
        for source in sources {
            let titles = try await source.titles(TitleQuery()).titles
            let candidates = try await source.candidates(for: "3").map(\.location.name)
            answers.append(titles.map { "\($0)" } + candidates)
        }

        // Then
        XCTAssertEqual(answers[0], answers[1])
        XCTAssertEqual(answers[0].last, "http://127.0.0.1:9090/pictures/films.example/2026A114/1000x1436/poster.jpg")
    }

    func testThatAProgramThatIsKilledUnderLoadLosesNoRequest() async throws {
        // Given a program that answers with its process id, so that it can be killed
        let script = """
            while IFS= read -r line; do
                id=${line#'{"id":'}; id=${id%%,*}; title=${line##*'"id":"'}; title=${title%%'"'*}
                case $line in
                    *initialize*) printf '{"id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                    *) printf '{"id":%s,"result":{"id":"%s","name":"%s"}}\\n' "$id" "$title" $$ ;;
                esac
            done
            """
        let source = try Self.source(["/bin/sh", "-c", script])
        let kills = Kills(every: 25)

        // When eight tasks call it all the time, and the answering program is killed at every 25th answer
        let ids = try await withThrowingTaskGroup(of: [String].self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var ids: [String] = []
                    for number in 0..<50 {
                        let title = try await source.title("\(worker)-\(number)")
                        ids.append(title.id)
                        kills.answered(by: try XCTUnwrap(Int32(title.name)))
                    }
                    return ids
                }
            }
            return try await group.reduce(into: [String]()) { $0 += $1 }
        }

        // Then
        XCTAssertEqual(Set(ids).count, 400)
        XCTAssertGreaterThanOrEqual(kills.count, 8)
    }

    func testThatAProgramHasItsLimits() async throws {
        // Given a program that answers with its limits: open files, KiB of memory, blocks of a core dump, seconds
        let script = """
            while IFS= read -r line; do
                id=${line#'{"id":'}; id=${id%%,*}
                limits="$(ulimit -n) $(ulimit -d) $(ulimit -c) $(ulimit -t)"
                case $line in
                    *initialize*) printf '{"id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                    *) printf '{"id":%s,"result":{"id":"1","name":"%s"}}\\n' "$id" "$limits" ;;
                esac
            done
            """
        var configuration = ExecSource.Configuration(command: ["/bin/sh", "-c", script])
        (configuration.files, configuration.memory, configuration.processorTime) = (32, ByteSize(64 << 20), Interval(.seconds(90)))

        // When it is asked
        let title = try await ExecSource(configuration, context: .forTesting()).title("1")

        // Then they are as configured, for what it starts too
        XCTAssertEqual(title.name, "32 65536 0 90")
    }

    func testThatLimitsThatNoProgramCanLiveWithAreRefused() {
        for (keys, path) in [("memory: 1MiB", "memory"), ("files: 3", "files"), ("processorTime: 10ms", "processorTime")] {
            XCTAssertThrowsError(
                try ConfigurationDecoder().decode(
                    ExecSource.Configuration.self, from: ConfigurationValue(yaml: "command: [/bin/sh]\n\(keys)"))
            ) { XCTAssertTrue("\($0)".contains(path), "\($0)") }
        }
    }

    func testThatAFloodingProgramEndsWithAllThatItStarted() async throws {
        // Given a program that lets another one flood; both hold a pipe open
        let folder = try TemporaryDirectory()
        let pipe = folder.path("pipe")
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        let source = try Self.source(["/bin/sh", "-c", "exec 9> '\(pipe)'; read x; yes no-answer; exit"])
        async let failed = Self.failure(source)
        let end = open(pipe, O_RDONLY)

        // When it is asked
        let error = await failed

        // Then the answer is rejected, and both end: no process holds the pipe
        XCTAssertEqual(error, .malformedAnswer(reason: "the program wrote an invalid answer", details: "no-answer"))
        var byte: UInt8 = 0
        XCTAssertEqual(read(end, &byte, 1), 0)
        close(end)
    }

    func testThatAShutdownLeavesNoProgram() async throws {
        // Given a program that goes on without its input, ignores SIGTERM, and has started another one; both hold a pipe open
        let folder = try TemporaryDirectory()
        let pipe = folder.path("pipe")
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        let end = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(end) }
        let script = """
            exec 9> '\(pipe)'; trap '' TERM
            while IFS= read -r line; do
                id=${line#'{"id":'}; id=${id%%,*}
                case $line in
                    *initialize*) printf '{"id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                    *) printf '{"id":%s,"result":{"id":"1","name":"One"}}\\n' "$id" ;;
                esac
            done
            while :; do sleep 3600; done
            """
        let source = try Self.source(["/bin/sh", "-c", script])
        _ = try await source.title("1")

        // When it is shut down, and the time for that is over
        let shutdown = Task { await source.shutdown() }
        shutdown.cancel()
        await shutdown.value

        // Then no process holds the pipe
        var poll = pollfd(fd: end, events: 0, revents: 0)
        XCTAssertEqual(Foundation.poll(&poll, 1, 10_000), 1)
        XCTAssertEqual(poll.revents & Int16(POLLHUP), Int16(POLLHUP))
    }

    func testThatAProcessThatHasLeftTheProgramsGroupDoesNotHideItsEnd() async throws {
        // Given a program that answers once, and leaves a process of another session behind, with its pipes or without
        for pipes in ["", "</dev/null >/dev/null 2>&1"] {
            let folder = try TemporaryDirectory()
            let script = """
                left="\(folder.path)/$$"
                setsid sh -c 'echo $$ > "$1"; exec sleep 3600' sh "$left" \(pipes) &
                until [ -s "$left" ]; do sleep 0.01; done
                while IFS= read -r line; do
                    id=${line#'{"id":'}; id=${id%%,*}
                    case $line in
                        *initialize*) printf '{"id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                        *) printf '{"id":%s,"result":{"id":"1","name":"One"}}\\n' "$id"; exit ;;
                    esac
                done
                """
            let source = try Self.source(["/bin/sh", "-c", script])
            addTeardownBlock {
                for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                    let left = try String(contentsOfFile: folder.path(name), encoding: .utf8)
                    kill(try XCTUnwrap(pid_t(left.dropLast())), SIGKILL)
                }
            }
            // When it is called again and again, then it is started again each time
            for _ in 0..<3 {
                let title = try await source.title("1")
                XCTAssertEqual(title.name, "One")
            }
            // And a shutdown does not wait for what is left
            await source.shutdown()
        }
    }

    func testProgramThatClosesItsInputIsReplaced() async throws {
        // Given a program that answers once with its process id, and then closes its input and goes on
        let script = """
            while IFS= read -r line; do
                id=${line#'{"id":'}; id=${id%%,*}
                case $line in
                    *initialize*) printf '{"id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                    *) printf '{"id":%s,"result":{"id":"1","name":"%s"}}\\n' "$id" $$; exec </dev/null; sleep 3600 ;;
                esac
            done
            """
        let source = try Self.source(["/bin/sh", "-c", script], timeout: .seconds(3600))

        // When it is called again
        let names = [try await source.title("1").name, try await source.title("1").name]

        // Then another one answers
        XCTAssertNotEqual(names[0], names[1])
        let shutdown = Task { await source.shutdown() }
        shutdown.cancel()
        await shutdown.value
    }

    /// Kills programs again and again, at a fixed interval of answers and each only once.
    private final class Kills: Sendable {
        private let every: Int
        private let state = Mutex((answers: 0, killed: Set<Int32>()))

        init(every: Int) { self.every = every }

        var count: Int { state.withLock { $0.killed.count } }

        func answered(by program: Int32) {
            let isDue = state.withLock { state in
                state.answers += 1
                return state.answers.isMultiple(of: every) && state.killed.insert(program).inserted
            }
            if isDue { kill(program, SIGKILL) }
        }
    }

    func testThatTheProgramSeesOnlyItsEnvironment() async throws {
        // Given
        setenv("ONESHEET_TEST_SECRET", "secret", 1)
        addTeardownBlock { unsetenv("ONESHEET_TEST_SECRET") }
        let script = """
            while IFS= read -r line; do
                id=${line#'{"id":'}; id=${id%%,*}
                case $line in
                    *initialize*) printf '{"id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                    *) printf '{"id":%s,"result":{"id":"1","name":"%s-%s"}}\\n' "$id" "$SAMPLE" "$ONESHEET_TEST_SECRET" ;;
                esac
            done
            """

        // When
        let title = try await Self.source(["/bin/sh", "-c", script]).title("1")

        // Then
        XCTAssertEqual(title.name, "seen-")
    }

    func testThatProgramsThatDoNotSpeakAreErrors() async throws {
        // Given
        let cases: [([String], SourceError)] = [
            (["/bin/sh", "-c", "exit 3"], .unavailable(reason: "the program ended with status 3")),
            (["/bin/sh", "-c", "kill -SEGV $$"], .unavailable(reason: "the program was ended by signal SIGSEGV")),
            (
                ["/bin/sh", "-c", "printf 'reads films\\nno \\033[31mkey\\n  \\n' >&2; exit 3"],
                .failed(reason: "the program ended with status 3", details: #"no \u{1b}[31mkey"#)
            ),
            (
                ["/bin/sh", "-c", "printf 'the end is not a line' >&2; exit 1"],
                .failed(reason: "the program ended with status 1", details: "the end is not a line")
            ),
            (
                ["python3", "-c", "import no_such_module"],
                .failed(
                    reason: "the program ended with status 1", details: "ModuleNotFoundError: No module named 'no_such_module'")
            ),
            (
                ["/bin/sh", "-c", "exec >&-; read x; read y"], .unavailable(reason: "the program has closed its standard output")
            ),
            (
                ["/bin/sh", "-c", "echo hello; read x"],
                .malformedAnswer(reason: "the program wrote an invalid answer", details: "hello")
            ),
            (
                ["/bin/sh", "-c", "head -c 2000 /dev/zero; read x"],
                .malformedAnswer(reason: "the program wrote a line of more than 1000 bytes")
            ),
        ]

        for (command, expected) in cases {
            // When
            let error = await Self.failure(try Self.source(command, limits: Limits(originBytes: 1000)))

            // Then
            XCTAssertEqual(error, expected, "\(command)")
        }
    }

    func testThatConfigurationsAreDecodedAndChecked() throws {
        // Given
        let sample = try ConfigurationValue(yaml: ExecSource.sampleConfiguration)
        let cases = [
            (ExecSource.Configuration(command: []), "command: is empty; it is a program and its arguments"),
            (ExecSource.Configuration(command: ["./none"]), "command: “./none” is not an executable program"),
            (ExecSource.Configuration(command: ["no-such-program"]), "command: “no-such-program” is not an executable program"),
        ]

        // When
        let configuration = try ConfigurationDecoder().decode(ExecSource.Configuration.self, from: sample)

        // Then
        XCTAssertEqual(configuration.command, ["python3", "./films.py"])
        XCTAssertEqual(configuration.environment, ["API_KEY": "${FILMS_KEY}"])
        for (configuration, expected) in cases {
            XCTAssertThrowsError(try ExecSource(configuration, context: .forTesting())) { XCTAssertEqual("\($0)", expected) }
        }
    }
}
