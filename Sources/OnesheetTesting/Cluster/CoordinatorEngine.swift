internal import Foundation
internal import Synchronization
internal import XCTest

/// A process of Redis or Valkey with a folder and a port of its own on this machine.
package final class CoordinatorEngine: Sendable {
    package enum Program: String, Sendable, CaseIterable {
        case redis, valkey

        /// Debian's redis-tools have the server under another name, and unlike redis-server start nothing when they are installed.
        package var path: String? {
            switch self {
            case .redis: ["/usr/bin/redis-server", "/usr/bin/redis-check-rdb"].first(where: FileManager.default.isExecutableFile)
            case .valkey:
                ProcessInfo.processInfo.environment["ONESHEET_VALKEY"].flatMap {
                    FileManager.default.isExecutableFile(atPath: $0) ? $0 : nil
                }
            }
        }

        var missing: String {
            switch self {
            case .redis: "nothing is tested with Redis: it is missing (.ci/setup redis-tools)"
            case .valkey: "nothing is tested with Valkey: it is missing (.ci/valkey; .ci/test sets ONESHEET_VALKEY)"
            }
        }
    }

    package let port: Int
    package let folder: TemporaryDirectory
    private let program: String
    private let arguments: [String]
    private let cliArguments: [String]
    private let process = Mutex<Process?>(nil)

    /// - Parameters:
    ///   - arguments: of the server, beyond those for its port and folder.
    ///   - cliArguments: of `redis-cli`, such as those for a password.
    package init(_ program: Program, arguments: [String] = [], cliArguments: [String] = []) throws {
        guard let path = program.path else {
            if ProcessInfo.processInfo.environment["CI"] != nil { XCTFail(program.missing) }
            throw XCTSkip(program.missing)
        }
        folder = try TemporaryDirectory()
        // Redis is one program that looks at its name.
        self.program = folder.path("redis-server")
        try FileManager.default.createSymbolicLink(atPath: self.program, withDestinationPath: path)
        let port = try Self.freePort()
        self.port = port
        self.cliArguments = cliArguments
        self.arguments =
            [
                "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", folder.path, "--logfile",
                folder.path("log"),
            ] + (arguments.contains("--tls-port") ? [] : ["--port", "\(port)"]) + arguments.map { $0 == "PORT" ? "\(port)" : $0 }
    }

    /// Starts the process and waits until it answers.
    package func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let isRunning = { process.isRunning }
        self.process.withLock { $0 = process }
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            let answer = try cli("PING")
            if answer.hasPrefix("PONG") || answer.hasPrefix("NOAUTH") { return }
            guard isRunning(), ContinuousClock.now < deadline else {
                throw FixtureError("\(program) does not start: \(answer)\n\(log)")
            }
        }
    }

    private var log: String {
        do { return try String(contentsOfFile: folder.path("log"), encoding: .utf8) } catch { return "without a log: \(error)" }
    }

    /// Runs a command with `redis-cli`, a client that is not ours.
    @discardableResult
    package func cli(_ words: String...) throws -> String { try cli(words) }

    @discardableResult
    package func cli(_ words: [String]) throws -> String {
        let client = Process()
        client.executableURL = URL(filePath: "/usr/bin/env")
        client.arguments = ["redis-cli", "-h", "127.0.0.1", "-p", "\(port)", "--no-auth-warning"] + cliArguments + words
        let output = Pipe()
        (client.standardOutput, client.standardError) = (output, output)
        try client.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        client.waitUntilExit()
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Ends the process at once. It may not say goodbye to its clients.
    package func kill() {
        process.withLock { process in
            guard let running = process else { return }
            Foundation.kill(running.processIdentifier, SIGKILL)
            running.waitUntilExit()
            process = nil
        }
    }

    /// Stops the process: its connections stay open, and it answers nothing.
    package func stop() { send(SIGSTOP) }

    /// Lets a stopped process go on.
    package func goOn() { send(SIGCONT) }

    private func send(_ signal: Int32) {
        process.withLock { if let process = $0 { Foundation.kill(process.processIdentifier, signal) } }
    }

    /// A port without a listener.
    package static func freePort() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw FixtureError("no socket: \(errno)") }
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, size) == 0 ? getsockname(socket, pointer, &size) : -1
            }
        }
        guard result == 0 else { throw FixtureError("no free port: \(errno)") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
