import Logging

extension Logger {
    /// A silent logger for provoked failures.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
