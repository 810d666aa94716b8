import Foundation
import OnesheetTesting
import XCTest

/// A server with a folder of pictures and the decoder of `Tests/CHostile`, which does what the files say.
class RenderProcessTestCase: CommandTestCase {
    var films: URL { folder.appending(path: "films") }

    override func setUpWithError() throws {
        try super.setUpWithError()
        try FileManager.default.createDirectory(at: films, withIntermediateDirectories: true)
        try Program.copyOriginals(of: ["1", "2", "3"], to: folder.appending(path: "cache"))
        try configure("")
    }

    func configure(_ text: String) throws {
        let lines = [
            "sources:", "  films: { type: folder, path: ./films }", "  sample: { type: sample }",
            text.contains("limits:") ? "" : "limits: { memory: 64MiB }", "cache: { disk: { path: ./cache } }", text,
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: folder.appending(path: "onesheet.yaml"))
    }

    func write(_ deed: String, _ part: String, name: String? = nil) throws {
        // Nothing listens on port 9.
        let text = "HOSTILE \(part) \(deed) 9"
        let names = name.map { [$0] } ?? [deed, "\(deed)-\(part)"]
        for name in names { try Data((text + " \(name)").utf8).write(to: films.appending(path: "\(name).hostile")) }
    }

    func serve() async throws -> (process: Process, url: String) {
        try await Program.serve([], in: folder, program: "HostileServer")
    }

    struct Answer: Sendable {
        var status: Int
        var body: String
        var tag: String?
    }

    static func get(_ url: String) async throws -> Answer {
        let answer = try await WebAnswer.to(url)
        return Answer(status: answer.status, body: answer.text, tag: answer.field("ETag"))
    }

    private nonisolated(unsafe) static var width = 100

    /// A new variant is rendered.
    func assertServes(_ url: String, _ server: Process) async throws {
        Self.width += 1
        let answer = try await Self.get(url + "/i/unsafe/rs:fit:\(Self.width):0/plain/sample://1@jpg")
        XCTAssertEqual(answer.status, 200, answer.body)
        XCTAssertTrue(server.isRunning)
    }

    /// Lost processes by reason.
    func lost(_ url: String) async throws -> [String: Int] {
        let lines = try await Self.get(url + "/metrics").body.split(separator: "\n").filter {
            $0.hasPrefix("onesheet_workers_lost_total{")
        }
        let counts = lines.compactMap { line in
            Int(line.split(separator: " ")[1]).map { (String(line.split(separator: "\"")[1]), $0) }
        }
        return Dictionary(uniqueKeysWithValues: counts).filter { $0.value > 0 }
    }

    func waitUntil(_ what: String, _ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !condition() {
            guard ContinuousClock.now < end else { return XCTFail("never: \(what)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
