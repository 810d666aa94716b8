package import Foundation
internal import NIOCore
internal import NIOPosix
internal import Synchronization
internal import XCTest

/// A real object store with the interface of S3, in a process on loopback: SeaweedFS, or rclone, which ignores conditions.
///
/// It ends when this process ends, however that happens.
package final class StoreEngine: Sendable {
    package enum Kind: String, Sendable {
        /// `.ci/weed` prints its path, for ONESHEET_WEED.
        case weed
        /// `.ci/rclone` prints its path, for ONESHEET_RCLONE.
        case rclone

        fileprivate var variable: String { "ONESHEET_\(rawValue.uppercased())" }
    }

    package static let accessKey = "test"
    package static let secretKey = "testsecret"
    package static let bucket = "onesheet"

    /// `http://127.0.0.1:PORT`
    package let url: String
    package var port: Int { ports[0] }
    /// The folder with the bucket of rclone, whose objects are files.
    package var objects: URL { folder.appending(path: "data/\(Self.bucket)") }
    private let kind: Kind
    private let ports: [Int]
    private let folder: URL
    private let process: Process
    /// Closed to end the engine.
    private let leash: FileHandle
    /// Of the engine, not of the shell that watches it.
    private let id: pid_t
    private let hasStopped = Mutex(false)

    /// The path of the engine.
    /// - Throws: `XCTSkip` if the environment does not name it. With `CI` in the environment that fails the test.
    package static func path(_ kind: Kind) throws -> String {
        let environment = ProcessInfo.processInfo.environment
        if let path = environment[kind.variable], !path.isEmpty { return path }
        let text = "nothing is tested with \(kind.rawValue): \(kind.variable) is not set (.ci/\(kind.rawValue) prints its value)"
        if environment["CI"] != nil { XCTFail(text) }
        throw XCTSkip(text)
    }

    /// Starts an engine with an empty bucket, and waits until it answers.
    package static func start(_ kind: Kind) async throws -> StoreEngine {
        let program = try path(kind)
        var last: any Error = FixtureError("no attempt")
        // Another process may take a port between the look and the start.
        for _ in 0..<3 {
            let engine = try StoreEngine(kind, program)
            do {
                try await engine.makeReady()
                return engine
            } catch {
                engine.stop()
                last = error
            }
        }
        throw last
    }

    private init(_ kind: Kind, _ program: String) throws {
        self.kind = kind
        ports = try Self.freePorts(kind == .weed ? 4 : 1)
        url = "http://127.0.0.1:\(ports[0])"
        folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-\(kind.rawValue)-\(UUID().uuidString)")
        // rclone's buckets are folders.
        let data = kind == .weed ? "data" : "data/\(Self.bucket)"
        try FileManager.default.createDirectory(at: folder.appending(path: data), withIntermediateDirectories: true)
        let arguments: [String]
        switch kind {
        case .weed:
            let identity = """
                {"identities":[{"name":"o","credentials":[{"accessKey":"\(Self.accessKey)","secretKey":"\(Self.secretKey)"}],\
                "actions":["Admin","Read","Write","List","Tagging"]}]}
                """
            try Data(identity.utf8).write(to: folder.appending(path: "s3.json"))
            // Without these, it reports its use to its makers, listens on all addresses, and takes further fixed ports.
            arguments = [
                "-logtostderr=true", "server", "-dir=data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-master.port=\(ports[1])",
                "-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.port=\(ports[2])", "-volume.max=0",
                "-volume.preStopSeconds=1", "-filer", "-filer.port=\(ports[3])", "-s3", "-s3.port=\(ports[0])",
                "-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.config=s3.json",
            ]
        case .rclone:
            arguments = [
                "serve", "s3", "--addr", "127.0.0.1:\(ports[0])", "--auth-key", "\(Self.accessKey),\(Self.secretKey)", "--config",
                "/dev/null", "data",
            ]
        }
        process = Process()
        // Not sh: it waits for SIGCHLD, which Foundation's threads block and their children inherit.
        process.executableURL = URL(filePath: "/bin/bash")
        process.currentDirectoryURL = folder
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
        // The shell tells the engine's id, and ends with it. It kills the engine when its input ends: at the latest when this process
        // has ended.
        process.arguments =
            [
                "-c",
                """
                exec 3<&0; "$0" "$@" </dev/null >log 2>&1 3<&- & engine=$!; echo $engine; exec >&-
                { read -r -u 3; kill -9 $engine; } & wait $engine; kill -9 $!
                """,
                program,
            ] + arguments
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        leash = input.fileHandleForWriting
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let id = pid_t(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw FixtureError("the shell started no \(kind.rawValue)")
        }
        self.id = id
    }

    /// Kills the engine at once, and removes its folder. The second call does nothing.
    package func stop() {
        let isFirst = hasStopped.withLock { hasStopped in
            defer { hasStopped = true }
            return !hasStopped
        }
        guard isFirst else { return }
        kill(id, SIGKILL)
        do {
            // First: Foundation takes a process for running while a child of it has its files.
            try leash.close()
            process.waitUntilExit()
            try FileManager.default.removeItem(at: folder)
        } catch {
            XCTFail("\(kind.rawValue) leaves something behind: \(error)")
        }
        for port in ports {
            for part in ["s3", "filer", "master", "volume"] {
                unlink("/tmp/seaweedfs-\(part)-\(port).sock")
                unlink("/tmp/seaweedfs-\(part)-grpc-\(port + 10_000).sock")
            }
        }
    }

    /// Stops the engine in the middle of whatever it does: connections stay open and nothing answers.
    package func pause() {
        kill(id, SIGSTOP)
        // The signal does not stop all threads at once. Until the kernel reports the engine as stopped, it may answer.
        for _ in 0..<5000 {
            if isStopped { return }
            usleep(1000)
        }
        XCTFail("the engine does not stop")
    }

    /// Whether the kernel reports the engine as stopped; see proc_pid_stat(5). Always `true` on systems without that file.
    private var isStopped: Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8) else { return true }
        return status.split(separator: ")").last?.hasPrefix(" T") ?? true
    }

    /// Lets a paused engine go on.
    package func resume() { kill(id, SIGCONT) }

    /// Waits until it can be used.
    private func makeReady() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if try await isReady() { return }
            guard process.isRunning else { break }
            // An engine starts in real time, and does not say when it is ready.
            try await Task.sleep(for: .milliseconds(50))
        }
        let log = FileManager.default.contents(atPath: folder.appending(path: "log").path) ?? Data()
        throw FixtureError("\(kind.rawValue) does not start: \(String(decoding: log.suffix(1000), as: UTF8.self))")
    }

    /// Whether the interface answers, if only to refuse a request without a signature, and has the bucket.
    private func isReady() async throws -> Bool {
        guard let answered = try await status(of: "GET /", on: ports[0]), answered < 500 else { return false }
        guard kind == .weed else { return true }
        // A folder of /buckets in SeaweedFS's own interface is a bucket.
        guard let made = try await status(of: "POST /buckets/\(Self.bucket)/", on: ports[3]) else { return false }
        return made < 300
    }

    /// The status of the answer to a request; `nil` if nothing answers.
    private func status(of line: String, on port: Int) async throws -> Int? {
        let text = "\(line) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        do {
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(.seconds(5))
                .connect(host: "127.0.0.1", port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                    }
                }
            return try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: text))
                for try await part in inbound {
                    return String(buffer: part).split(separator: " ").dropFirst().first.flatMap { Int($0) }
                }
                return nil
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return nil
        }
    }

    /// Ports at which nothing listens, nor 10,000 higher, where SeaweedFS has its gRPC. All are below those that the system chooses.
    private static func freePorts(_ count: Int) throws -> [Int] {
        var found: [Int] = []
        for _ in 0..<1000 where found.count < count {
            let port = Int.random(in: 11_000..<22_000)
            if !found.contains(port), isFree(port), isFree(port + 10_000) { found.append(port) }
        }
        guard found.count == count else { throw FixtureError("there are no free ports") }
        return found
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
