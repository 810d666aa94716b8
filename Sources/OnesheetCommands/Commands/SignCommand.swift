import ArgumentParser
import OnesheetAddress
import OnesheetCore
import OnesheetServer

struct SignCommand: ParsableCommand, PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign the path of a free transform.",
        discussion: """
            Prints the signed path. Uses the first key of signing.keys in the configuration.

              onesheet sign rs:fill:300:450/plain/sample://1@png   →  /i/…/rs:fill:300:450/plain/sample://1@png
            """)

    @Argument(help: "The part of the path after the signature: options and source URL.") var path: String
    @OptionGroup var options: ConfigurationOptions

    func run(with plugins: PluginList) async throws {
        let configuration = try options.load()
        let path = path.hasPrefix("/") ? path : "/" + path
        guard let signature = Signature(configuration.signing, needsKey: true).sign(path) else {
            throw ConfigurationError(
                path: "signing.keys", message: "there is no signing key; add a key and a salt, each from `openssl rand -hex 32`"
            )
        }
        StandardStreams.output("/i/\(signature)\(path)")
    }
}
