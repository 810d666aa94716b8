import Logging

extension Logger {
    /// Says nothing: what the tests provoke on purpose need not be read.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
