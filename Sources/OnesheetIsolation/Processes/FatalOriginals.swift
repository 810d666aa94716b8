import FoundationEssentials
package import Logging
import NIOCore
package import OnesheetCore
import OnesheetCrypto
import OnesheetImaging
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Remembers the originals that ended render processes, by their digest, for a day. It survives restarts, so that a picture that kills
/// does not kill again after each.
///
/// A process that has read other pictures may have been taken over by one of them. So a loss there makes a picture suspect, and its next
/// process is a new one. An original is fatal after two losses, one of them in a new process.
package final class FatalOriginals: Sendable {
    enum Standing: Equatable {
        case harmless
        /// Present at one loss; read only by a new process.
        case suspect
        /// Not read again. The value says how its last process was lost.
        case fatal(ProcessLoss)
    }

    private struct Record {
        var losses: Int
        /// The losses of new processes.
        var proven: Int
        var last: ProcessLoss
        var until: Date

        var isFatal: Bool { losses >= 2 && proven >= 1 }

        /// A time further away was recorded when the clock was ahead.
        func isKept(at now: Date) -> Bool { until > now && until.timeIntervalSince(now) <= FatalOriginals.time }
    }

    private static let time: TimeInterval = 86_400
    /// The most originals. Beyond it, the oldest is forgotten.
    private static let most = 1000

    private let records: Mutex<[String: Record]>
    private let writing = Mutex(())
    private let path: String?
    private let clock: WallClock
    private let logger: Logger

    /// - Parameter path: the file in which they are kept; `nil` keeps them in memory.
    package init(path: String?, clock: WallClock, logger: Logger) {
        self.path = path
        self.clock = clock
        self.logger = logger
        let now = clock.now
        records = Mutex(path.map { Self.read($0, at: now) } ?? [:])
    }

    func standing(of original: ByteBuffer) -> Standing {
        // Almost always there is none, and no digest is computed.
        guard records.withLock({ !$0.isEmpty }) else { return .harmless }
        let (digest, now) = (Self.digest(original), clock.now)
        return records.withLock { records in
            records = records.filter { $0.value.isKept(at: now) }
            guard let record = records[digest] else { return .harmless }
            return record.isFatal ? .fatal(record.last) : .suspect
        }
    }

    /// Counts a process that was lost while it read `original`.
    /// - Parameter isProven: whether the process was new.
    /// - Returns: whether the original must not be read again.
    func add(_ original: ByteBuffer, _ loss: ProcessLoss, isProven: Bool) -> Bool {
        let (digest, now) = (Self.digest(original), clock.now)
        let isFatal = records.withLock { records in
            records = records.filter { $0.value.isKept(at: now) }
            var record = records[digest] ?? Record(losses: 0, proven: 0, last: loss, until: now)
            record.losses = min(record.losses + 1, 2)
            record.proven = min(record.proven + (isProven ? 1 : 0), 2)
            (record.last, record.until) = (loss, now.addingTimeInterval(Self.time))
            records[digest] = record
            if records.count > Self.most, let oldest = records.min(by: { $0.value.until < $1.value.until }) {
                records[oldest.key] = nil
            }
            return record.isFatal
        }
        write()
        return isFatal
    }

    /// Forgets an original that a new process has read.
    func clear(_ original: ByteBuffer) {
        let digest = Self.digest(original)
        guard records.withLock({ $0.removeValue(forKey: digest) }) != nil else { return }
        write()
    }

    private static func digest(_ original: ByteBuffer) -> String {
        original.withUnsafeReadableBytes { SHA256.hash($0) }.hexadecimal
    }

    /// A line for each: digest, losses, losses of new processes, how the last process was lost, and the second in which it is forgotten.
    /// Writes outside the lock of the records: a slow disk must not delay renders.
    private func write() {
        guard let path else { return }
        writing.withLock { _ in
            let lines = records.withLock { records in
                records.map { digest, record in
                    let words = ["\(record.losses)", "\(record.proven)", record.last.rawValue]
                    return ([digest] + words + ["\(Int(record.until.timeIntervalSince1970))"]).joined(separator: " ") + "\n"
                }
            }
            let part = path + ".part"
            let contents = Data(lines.sorted().joined().utf8)
            guard FileManager.default.createFile(atPath: part, contents: contents, attributes: [.posixPermissions: 0o600]),
                rename(part, path) == 0
            else {
                return logger.warning(
                    "\(path) cannot be written, so a restart forgets the images that end render processes: \(String(cString: strerror(errno)))"
                )
            }
        }
    }

    /// Lines that are not such are skipped.
    private static func read(_ path: String, at now: Date) -> [String: Record] {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 20 else { return [:] }
        var records: [String: Record] = [:]
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 5, parts[0].utf8.count == 64, let losses = Int(parts[1]), let proven = Int(parts[2]),
                let last = ProcessLoss(rawValue: String(parts[3])), let until = Double(parts[4])
            else { continue }
            let record = Record(
                losses: min(losses, 2), proven: min(proven, 2), last: last, until: Date(timeIntervalSince1970: until))
            if record.isKept(at: now) { records[String(parts[0])] = record }
        }
        return records
    }
}
