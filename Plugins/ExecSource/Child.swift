internal import FoundationEssentials

/// A program that runs beside this one and is spoken to in lines.
protocol Child: Sendable {
    /// Hands a line over. A program that has ended does not get it.
    func send(_ line: Data)

    /// Closes the program's standard input, which asks it to end, and makes it end where it does not.
    func stop()
}

/// What a child reports.
protocol ChildListener: AnyObject, Sendable {
    /// A line came on standard output, without its end.
    func received(_ line: Data)

    /// What came cannot be trusted; the listener stops the child.
    func refuse(_ reason: String)

    /// Nothing more will come.
    func ended(_ reason: String)
}

/// Starts a program.
protocol ChildLauncher: Sendable {
    /// - Throws: any error that says why the program cannot start.
    func launch(_ listener: any ChildListener) throws -> any Child
}
