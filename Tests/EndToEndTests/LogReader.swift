import Foundation

/// Reads the standard error of a running program.
final class LogReader: @unchecked Sendable {
    // Only one thread reads at a time: each call ends before the test makes the next one.
    private let handle: FileHandle
    private var text = ""

    init(_ handle: FileHandle) { self.handle = handle }

    /// Waits until the program has printed `words`.
    /// - Returns: the whole output so far; without the words if the program ended first.
    func read(until words: String) async -> String {
        await withCheckedContinuation { done in
            Thread.detachNewThread { [self] in
                while !text.contains(words) {
                    let data = handle.availableData
                    if data.isEmpty { break }
                    text += String(decoding: data, as: UTF8.self)
                }
                done.resume(returning: text)
            }
        }
    }
}
