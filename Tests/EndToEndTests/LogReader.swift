import Foundation

/// Reads what a program says on standard error while it runs.
final class LogReader: @unchecked Sendable {
    // Read by one thread at a time: each call ends before a test makes the next one.
    private let handle: FileHandle
    private var text = ""

    init(_ handle: FileHandle) { self.handle = handle }

    /// Waits until the program has said `words`.
    /// - Returns: all that it said so far; without the words where it ended before.
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
