/// The bounds on which a server and its render processes agree.
enum ProcessBounds {
    /// The most bytes of a message.
    static let longestMessage = 128 << 10
    /// The processor time after which the system ends a process. Its server replaces it long before.
    static let seconds = 3600
    /// The bytes that a process may have beyond `limits.memory` and what it has before it is locked in: room for libraries and fragments.
    static let roomForLibraries = 96 << 20
    /// The bytes that a process has beside the pixels of its picture, between pictures too: 5 MiB after its start, and 11 to 19 after some
    /// pictures, as measured.
    static let ownMemory = 13 << 20
    /// A question, or a start, survives this many processes that are killed from outside.
    static let mostKills = 3
}
