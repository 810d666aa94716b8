internal import FoundationEssentials

/// A child process that communicates in lines.
protocol Child: Sendable {
    /// Sends a line. A program that has ended does not receive it.
    func send(_ line: Data)

    /// Closes the program's standard input, which asks it to end, and terminates it if it does not.
    func stop()

    /// Stops the program, and returns when it has ended. If the task is cancelled, kills it at once.
    func shutdown() async

    /// Whether the program has not ended yet.
    var isRunning: Bool { get }
}

/// Starts a program.
protocol ChildLauncher: Sendable {
    /// - Throws: any error with the reason for which the program cannot start.
    func launch(_ listener: Conversation) throws -> any Child
}
