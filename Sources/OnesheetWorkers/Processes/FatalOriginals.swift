import Crypto
import FoundationEssentials
package import Logging
import NIOCore
package import OnesheetCore
import OnesheetImaging
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Remembers the originals that ended render processes, by their digest, for a day. It survives restarts, so that a picture that kills
/// does not kill again after each.
package final class FatalOriginals: Sendable {
    private struct Record {
        var losses: Int
        var last: WorkerLoss
        var until: Date
    }

    /// An original that has ended this many processes is not read again.
    private static let mostLosses = 2
    private static let time: TimeInterval = 86_400
    /// The most originals. Beyond it, the oldest is forgotten.
    private static let most = 1000

    private let records: Mutex<[String: Record]>
    private let path: String?
    private let clock: WallClock
    private let logger: Logger

    /// - Parameter path: the file in which they are kept; `nil` keeps them in memory.
    package init(path: String?, clock: WallClock, logger: Logger) {
        (self.path, self.clock, self.logger) = (path, clock, logger)
        records = Mutex(path.map(Self.read) ?? [:])
    }

    /// How `original` ended its last process, if it is not to be read again.
    func loss(of original: ByteBuffer) -> WorkerLoss? {
        // Almost always there is none, and no digest is computed.
        guard records.withLock({ !$0.isEmpty }) else { return nil }
        let (digest, now) = (Self.digest(original), clock.now)
        return records.withLock { records in
            records = records.filter { $0.value.until > now }
            guard let record = records[digest], record.losses >= Self.mostLosses else { return nil }
            return record.last
        }
    }

    /// Counts a process that `original` has ended.
    /// - Returns: whether it is not to be read again.
    func add(_ original: ByteBuffer, _ loss: WorkerLoss) -> Bool {
        let (digest, now) = (Self.digest(original), clock.now)
        return records.withLock { records in
            records = records.filter { $0.value.until > now }
            let losses = (records[digest]?.losses ?? 0) + 1
            records[digest] = Record(losses: losses, last: loss, until: now.addingTimeInterval(Self.time))
            if records.count > Self.most, let oldest = records.min(by: { $0.value.until < $1.value.until }) {
                records[oldest.key] = nil
            }
            write(records)
            return losses >= Self.mostLosses
        }
    }

    private static func digest(_ original: ByteBuffer) -> String {
        let digest = original.withUnsafeReadableBytes { SHA256.hash(data: $0) }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// A line for each: digest, losses, how the last process ended, and the second in which it is forgotten.
    private func write(_ records: [String: Record]) {
        guard let path else { return }
        let lines = records.map {
            "\($0.key) \($0.value.losses) \($0.value.last.rawValue) \(Int($0.value.until.timeIntervalSince1970))\n"
        }
        let part = path + ".part"
        do {
            guard
                FileManager.default.createFile(
                    atPath: part, contents: Data(lines.sorted().joined().utf8), attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
            guard rename(part, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            logger.warning("\(path) cannot be written, so a restart forgets the images that end render processes: \(error)")
        }
    }

    /// Lines that are not such are skipped.
    private static func read(_ path: String) -> [String: Record] {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 20 else { return [:] }
        var records: [String: Record] = [:]
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 4, parts[0].utf8.count == 64, let losses = Int(parts[1]),
                let last = WorkerLoss(rawValue: String(parts[2])), let until = Int(parts[3])
            else { continue }
            records[String(parts[0])] = Record(losses: losses, last: last, until: Date(timeIntervalSince1970: Double(until)))
        }
        return records
    }
}
