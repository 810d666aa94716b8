import Foundation
import OnesheetTesting
import XCTest

/// The built `onesheet` as a process.
struct Program {
    struct Outcome {
        let status: Int32
        let output: Data
        let errors: String
        var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// Beside the test binary.
    static var path: URL { path("onesheet") }

    /// A poster of the sample source, for origins of tests.
    static var samplePoster: URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/CSamplePosters/Posters/6.jpg")
    }

    /// Another program of this package.
    static func path(_ name: String) -> URL {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: name)
    }

    /// Runs a command until it ends.
    static func run(_ arguments: [String], input: Data? = nil, in folder: URL) async throws -> Outcome {
        let process = make(arguments, in: folder)
        let (output, errors, standardInput) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = input == nil ? FileHandle.nullDevice : standardInput
        try process.run()
        // Read both pipes concurrently: a full pipe would stop the program.
        async let outputData = read(output)
        async let errorData = read(errors)
        if let input {
            try standardInput.fileHandleForWriting.write(contentsOf: input)
            try standardInput.fileHandleForWriting.close()
        }
        let (out, err) = await (outputData, errorData)
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, output: out, errors: String(decoding: err, as: UTF8.self))
    }

    /// Starts a command that ends by itself or by a signal.
    /// - Parameter environment: further variables.
    static func start(
        _ arguments: [String], in folder: URL, output: Any = FileHandle.nullDevice, errors: Any = FileHandle.nullDevice,
        environment: [String: String] = [:]
    ) throws -> Process {
        let process = make(arguments, in: folder)
        process.environment?.merge(environment) { $1 }
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Starts a server and waits for its greeting.
    /// - Parameters:
    ///   - files: the limit of open files.
    ///   - program: the name of another program with the same commands.
    static func serve(
        _ arguments: [String], in folder: URL, errors: Any = FileHandle.nullDevice, files: Int? = nil, program: String = "onesheet"
    ) async throws -> (process: Process, url: String) {
        let process = make(["serve", "--listen", "127.0.0.1:0"] + arguments, in: folder)
        process.executableURL = path(program)
        if let files {
            process.arguments = ["-c", "ulimit -n \(files); exec \"$0\" \"$@\"", path(program).path] + (process.arguments ?? [])
            process.executableURL = URL(filePath: "/bin/sh")
        }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        guard let url = await greeting(output) else { throw ServerEnded() }
        return (process, url)
    }

    /// Starts a server with a readable log and waits for its greeting.
    static func serveWithLog(
        _ arguments: [String], in folder: URL, files: Int? = nil
    ) async throws -> (process: Process, url: String, log: LogReader) {
        let errors = Pipe()
        let (process, url) = try await serve(arguments, in: folder, errors: errors, files: files)
        return (process, url, LogReader(errors.fileHandleForReading))
    }

    /// Makes a cache with originals of the sample source, all of them or those of `ids`. Drawing them takes longer than most tests take, so
    /// it is done once for a build.
    static func copyOriginals(of ids: [String] = [], to cache: URL) throws {
        let name = ids.isEmpty ? "all-originals" : "originals-of-\(ids.joined(separator: "-"))"
        let drawn = try BuildFixture.item(name, of: path) { cache in
            let chosen = ids.flatMap { ["--id", $0] }
            let prefetch = try start(
                ["prefetch", "sample", "--sizes", "original", "--cache", cache.path] + chosen, in: cache.deletingLastPathComponent()
            )
            prefetch.waitUntilExit()
            guard prefetch.terminationStatus == 0 else { throw OriginalsNotDrawn(status: prefetch.terminationStatus) }
        }
        try FileManager.default.copyItem(at: drawn, to: cache)
    }

    private struct OriginalsNotDrawn: Error { let status: Int32 }

    /// Terminates a server and waits until it has ended, because its folder is removed next.
    static func end(_ server: Process) {
        server.terminate()
        server.waitUntilExit()
    }

    struct ServerEnded: Error {}

    /// The first URL in the server's output, without a slash at the end.
    private static func greeting(_ output: Pipe) async -> String? {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                var text = ""
                while !text.contains("/\n") {
                    let data = output.fileHandleForReading.availableData
                    if data.isEmpty { break }
                    text += String(decoding: data, as: UTF8.self)
                }
                let line = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.first {
                    $0.hasPrefix("http://")
                }
                done.resume(returning: line.map { String($0.dropLast()) })
            }
        }
    }

    private static func make(_ arguments: [String], in folder: URL) -> Process {
        let process = Process()
        process.executableURL = path
        process.arguments = arguments
        process.currentDirectoryURL = folder
        // Do not touch the caches of the user who runs the tests.
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "LOG_LEVEL": "notice"]
        return process
    }

    private static func read(_ pipe: Pipe) async -> Data {
        await withCheckedContinuation { done in
            Thread.detachNewThread { done.resume(returning: pipe.fileHandleForReading.readDataToEndOfFile()) }
        }
    }
}
