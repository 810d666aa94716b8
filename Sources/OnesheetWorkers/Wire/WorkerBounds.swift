/// The bounds on which a server and its render processes agree.
enum WorkerBounds {
    /// The most bytes of a message.
    static let longestMessage = 128 << 10
    /// The processor time after which the system ends a process. Its server replaces it long before.
    static let seconds = 3600
    /// The bytes beyond `limits.memory`: the input, and room for libraries and fragments.
    static let roomForLibraries = 96 << 20
}
