package import NIOCore

/// A command and its arguments.
package struct ValkeyCommand: Sendable, Equatable {
    package let words: [String]

    package init(_ words: String...) { self.words = words }
    package init(words: [String]) { self.words = words }

    /// Writes an array of bulk strings, the form of all commands in RESP2.
    package func write(to buffer: inout ByteBuffer) {
        buffer.writeString("*\(words.count)\r\n")
        for word in words {
            buffer.writeString("$\(word.utf8.count)\r\n")
            buffer.writeString(word)
            buffer.writeString("\r\n")
        }
    }
}
