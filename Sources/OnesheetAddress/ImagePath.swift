package import OnesheetValues

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The path of a free transform, such as `/i/{signature}/rs:fill:300:450/plain/sample://1@png` or
/// `/i/{signature}/rs:fill:300:450/{base64url}.png`.
package struct ImagePath {
    /// The source URL of a path.
    package enum Source: Equatable {
        /// `{source}://{id}`, or an `http` or `https` URL.
        case url(String)
        /// One in `SourceEncryption`.
        case encrypted(String)
    }

    /// The refusal of a character that no path of a URL has: a client ends the path there, or sends something else.
    package static func unwritable(_ mark: Unicode.Scalar) -> RequestError {
        let digits = String(mark.value, radix: 16, uppercase: true)
        return .malformed(
            "“\(mark)” cannot be in the path of a URL; write %\(digits.utf8.count == 1 ? "0" : "")\(digits) in the source URL")
    }

    /// Refuses a query behind a source URL in plain text, which is part of that URL as it was meant. Behind an extension, it is not.
    /// - Parameter path: as for `init`, without the query.
    package static func refuseQuery(behind path: Substring) throws(RequestError) {
        guard let plain = path.firstRange(ofBytesOf: "/plain/"), !path[plain.upperBound...].contains(mark: "@") else { return }
        throw unwritable("?")
    }

    /// Whether the part behind the signature has the form of this grammar: options with a colon, if any, and then `plain/`, `enc/` or a URL in
    /// base64url. Addresses of other servers that begin with a signature have another.
    /// - Parameter allowsRelative: whether a source URL may have no scheme.
    package static func isWritten(_ rest: Substring, allowsRelative: Bool) -> Bool {
        let parts = rest.pieces(at: "/").drop(while: isOption)
        guard let first = parts.first else { return false }
        if first.isExactly("plain") || first.isExactly("enc") { return parts.count > 1 }
        guard let bytes = Data(base64URL: split(parts.joined()[...], at: ".").0), let text = String(bytes: bytes, encoding: .utf8)
        else { return false }
        return !text.isEmpty && text.isSafeInAddresses && (allowsRelative || text.firstRange(ofBytesOf: "://") != nil)
    }

    /// Whether a part is `name:value`, and not thumbor's filters, a region or the scheme of a URL.
    private static func isOption(_ part: Substring) -> Bool {
        guard let (name, value) = part.cut(at: ":"), !name.isEmpty, !value.isEmpty, !name.isExactly("filters") else { return false }
        return name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    }

    package let signature: Substring
    /// The signed part of the path: everything after the signature, with the leading slash.
    package let signedPath: String
    package let options: ImageOptions.Parsed
    package let source: Source
    package var negotiates: Bool { options.transform.format == nil && !options.isRaw }

    /// - Parameters:
    ///   - path: the path after `/i/`, percent-encoded.
    ///   - keys: what the path is signed by; `nil` if that does not matter. The signature is checked before options and URL are read, which
    ///     takes longer.
    package init(_ path: Substring, _ grammar: ImageOptions, signedBy keys: Signature?) throws(RequestError) {
        guard let slash = path.firstIndex(ofMark: "/") else {
            throw .malformed(
                "a free transform is at /i/{signature}/{options}/plain/{source-url}, such as /i/unsafe/rs:fit:342:0/plain/sample://1@jpg"
            )
        }
        signature = path[..<slash]
        signedPath = String(path[slash...])
        // Keep the leading slash, so that options may be absent: /i/unsafe/plain/…
        let rest = path[slash...]
        var optionsText: Substring
        var (url, format): (String, Substring?)
        // Options contain a colon, base64url does not.
        let encoded = rest.pieces(at: "/").drop { $0.contains(mark: ":") }
        let isEncrypted = encoded.first.map { $0.isExactly("enc") } ?? false
        // Without a signature, differences between failures would reveal encrypted URLs (a padding oracle).
        if isEncrypted { try keys?.check(signed: signature, of: signedPath) } else { try keys?.check(signature, of: signedPath) }
        if isEncrypted {
            optionsText = rest[..<(encoded.first?.startIndex ?? rest.endIndex)]
            (url, format) = Self.split(encoded.dropFirst().joined()[...], at: ".")
        } else if let plain = rest.firstRange(ofBytesOf: "/plain/") {
            optionsText = rest[..<plain.lowerBound]
            (url, format) = Self.split(rest[plain.upperBound...], at: "@")
            url = try PercentEncoding.decode(url)
        } else {
            optionsText = rest[..<(encoded.first?.startIndex ?? rest.endIndex)]
            (url, format) = Self.split(encoded.joined()[...], at: ".")
            guard !url.isEmpty, let bytes = Data(base64URL: url), let text = String(bytes: bytes, encoding: .utf8) else {
                throw .malformed("the source URL is neither behind /plain/ nor base64url")
            }
            guard text.isSafeInAddresses else {
                throw .malformed("the source URL in base64url has characters that no URL has, such as a line break at its end")
            }
            url = text
        }
        if optionsText.starts(withBytesOf: "/") { optionsText = optionsText.dropFirst(bytes: 1) }
        var options = try grammar.parse(optionsText)
        if let format, !format.isEmpty, !options.isRaw {
            options.transform = options.transform.encoded(in: try grammar.format(format))
        }
        self.options = options
        source = isEncrypted ? .encrypted(url) : .url(url)
    }

    /// The signed part of a path, with a plain source URL.
    /// - Parameters:
    ///   - options: in the grammar of `ImageOptions`; empty for none.
    ///   - format: `nil` if the options name it or the client's `Accept` selects one.
    package static func signedPath(options: String, source: String, format: ImageFormat?) -> String {
        let end = format?.extensions.first.map { "@\($0)" } ?? ""
        return "/" + (options.isEmpty ? "" : options + "/") + "plain/\(PercentEncoding.encode(source))\(end)"
    }

    /// The whole path with this signed part. Without keys, it contains `unsafe` instead of a signature.
    package static func text(_ signedPath: String, signedBy signature: Signature) -> String {
        "/i/\(signature.sign(signedPath) ?? "unsafe")\(signedPath)"
    }

    static func split(_ text: Substring, at mark: Unicode.Scalar) -> (String, Substring?) {
        guard let (url, format) = text.cut(atLast: mark) else { return (String(text), nil) }
        return (String(url), format)
    }
}
