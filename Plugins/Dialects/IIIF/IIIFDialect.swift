import OnesheetAddress
public import OnesheetCore

/// IIIF Image API 3.0: `/iiif/3/{identifier}/{region}/{size}/{rotation}/{quality}.{format}` and `/iiif/3/{identifier}/info.json`.
/// The identifier is a percent-encoded source URL.
public struct IIIFDialect: Dialect {
    public static let name = "iiif"
    public static let prefix = "/iiif/3/"

    public init(_ configuration: NoConfiguration = NoConfiguration()) {}

    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        let parts = address.pieces(at: "/", omittingEmptySubsequences: false)
        if parts.count == 1 || parts.count == 2 && parts[1] == "info.json" { return nil }
        // The slashes of an identifier must be encoded (IIIF Image API 3.0 §9).
        if parts.count > 5 { throw .noSuchPath(Self.prefix + address) }
        guard parts.count == 5 else {
            throw .malformed(
                "an IIIF image is /iiif/3/{identifier}/{region}/{size}/{rotation}/{quality}.{format}, such as "
                    + "/iiif/3/sample%3A%2F%2F1/full/342,/0/default.jpg")
        }
        let title = try title(parts[0], on: server)
        let read = try IIIFPath(parts.dropFirst())
        return DialectImage(title: title, options: read.options, exactly: read.exactly, isShared: true)
    }

    /// A region, a size and a format. The size is `w,`, `,h` or `!w,h`, because IIIF addresses enlarge nothing here.
    public func address(of title: TitleReference, as transform: Transform, signedBy sign: (String) -> String) -> String? {
        guard let format = transform.format?.extensions.first else { return nil }
        var region = "full"
        if transform.crop == .square {
            region = "square"
        } else if let crop = transform.crop {
            guard case .corner(let x, let y)? = crop.gravity else { return nil }
            region = "\(x),\(y),\(Int(crop.width)),\(Int(crop.height))"
        }
        let size =
            switch (transform.width, transform.height) {
            case (0, 0): "max"
            case (let width, 0): "\(width),"
            case (0, let height): ",\(height)"
            case (let width, let height): transform.resizing == .force ? "\(width),\(height)" : "!\(width),\(height)"
            }
        return "\(PercentEncoding.encode(title.description))/\(region)/\(size)/0/default.\(format)"
    }

    public func document(
        at address: Substring, on server: any DialectServer, from host: DialectHost
    ) async throws -> DialectDocument {
        let parts = address.pieces(at: "/", omittingEmptySubsequences: false)
        let title = try title(parts[0], on: server)
        guard parts.count == 2 else { return .redirect(to: "\(Self.prefix)\(parts[0])/info.json") }
        let id = "\(host.url)\(Self.prefix)\(parts[0])"
        let document = IIIFDocument(id: id, sizes: try await host.sizes(of: title), on: host)
        return .json(document, type: "application/ld+json;profile=\"\(IIIFDocument.context)\"")
    }

    private func title(_ identifier: Substring, on server: any DialectServer) throws(RequestError) -> TitleReference {
        try server.requireUnsigned()
        do throws(RequestError) {
            return try server.title(embedded: identifier)
        } catch {
            // An unknown identifier is a 404 (IIIF Image API 3.0 §7).
            guard case .malformed = error else { throw error }
            throw .noSuchPath("\(Self.prefix)\(identifier)")
        }
    }
}
