import Foundation
import NIOCore
import NIOHTTP1

/// A running server of a cluster.
struct ClusterMember: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: Data
        let entityTag: String?

        var text: String { String(decoding: body, as: UTF8.self) }

        /// Width and height of a PNG; empty if the body is none.
        var size: [Int] {
            guard body.count > 24, body.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) else { return [] }
            let start = ByteBuffer(bytes: body.prefix(24))
            return [16, 20].compactMap { start.getInteger(at: $0, as: UInt32.self).map { Int($0) } }
        }
    }

    let process: Process
    let url: String
    let log: LogReader

    /// Asks the server.
    /// - Throws: if it does not answer.
    func ask(_ path: String, method: String = "GET", isAdministrator: Bool = false) async throws -> Answer {
        let answer = try await WebAnswer.to(
            url + path, method: HTTPMethod(rawValue: method),
            fields: isAdministrator ? ["Authorization": "Bearer secret-for-tests"] : [:])
        return Answer(status: answer.status, body: answer.body, entityTag: answer.field("ETag"))
    }

    /// The value of a metric without labels; -1 if there is none.
    func metric(_ name: String) async throws -> Int {
        let line = try await ask("/metrics").text.split(separator: "\n").first { $0.hasPrefix("onesheet_\(name) ") }
        return line?.split(separator: " ").last.flatMap { Int($0) } ?? -1
    }

    /// Kills the server, unless it has ended.
    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}
