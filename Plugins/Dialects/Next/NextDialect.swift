import OnesheetAddress
public import OnesheetCore

/// The addresses of Next.js and Vercel: `/_next/image?url={source-url}&w={width}&q={quality}`. The `Accept` header selects the
/// format.
public struct NextDialect: Dialect {
    public static let name = "next"
    public static let prefix = "/_next/image"
    public static let readsQuery = true

    /// The default `imageSizes` and `deviceSizes` of Next.js, and the ladder's sizes.
    private static let widths = Set(
        [16, 32, 48, 64, 96, 128, 256, 384, 640, 750, 828, 1080, 1200, 1920, 2048, 3840] + SizeLadder.widths
    ).sorted()

    public init(_ configuration: NoConfiguration = NoConfiguration()) {}

    public func image(at address: Substring, on server: any DialectServer) throws(RequestError) -> DialectImage? {
        guard address.starts(withBytesOf: "?") else {
            throw .malformed("there is no query such as ?url=sample%3A%2F%2F1&w=640&q=75")
        }
        try server.requireUnsigned()
        let query = address.dropFirst(bytes: 1)
        let width = try value("w", in: query)
        guard let pixels = Int(width), Self.widths.contains(pixels) else {
            throw .bad(
                option: "w", value: width, reason: "needs one of \(Self.widths.map(String.init).joined(separator: ", "))")
        }
        let title = try server.title(try value("url", in: query))
        return DialectImage(title: title, options: ["w:\(pixels)", "q:\(try value("q", in: query))"], negotiates: true)
    }

    /// A known width and a quality. Next.js has no other options.
    public func address(of title: TitleReference, as transform: Transform, signedBy sign: (String) -> String) -> String? {
        guard Self.widths.contains(transform.width) else { return nil }
        return "?url=\(PercentEncoding.encode(title.description))&w=\(transform.width)&q=\(transform.quality)"
    }

    /// The single value of a parameter. Other parameters are ignored.
    private func value(_ name: String, in query: Substring) throws(RequestError) -> String {
        let values = query.pieces(at: "&").filter { $0.starts(withBytesOf: name + "=") }.map {
            $0.dropFirst(bytes: name.utf8.count + 1)
        }
        guard values.count == 1, let value = values.first, !value.isEmpty else {
            throw .malformed("the parameter “\(name)” is needed, and only once")
        }
        return try PercentEncoding.decode(value.replacing(bytesOf: "+", with: "%20"))
    }
}
