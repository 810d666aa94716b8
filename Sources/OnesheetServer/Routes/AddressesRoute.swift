import HummingbirdCore
import HTTPTypes
import OnesheetAddress
import OnesheetCore
import OnesheetPipeline

/// `/addresses?of=sample://1&options=rs:fill:300:450/q:75&format=png`: the addresses of one transform of a poster, in this server's grammar
/// and in each enabled dialect. It looks nothing up.
///
/// Only the administrator gets signed addresses. Others get the addresses that need no signature.
struct AddressesRoute: Route {
    let prefix = "/addresses"
    let images: ImageContext
    let dialects: [DialectRoute]
    let administrator: Administrator

    private struct Document: Encodable {
        let title: String
        /// In canonical order, with the image if it is not the poster.
        let options: [String]
        let format: String?
        /// The address in this server's grammar; absent if it needs a signature and the request is not the administrator's.
        let address: String?
        /// Whether a key has signed the address.
        let isSigned: Bool
        /// Addresses by dialect; `null` if the dialect cannot express the transform, or if its address needs a signature.
        let dialects: [String: String?]
    }

    func answer(_ context: RequestContext, rest: Substring) async throws -> Response {
        let query = context.uri.formParameters
        guard let sourceURL = query["of"], !sourceURL.isEmpty else {
            throw RequestError.malformed("the parameter “of” is missing: /addresses?of=sample://1&options=rs:fill:300:450")
        }
        let isAdministrator = try administrator.isAsking(context)
        let found = try SourceURL(sources: images.sources).resolve(String(sourceURL))
        let title = found.title
        guard found.source != nil else { throw images.pipeline.unknownSource(of: title) }
        let typed = query["options"].map(String.init) ?? ""
        var options = try images.options.parse(typed)
        if let format = query["format"], !format.isEmpty {
            options.transform = options.transform.encoded(in: try images.options.format(format))
        }
        let own = own(title, as: options, typed: typed, signs: isAdministrator)
        let others = dialects.map { ($0.grammar, other($0, title, as: options, signs: isAdministrator)) }
        var response = try Response.json(
            Document(
                title: title.description,
                options: options.transform.options + (options.image == .poster ? [] : ["im:\(options.image.arguments)"]),
                format: options.transform.format?.extensions.first,
                address: own,
                isSigned: own.map { $0.starts(withBytesOf: "/i/") && !$0.starts(withBytesOf: "/i/unsafe/") } ?? false,
                dialects: Dictionary(others) { first, _ in first }))
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// The address in this server's grammar: the canonical one or, if there is none, one with the options as `typed`.
    private func own(_ title: TitleReference, as options: ImageOptions.Parsed, typed: String, signs: Bool) -> String? {
        let signature = signs ? images.signature : Signature(keys: [], acceptsUnsafe: true)
        // Canonical paths have no name for downloads.
        let canonical =
            options.disposition == nil
            ? CanonicalPath(options: images.options, signature: signature).path(
                to: title, options.image, as: options.transform, expires: options.expires) : nil
        if let canonical, canonical.starts(withBytesOf: "/t/p/") { return canonical }
        let path = ImagePath.signedPath(options: typed, source: title.description, format: options.transform.format)
        let address = canonical ?? ImagePath.text(path, signedBy: signature)
        return accepts(address, as: options, FreeImageRoute(images: images)) ? address : nil
    }

    private func other(_ route: DialectRoute, _ title: TitleReference, as options: ImageOptions.Parsed, signs: Bool) -> String? {
        let rest = route.dialect.address(of: title, as: options.transform) { path in
            (signs ? images.signature.sign(thumbor: path) : nil) ?? "unsafe"
        }
        guard let rest else { return nil }
        return accepts(route.prefix + rest, as: options, route) ? route.prefix + rest : nil
    }

    /// Whether `route` accepts `address` with its signature and reads `options` from it.
    private func accepts(_ address: String, as options: ImageOptions.Parsed, _ route: some ImageRoute) -> Bool {
        do {
            guard let read = try route.address(address.dropFirst(bytes: route.prefix.utf8.count)) else { return false }
            return read.image.selector == options.image && read.transform == options.transform
                && read.negotiates == (options.transform.format == nil)
                && read.expires == options.expires && read.disposition == options.disposition
        } catch {
            return false
        }
    }
}
