import ConfigurationYAML
import ExecSource
import Foundation
import OnesheetCore
import OnesheetTesting
import XCTest

/// Real programs: those of `examples/exec-source`.
final class ProgramTests: XCTestCase {
    private static let examples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("examples/exec-source").path

    private static func source(_ command: [String], limits: Limits = Limits(), timeout: Duration = .seconds(30)) throws
        -> ExecSource
    {
        try ExecSource(
            .init(command: command, environment: ["SAMPLE": "seen"], timeout: Interval(timeout)),
            context: .forTesting(limits: limits))
    }

    private func failure(_ source: ExecSource) async -> SourceError? {
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
        // Given: a program that ends itself after every fourth answer
        let script = """
            n=0
            while IFS= read -r line; do
                id=${line#'{"id":'}; id=${id%%,*}
                case $line in
                    *initialize*) printf '{"id":%s,"result":{"protocol":1}}\\n' "$id" ;;
                    *) n=$((n + 1)); [ $n -gt 4 ] && kill -9 $$; printf '{"id":%s,"result":{"id":"1","name":"One"}}\\n' "$id" ;;
                esac
            done
            """
        let source = try Self.source(["/bin/sh", "-c", script])

        // When: one after the other, so that every end hits a call that the next program can answer
        var names: [String] = []
        for _ in 0..<20 { names.append(try await source.title("1").name) }

        // Then
        XCTAssertEqual(names, Array(repeating: "One", count: 20))
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
            (["/bin/sh", "-c", "exit 3"], .unavailable(reason: "the program has ended")),
            (
                ["/bin/sh", "-c", "echo hello; read x"],
                .malformedAnswer(reason: "the program wrote something that is not an answer: hello")
            ),
            (
                ["/bin/sh", "-c", "head -c 2000 /dev/zero; read x"],
                .unavailable(reason: "the program wrote a line of more than 1000 bytes")
            ),
        ]

        for (command, expected) in cases {
            // When
            let error = await failure(try Self.source(command, limits: Limits(originBytes: 1000)))

            // Then
            XCTAssertEqual(error, expected, "\(command)")
        }
    }

    func testThatConfigurationsAreDecodedAndChecked() throws {
        // Given
        let sample = try ConfigurationValue(yaml: ExecSource.sampleConfiguration)
        let cases = [
            (ExecSource.Configuration(command: []), "command: is empty; it is a program and its arguments"),
            (ExecSource.Configuration(command: ["./none"]), "command: “./none” is no program that can be run"),
            (ExecSource.Configuration(command: ["no-such-program"]), "command: “no-such-program” is no program that can be run"),
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
