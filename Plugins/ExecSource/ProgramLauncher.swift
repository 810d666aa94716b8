internal import Foundation
internal import Logging
internal import OnesheetCore

/// Starts a program of the operating system.
struct ProgramLauncher: ChildLauncher {
    /// The program and its arguments.
    let command: [String]
    /// The environment of the program, in addition to `PATH` and the language.
    let environment: [String: String]
    /// Bytes of one line.
    let maxLine: Int
    let logger: Logger

    func launch(_ listener: any ChildListener) throws -> any Child {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Self.find(command[0]))
        process.arguments = Array(command.dropFirst())
        let inherited = ProcessInfo.processInfo.environment.filter {
            ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"].contains($0.key)
        }
        process.environment = inherited.merging(environment) { _, own in own }
        return try Program(process, maxLine: maxLine, logger: logger, listener)
    }

    /// The path of the program: unchanged if it has a slash, otherwise from `PATH`.
    static func find(_ name: String) throws(ConfigurationError) -> String {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let paths = name.contains("/") ? [name] : folders.map { "\($0)/\(name)" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
            throw ConfigurationError(path: "command", message: "“\(name)” is not an executable program")
        }
        return path
    }
}
