import OnesheetAddress
import OnesheetCore

/// `/t/p/{size}[.{kind}[.{language}…]]/{source}/{id}[.{ext}]`
struct PosterRoute: ImageRoute {
    static let prefix = "/t/p/"
    var prefix: String { Self.prefix }
    let grammar = "sizes"
    let images: ImageContext
    /// The dialect for `/t/p/{size}/{file}`; `nil` if none is enabled.
    let files: DialectRoute?

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        if let files, PosterPath.namesFile(rest) { return try files.address(rest) }
        let path = try PosterPath(rest, images.options)
        var address = ImageAddress(
            FoundTitle(path.image.title, in: images.sources), path.image.selector, transform: path.transform,
            negotiates: path.negotiates)
        if let unknown = path.unknownExtension {
            address.ifMissing = .refused(unknown)
        } else if let other = path.other {
            address.ifMissing = .other(id: other.id, other.format)
        }
        return address
    }

    func checkQuery(behind rest: Substring) throws(RequestError) {
        if let files, PosterPath.namesFile(rest) { return try files.checkQuery(behind: rest) }
        try PosterPath.refuseQuery(behind: rest)
    }
}

/// `/i/{signature}/{options}/plain/{source-url}[@{ext}]`, `/i/{signature}/{options}/{base64url source-url}[.{ext}]` and
/// `/i/{signature}/{options}/enc/{encrypted source-url}[.{ext}]`, and the same without `/i`, if the configuration wants it.
struct FreeImageRoute: ImageRoute {
    var prefix: String { root == nil ? "/i/" : "/" }
    let grammar = "options"
    let images: ImageContext
    /// The configuration of addresses that begin with the signature, as imgproxy's do; `nil` for those at `/i/`.
    var root: DialectConfiguration?
    /// Whether addresses of another server are at the root too. Both may begin with the same word or signature, so the rest decides.
    var sharesRoot = false

    func matches(_ path: String) -> Bool {
        guard let root else { return path.starts(withBytesOf: prefix) }
        guard RootAddress.imgproxy(length: images.signature.length).begins(path) else { return false }
        let rest = path.dropFirst(bytes: prefix.utf8.count).cut(at: "/")?.after ?? ""
        return !sharesRoot || ImagePath.isWritten(rest, allowsRelative: !root.baseURL.isEmpty)
    }

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        let path = try ImagePath(rest, images.options, signedBy: images.signature)
        let sources = SourceURL(sources: images.sources, findsForbidden: true)
        switch path.source {
        case .url(let url):
            return image(of: try sources.resolve(sourceURL(url)), path)
        case .encrypted(let text):
            guard let encryption = images.encryption else {
                throw .malformed("this server decrypts no source URLs (configuration: signing.encryptionKey)")
            }
            let url = try encryption.decrypt(text)
            let unknown = RequestError.forbidden("the encrypted source URL is not one that a source of this server allows")
            var found: FoundTitle
            do throws(RequestError) { found = try sources.resolve(sourceURL(url)) } catch { throw unknown }
            guard found.source != nil else { throw unknown }
            found.forbidden?.reason = unknown
            var address = image(of: found, path)
            address.hidesSource = true
            return address
        }
    }

    func checkQuery(behind rest: Substring) throws(RequestError) { try ImagePath.refuseQuery(behind: rest) }

    private func sourceURL(_ text: String) -> String { root?.sourceURL(text) ?? text }

    private func image(of found: FoundTitle, _ path: ImagePath) -> ImageAddress {
        var address = ImageAddress(
            found, path.options.image, transform: path.options.transform, negotiates: path.negotiates, expires: path.options.expires
        )
        address.disposition = path.options.disposition
        return address
    }
}
