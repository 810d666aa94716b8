import Foundation
import JPEGCodec
import OnesheetCore
import OnesheetCrypto
import OnesheetTesting
import Synchronization
import XCTest

/// Decoders that attack, in the real server. Their files say what they do; see `Tests/CHostile`.
final class RenderProcessTests: CommandTestCase {
    private var films: URL { folder.appending(path: "films") }

    override func setUpWithError() throws {
        try super.setUpWithError()
        try FileManager.default.createDirectory(at: films, withIntermediateDirectories: true)
        try Program.copyOriginals(of: ["1", "2", "3"], to: folder.appending(path: "cache"))
        try configure("")
    }

    func testThatADecoderReachesNothing() async throws {
        // Given pictures whose decoder does what an attacker would
        let forbidden = [
            "read-file", "write-file", "list-folder", "link-file", "connect", "make-process", "run-program", "trace", "kill-others",
            "signal-server", "run-data", "run-heap", "raise-limits", "allow-traces", "make-file", "end-by-signal",
            "copy-descriptor", "cut-input",
            "cut-output",
        ]
        for deed in forbidden { try write(deed, "decode") }
        let (server, url) = try await serve()
        for deed in forbidden {
            // When such a picture is asked for
            let answer = try await Self.get(url + "/t/p/w92/films/\(deed).jpg")
            // Then the deed ends the process in which it was tried, twice
            XCTAssertEqual(answer.status, 422, "\(deed): \(answer.body)")
            XCTAssertTrue(answer.body.contains("(forbidden)"), "\(deed): \(answer.body)")
        }
        let lost = try await self.lost(url)
        XCTAssertEqual(lost, ["forbidden": forbidden.count * 2])
        // And the server goes on
        try await assertServes(url, server)
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    func testThatADecoderThatFailsCostsItsPicture() async throws {
        // Given pictures whose decoder ends or disturbs its process
        let deeds = [
            "crash": "crash", "trap": "crash", "abort": "crash", "end": "crash", "overflow": "crash", "allocate": "memory",
            "fill-output": "crash", "write-everywhere": "garbage", "answer-garbage": "garbage", "answer-nothing": "garbage",
            "answer-lies": "garbage", "answer-page": "garbage", "answer-long": "garbage", "answer-huge": "garbage",
            "answer-size": "garbage",
        ]
        for deed in deeds.keys {
            try write(deed, "decode")
            try write(deed, "header")
        }
        let (server, url) = try await serve()
        for (deed, reason) in deeds {
            for part in ["decode", "header"] {
                // When such a picture is asked for
                let answer = try await Self.get(url + "/t/p/w92/films/\(deed)-\(part).jpg")
                // Then its request fails for a reason
                XCTAssertEqual(answer.status, 422, "\(deed) \(part): \(answer.body)")
                let words = reason == "memory" ? "memory" : "(\(reason))"
                XCTAssertTrue(answer.body.contains(words), "\(deed) \(part): \(answer.body)")
            }
            // And others are served
            try await assertServes(url, server)
        }
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    func testThatInputCannotBeChangedAndNothingElseIsThere() async throws {
        // Given a decoder that maps its picture for writing, and one that looks for an environment and other descriptors
        let deeds = ["change-input", "look-around", "make-thread"]
        for deed in deeds { try write(deed, "decode") }
        let (server, url) = try await serve()
        for deed in deeds {
            // When it tries
            let answer = try await Self.get(url + "/t/p/w92/films/\(deed)-decode.jpg")
            // Then the system refuses, or there is nothing
            XCTAssertEqual(answer.status, 422)
            XCTAssertTrue(answer.body.contains("survived"), answer.body)
        }
        let lost = try await self.lost(url)
        XCTAssertEqual(lost, [:])
        Program.end(server)
    }

    func testThatADecoderThatHangsIsKilled() async throws {
        // Given pictures whose decoder never ends
        for part in ["decode", "header"] { try write("hang", part) }
        try write("wait", "decode")
        try configure("rendering: { deadline: 4s }")
        let (server, url) = try await serve()
        for picture in ["hang-decode", "hang-header", "wait-decode"] {
            // When one is asked for
            let answer = try await Self.get(url + "/t/p/w92/films/\(picture).jpg")
            // Then the request is answered
            XCTAssertEqual(answer.status, 504, answer.body)
            try await assertServes(url, server)
        }
        // And each of their processes was lost for its time. On a busy machine one may not work enough for the limit of its work.
        try await waitUntil("three processes are lost") {
            let lost = try await self.lost(url)
            return lost.values.reduce(0, +) == 3 && Set(lost.keys).isSubset(of: ["deadline", "stalled"])
        }
        let stuck = try await Self.get(url + "/metrics").body
        XCTAssertTrue(stuck.contains("onesheet_workers_stuck{lane=\"render\"} 0"))
        Program.end(server)
    }

    func testThatHostilePicturesAreAnsweredWithLowLimitsAndCostNoProcess() async throws {
        // Given limits far below the usual ones, and pictures that once cost seconds or gigabytes
        try configure("limits: { pixels: 4M, scans: 20, memory: 64MiB, originBytes: 2MiB }\nrendering: { deadline: 5s }")
        let codec = JPEGCodec()
        var progressive = JPEGCodec.Configuration()
        progressive.progressive = true
        let small = try DrawnPoster(width: 64, height: 96).file(codec)
        let stages = EncodeOptions(profile: DrawnProfile.displayP3(stages: 2000))
        var large = small
        let frame = try XCTUnwrap(small.indices.first { small[$0] == 0xFF && small[$0 + 1] == 0xC0 })
        large.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xDC, 0xFF, 0xDC])
        let scans = try DrawnPoster(width: 64, height: 96).file(JPEGCodec(progressive))
        let last = try XCTUnwrap(scans.indices.dropLast().last { scans[$0] == 0xFF && scans[$0 + 1] == 0xDA })
        let repeated =
            scans[..<last] + Array([[UInt8]](repeating: Array(scans[last..<scans.count - 2]), count: 500).joined()) + [0xFF, 0xD9]
        let segments = Array([[UInt8]](repeating: [0xFF, 0xE1, 0, 2], count: 250_000).joined())
        let pictures: [(name: String, bytes: [UInt8], statuses: [Int])] = [
            ("segments", Array(small[..<2]) + segments + small[2...], [200]),
            ("stages", try DrawnPoster(width: 64, height: 96).file(codec, options: stages), [200]),
            ("large", large, [422]),
            ("scans", Array(repeated), [422]),
            ("thin", try DrawnPoster(width: 1, height: 6000, grain: 0).file(JPEGCodec(progressive)), [200, 422]),
            ("cut", Array(small.prefix(small.count / 2)), [422]),
            ("long", small + [UInt8](repeating: 0, count: 3 << 20), [502]),
            ("empty", [], [422]),
        ]
        for picture in pictures { try Data(picture.bytes).write(to: films.appending(path: picture.name + ".jpg")) }
        let (server, url) = try await serve()
        // When each is asked for in several sizes at once
        for picture in pictures {
            try await withThrowingTaskGroup(of: Answer.self) { group in
                for width in ["w92", "w154", "w185", "w342"] {
                    group.addTask { try await Self.get("\(url)/t/p/\(width)/films/\(picture.name).jpg") }
                }
                for try await answer in group {
                    // Then each request is answered
                    XCTAssertTrue(
                        picture.statuses.contains(answer.status), "\(picture.name): \(answer.status) \(answer.body.prefix(200))")
                }
            }
        }
        // And no process was lost, and others are served
        let lost = try await self.lost(url)
        XCTAssertEqual(lost, [:])
        let answer = try await Self.get(url + "/t/p/w92/films/segments.jpg?again")
        XCTAssertEqual(answer.status, 200)
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    func testThatAProcessThatWasTakenOverBlamesNoOtherPicture() async throws {
        // Given processes that pictures have taken over: they answer what comes next before they read it
        for deed in ["answer-early", "answer-twice"] { try write(deed, "decode") }
        try configure("limits: { workers: 1, memory: 64MiB }")
        let (server, url) = try await serve()
        for deed in ["answer-early", "answer-twice"] {
            let taken = try await Self.get(url + "/t/p/w92/films/\(deed)-decode.jpg")
            XCTAssertEqual(taken.status, 400, taken.body)
            // When other pictures are asked for
            for _ in 0..<4 { try await assertServes(url, server) }
        }
        // Then none is blamed
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder.appending(path: "cache/fatal-originals").path))
        Program.end(server)
    }

    func testThatAPictureThatKillsIsRememberedForADay() async throws {
        // Given a picture that has ended two processes
        try write("crash", "decode")
        let (server, url) = try await serve()
        var answer = try await Self.get(url + "/t/p/w92/films/crash-decode.jpg")
        XCTAssertEqual(answer.status, 422)
        // When it is asked for in another size
        answer = try await Self.get(url + "/t/p/w185/films/crash-decode.jpg")
        // Then no process is lost
        XCTAssertEqual(answer.status, 422)
        var lost = try await self.lost(url)
        XCTAssertEqual(lost, ["crash": 2])
        Program.end(server)
        // And when it is asked for after a restart, it is not read either
        let (second, again) = try await serve()
        answer = try await Self.get(again + "/t/p/w342/films/crash-decode.jpg")
        XCTAssertEqual(answer.status, 422)
        XCTAssertTrue(answer.body.contains("not read again for a day"), answer.body)
        lost = try await self.lost(again)
        XCTAssertEqual(lost, [:])
        Program.end(second)
        let file = folder.appending(path: "cache/fatal-originals")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        XCTAssertEqual(mode, 0o600)
    }

    func testThatProcessesRunBehindTheServer() async throws {
        // Given a server that has rendered
        let (server, url) = try await serve()
        try await assertServes(url, server)
        // When its processes are looked at, then they have a lower priority than the threads that send responses, which have at most 0
        let processes = try Self.children(server).map(\.id).filter(Self.isLockedIn)
        XCTAssertFalse(processes.isEmpty)
        for process in processes { XCTAssertGreaterThanOrEqual(Self.nice(process), 10) }
        Program.end(server)
    }

    func testSuspectPicturesStartNoMoreProcessesThanAServerMayHave() async throws {
        // Given pictures that were present when processes were lost, each of which is read by a new process
        let names = (0..<12).map { "suspect-\($0)" }
        var records = ""
        for (index, name) in names.enumerated() {
            let picture = try DrawnPoster(width: 64 + index, height: 96, grain: 0).file(JPEGCodec())
            try Data(picture).write(to: films.appending(path: name + ".jpg"))
            let digest = picture.withUnsafeBytes { SHA256.hash($0) }.hexadecimal
            records += "\(digest) 1 0 crash \(Int(Date().timeIntervalSince1970) + 80_000)\n"
        }
        try Data(records.utf8).write(to: folder.appending(path: "cache/fatal-originals"))
        try configure("limits: { memory: 64MiB, workers: 2 }")
        let (server, url) = try await serve()
        try await waitUntil("two processes run") { try Self.children(server).filter { Self.isLockedIn($0.id) }.count == 2 }
        let stop = Flag()
        async let most = Self.mostChildren(server, until: stop)
        // When six clients ask for them at once
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for client in 0..<6 {
                group.addTask {
                    var made = 0
                    for name in names[(client * 2)..<(client * 2 + 2)] {
                        made += try await Self.get(url + "/t/p/w92/films/\(name).jpg").status == 200 ? 1 : 0
                    }
                    return made
                }
            }
            return try await group.reduce(0, +)
        }
        stop.set()
        // Then there are never more than one for each worker and three
        XCTAssertGreaterThan(made, 0)
        let found = try await most
        XCTAssertGreaterThan(found, 0)
        XCTAssertLessThanOrEqual(found, 5)
        Program.end(server)
    }

    /// The most processes that `server` has at one time until `stop` is set, without those that have ended.
    private static func mostChildren(_ server: Process, until stop: Flag) async throws -> Int {
        var most = 0
        while !stop.isSet {
            most = max(most, try children(server).filter { $0.state != "Z" }.count)
            try await Task.sleep(for: .milliseconds(10))
        }
        return most
    }

    func testThatKilledProcessesLoseNoRequest() async throws {
        // Given a server under load
        let (server, url) = try await serve()
        let expected = try await Self.get(url + "/t/p/w342/sample/1.jpg?first").tag
        let descriptors = try Self.descriptors(server)
        let stop = Flag()
        async let load = Self.load(url, until: stop)
        // When its processes are killed 200 times, at any moment of their work
        var kills = 0
        var chance = SystemRandomNumberGenerator()
        for _ in 0..<20_000 where kills < 200 {
            if let process = try Self.children(server).filter({ Self.isLockedIn($0.id) }).randomElement(using: &chance) {
                kill(process.id, SIGKILL)
                kills += 1
            }
            try await Task.sleep(for: .milliseconds(.random(in: 1...200, using: &chance)))
        }
        XCTAssertEqual(kills, 200)
        stop.set()
        let statuses = try await load
        // Then no request fails but those whose processes were killed again and again
        XCTAssertGreaterThan(statuses.count, 20)
        let failed = statuses.filter { $0 != 200 }
        XCTAssertTrue(failed.allSatisfy { $0 == 503 }, "\(failed)")
        // A question survives three.
        XCTAssertLessThanOrEqual(failed.count * 4, kills)
        // And no picture is blamed, no process, descriptor or file in memory stays
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder.appending(path: "cache/fatal-originals").path))
        let again = try await Self.get(url + "/t/p/w342/sample/1.jpg?second").tag
        XCTAssertEqual(again, expected)
        // An idle process that was killed goes with the next question.
        try await assertServes(url, server)
        try await waitUntil("no process is dead") { try Self.children(server).allSatisfy { $0.state != "Z" } }
        XCTAssertLessThanOrEqual(try Self.children(server).count, 6)
        XCTAssertLessThanOrEqual(try Self.descriptors(server), descriptors + 24)
        Program.end(server)
        XCTAssertEqual(server.terminationStatus, 0)
    }

    func testThatTheServerEndsWhileDecodersHangAndTakesThemAlong() async throws {
        // Given decoders that hang
        for number in 1...4 { try write("hang", "decode", name: "hang-\(number)") }
        try configure("shutdown: { deadline: 1s }")
        let (server, url) = try await serve()
        let asking = (1...4).map { number in Task { try? await Self.get(url + "/t/p/w92/films/hang-\(number).jpg") } }
        try await waitUntil("two processes work") { try Self.children(server).count >= 2 }
        let processes = try Self.children(server).map(\.id)
        // When the server is asked to end
        Program.end(server)
        // Then it does, and its processes with it
        for task in asking { _ = await task.value }
        try await waitUntil("no process is left") { processes.allSatisfy { kill($0, 0) != 0 } }
    }

    func testThatAKilledServerTakesItsProcessesAlong() async throws {
        // Given a decoder that hangs
        try write("hang", "decode")
        let (server, url) = try await serve()
        async let asked = try? Self.get(url + "/t/p/w92/films/hang-decode.jpg")
        try await waitUntil("a process works") { try !Self.children(server).isEmpty }
        let processes = try Self.children(server).map(\.id)
        // When the server is killed
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
        _ = await asked
        // Then no process is left
        try await waitUntil("no process is left") { processes.allSatisfy { kill($0, 0) != 0 } }
    }

    func testThatAServerWithoutProcessesIsNotReady() async throws {
        // Given a server whose processes do not start
        try configure("rendering: { codecs: { hostile: { refuses: true } } }")
        let (server, url) = try await serve()
        // When a picture is asked for
        let answer = try await Self.get(url + "/t/p/w92/sample/1.jpg")
        // Then it is not rendered elsewhere
        XCTAssertEqual(answer.status, 503, answer.body)
        try await waitUntil("the server is not ready") {
            _ = try await Self.get(url + "/t/p/w92/sample/2.jpg")
            return try await Self.get(url + "/ready").status == 503
        }
        // And when they start again, the server is ready
        try configure("")
        kill(server.processIdentifier, SIGHUP)
        try await waitUntil("the server is ready") { try await Self.get(url + "/ready").status == 200 }
        try await assertServes(url, server)
        Program.end(server)
    }

    func testThatThreadsRenderIfTheConfigurationSaysSo() async throws {
        // Given a server that renders in its own threads
        try configure("rendering: { isolation: thread }")
        let (server, url) = try await serve()
        // When a picture is asked for
        try await assertServes(url, server)
        // Then no process was started
        XCTAssertEqual(try Self.children(server).count, 0)
        Program.end(server)
    }

    // MARK: -

    private func configure(_ text: String) throws {
        let lines = [
            "sources:", "  films: { type: folder, path: ./films }", "  sample: { type: sample }",
            text.contains("limits:") ? "" : "limits: { memory: 64MiB }", "cache: { disk: { path: ./cache } }", text,
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: folder.appending(path: "onesheet.yaml"))
    }

    private func write(_ deed: String, _ part: String, name: String? = nil) throws {
        // Nothing listens on port 9.
        let text = "HOSTILE \(part) \(deed) 9"
        let names = name.map { [$0] } ?? [deed, "\(deed)-\(part)"]
        for name in names { try Data((text + " \(name)").utf8).write(to: films.appending(path: "\(name).hostile")) }
    }

    private func serve() async throws -> (process: Process, url: String) {
        try await Program.serve([], in: folder, program: "HostileServer")
    }

    /// Asks for new variants of three pictures, each of which is rendered, until `stop` is set.
    /// - Returns: the statuses.
    private static func load(_ url: String, until stop: Flag) async throws -> [Int] {
        var statuses: [Int] = []
        while !stop.isSet {
            let (width, quality, film) = (100 + statuses.count % 400, 60 + statuses.count / 400, 1 + statuses.count % 3)
            let path = "/i/unsafe/rs:fit:\(width):0/q:\(quality)/plain/sample://\(film)@jpg"
            let answer = try await get(url + path)
            statuses.append(answer.status)
        }
        return statuses
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }

    private struct Answer: Sendable {
        var status: Int
        var body: String
        var tag: String?
    }

    private static func get(_ url: String) async throws -> Answer {
        let answer = try await WebAnswer.to(url)
        return Answer(status: answer.status, body: answer.text, tag: answer.field("ETag"))
    }

    private nonisolated(unsafe) static var width = 100

    /// A new variant is rendered.
    private func assertServes(_ url: String, _ server: Process) async throws {
        Self.width += 1
        let answer = try await Self.get(url + "/i/unsafe/rs:fit:\(Self.width):0/plain/sample://1@jpg")
        XCTAssertEqual(answer.status, 200, answer.body)
        XCTAssertTrue(server.isRunning)
    }

    /// Lost processes by reason.
    private func lost(_ url: String) async throws -> [String: Int] {
        let lines = try await Self.get(url + "/metrics").body.split(separator: "\n").filter {
            $0.hasPrefix("onesheet_workers_lost_total{")
        }
        let counts = lines.compactMap { line in
            Int(line.split(separator: " ")[1]).map { (String(line.split(separator: "\"")[1]), $0) }
        }
        return Dictionary(uniqueKeysWithValues: counts).filter { $0.value > 0 }
    }

    /// The processes that `server` has started: ids and states.
    private static func children(_ server: Process) throws -> [(id: pid_t, state: String)] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap(pid_t.init).compactMap { id in
            guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return nil }
            let words = text.split(separator: ")").last?.split(separator: " ") ?? []
            return words.count > 1 && words[1] == "\(server.processIdentifier)" ? (id, String(words[0])) : nil
        }
    }

    /// Whether a process has its filter of system calls.
    private static func isLockedIn(_ process: pid_t) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8))?.contains("Seccomp:\t2") ?? false
    }

    private static func nice(_ process: pid_t) -> Int32 {
        getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(process))
    }

    private static func descriptors(_ server: Process) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server.processIdentifier)/fd").count
    }

    private func waitUntil(_ what: String, _ condition: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !condition() {
            guard ContinuousClock.now < end else { return XCTFail("never: \(what)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
