import Foundation
import JPEGCodec
import OnesheetCore
import OnesheetCrypto
import OnesheetTesting
import Synchronization
import XCTest

/// The life of a server's render processes: when they start and end, and how many there are.
final class RenderProcessPoolTests: RenderProcessTestCase {
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
}
