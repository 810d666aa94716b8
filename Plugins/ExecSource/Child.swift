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

/// The events of a child process.
protocol ChildListener: AnyObject, Sendable {
    /// A line from standard output, without its terminator.
    func received(_ line: Data)

    /// The output is invalid; the listener stops the child.
    func refuse(_ reason: String)

    /// The end of the output.
    /// - Parameter lastWords: what the program wrote last to standard error, if it wrote anything.
    func ended(_ reason: String, lastWords: String?)
}

/// Starts a program.
protocol ChildLauncher: Sendable {
    /// - Throws: any error with the reason for which the program cannot start.
    func launch(_ listener: any ChildListener) throws -> any Child
}
