import Foundation
import Synchronization

/// Reads the standard error of a running program.
final class LogReader: Sendable {
    private let output = Mutex((text: "", hasEnded: false))

    init(_ handle: FileHandle) {
        let handle = UncheckedHandle(handle: handle)
        Thread.detachNewThread { [self] in
            while case let data = handle.handle.availableData, !data.isEmpty {
                output.withLock { $0.text += String(decoding: data, as: UTF8.self) }
            }
            output.withLock { $0.hasEnded = true }
        }
    }

    /// Waits until the program has printed `words`, for two minutes at most.
    /// - Returns: the whole output so far; without the words if the program ended first or never prints them.
    func read(until words: String) async -> String {
        let deadline = ContinuousClock.now + .seconds(120)
        while !output.withLock({ $0.hasEnded || $0.text.contains(words) }), .now < deadline {
            // The output comes from another process, which no clock of ours drives. A cancelled test stops waiting.
            do { try await Task.sleep(for: .milliseconds(5)) } catch { break }
        }
        return output.withLock { $0.text }
    }

    /// Only the reading thread uses the handle.
    private struct UncheckedHandle: @unchecked Sendable {
        let handle: FileHandle
    }
}
