import ArgumentParser
import OnesheetAddress
import OnesheetCore
import OnesheetServer

struct SignCommand: ParsableCommand, PluggedCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign the path of a free transform.",
        discussion: """
            Prints the signed path. Uses the first key of signing.keys in the configuration, or else the one that a server has made for
            itself in the folder of its cache. What a server with this configuration does
            not understand is refused: unknown options, sources and extensions, and URLs that no source allows.

              onesheet sign rs:fill:300:450/plain/sample://1@png   →  /i/…/rs:fill:300:450/plain/sample://1@png

            With --encrypt, the path hides its source URL. Uses signing.encryptionKey.

              onesheet sign --encrypt w:342/plain/https://example.com/a.jpg@png   →  /i/…/w:342/enc/….png
            """)

    @Argument(help: "The part of the path after the signature: options and source URL.") var path: String
    @Flag(help: "Encrypt the source URL, which follows plain/.") var encrypt = false
    @OptionGroup var options: ConfigurationOptions

    func run(with plugins: PluginList) async throws {
        let configuration = try options.load(keys: .signing)
        var path = path.hasPrefix("/") ? path : "/" + path
        try SignablePath(configuration, plugins).check(path)
        if encrypt {
            guard let encryption = configuration.signing.encryptionKey else {
                throw ConfigurationError(
                    path: "signing.encryptionKey", message: "there is no key; add one from `openssl rand -hex 32`")
            }
            path = try encryption.encrypting(path: path)
        }
        guard let signature = Signature(configuration.signing, needsKey: true).sign(path) else {
            throw ConfigurationError(
                path: "signing.keys", message: "there is no signing key; add a key and a salt, each from `openssl rand -hex 32`"
            )
        }
        StandardStreams.output("/i/\(signature)\(path)")
    }
}
