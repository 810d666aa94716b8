internal import FoundationEssentials
internal import Logging
internal import OnesheetCore
internal import Subprocess
internal import SystemPackage

/// Starts a program of the operating system.
struct ProgramLauncher: ChildLauncher {
    /// The program and its arguments.
    let command: [String]
    /// The environment of the program, in addition to `PATH` and the language.
    let environment: [String: String]
    /// Bytes of one line.
    let maxLine: Int
    let limits: ProgramLimits
    let logger: Logger

    func launch(_ listener: Conversation) throws -> any Child {
        let inherited = ProcessInfo.processInfo.environment.filter {
            ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"].contains($0.key)
        }
        let variables = inherited.merging(environment) { _, own in own }.map { (Environment.Key(stringLiteral: $0.key), $0.value) }
        var options = PlatformOptions()
        // A group of its own: what it leaves behind would keep the pipes open.
        options.processGroupID = 0
        let program = Program(maxLine: maxLine, logger: logger)
        program.start(
            Configuration(
                executable: .path(FilePath(try Self.find(command[0]))), arguments: Arguments(Array(command.dropFirst())),
                environment: .custom(Dictionary(uniqueKeysWithValues: variables)), platformOptions: options),
            within: limits, for: listener)
        return program
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
