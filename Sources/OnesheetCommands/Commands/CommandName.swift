import ArgumentParser
import OnesheetCore

/// Looks for a mistyped command before the library parses the arguments, which would report it as an unexpected argument.
enum CommandName {
    /// - Returns: the error text for an unknown command, with the nearest known one; `nil` if every command is known.
    static func unknown(in arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = RootCommand.self
        for argument in arguments {
            let (inner, usual) = (command.configuration.subcommands, command.configuration.defaultSubcommand)
            guard !inner.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            if let next = inner.first(where: { $0._commandName == argument }) {
                command = next
                continue
            }
            return usual == nil ? unknownName(argument, kind: "command", known: inner.map { $0._commandName }) : nil
        }
        return nil
    }
}
