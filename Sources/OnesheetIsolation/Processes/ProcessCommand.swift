/// The command that starts a render process.
package struct ProcessCommand: Sendable {
    /// The executable.
    package var path: String
    /// The name in lists of processes.
    package var name: String
    package var arguments: [String]

    package init(path: String, name: String, arguments: [String]) {
        self.path = path
        self.name = name
        self.arguments = arguments
    }
}
