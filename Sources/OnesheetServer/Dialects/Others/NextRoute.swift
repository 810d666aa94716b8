import OnesheetAddress
import OnesheetCore

/// The addresses of Next.js and Vercel: `/_next/image?url={source-url}&w={width}&q={quality}`, the format by `Accept`.
struct NextRoute: ImageRoute {
    let prefix = "/_next/image"
    let readsQuery = true
    let images: ImageContext

    /// The usual `imageSizes` and `deviceSizes` of Next.js, and the ladder's.
    private static let widths = Set(
        [16, 32, 48, 64, 96, 128, 256, 384, 640, 750, 828, 1080, 1200, 1920, 2048, 3840] + SizeLadder.widths
    ).sorted()

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        guard rest.starts(withBytesOf: "?") else { throw .malformed("there is no query such as ?url=sample%3A%2F%2F1&w=640&q=75") }
        try images.signature.checkUnsigned()
        let query = rest.dropFirst(bytes: 1)
        let width = try value("w", in: query)
        guard let pixels = Int(width), Self.widths.contains(pixels) else {
            throw .bad(
                option: "w", value: width, reason: "needs one of \(Self.widths.map(String.init).joined(separator: ", "))")
        }
        return ImageAddress(
            title: try SourceURL(sources: images.sources).resolve(try value("url", in: query)),
            transform: try images.options.transform(["w:\(pixels)", "q:\(try value("q", in: query))"]), negotiates: true)
    }

    /// The one value of a parameter; others are none of our business.
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
