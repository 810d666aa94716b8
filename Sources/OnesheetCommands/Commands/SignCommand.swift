import ArgumentParser
import OnesheetAddress
import OnesheetCore
import OnesheetServer

struct SignCommand: ParsableCommand, PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign the path of a free transform.",
        discussion: """
            Prints the whole path, signed with the first key of the configuration (signing.keys).

              onesheet sign rs:fill:300:450/plain/sample://1@png   →  /i/…/rs:fill:300:450/plain/sample://1@png
            """)

    @Argument(help: "What follows the signature: options and source URL.") var path: String
    @OptionGroup var options: ConfigurationOptions

    func run(with plugins: PluginList) async throws {
        let configuration = try options.load()
        let path = path.hasPrefix("/") ? path : "/" + path
        guard let signature = Signature(configuration.signing, needsKey: true).sign(path) else {
            throw ConfigurationError(
                path: "signing.keys", message: "there is no key to sign with; add one, made with `openssl rand -hex 32`, and a salt"
            )
        }
        StandardStreams.output("/i/\(signature)\(path)")
    }
}
