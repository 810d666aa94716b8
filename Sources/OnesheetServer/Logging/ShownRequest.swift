import FoundationEssentials
import OnesheetAddress
import OnesheetCore

/// The path of a request for logs and errors: without the query of a URL in it, also if the URL is in base64url, as in `/i/` and at the root.
/// The key of an address for rating posters is left out.
func shown(request path: String) -> String {
    let plain = shown(path: ClientKeys.left(outOfPage: path))
    guard plain.isExactly(path) else { return plain }
    let isFree = path.starts(withBytesOf: "/i/")
    guard isFree || RootAddress.imgproxy(length: nil).begins(path) else { return plain }
    // Options have a colon, base64url does not. Slashes may divide it (`ImagePath`).
    let encoded = path.dropFirst(bytes: isFree ? 3 : 1).pieces(at: "/").dropFirst().drop { $0.contains(mark: ":") }
    guard let start = encoded.first?.startIndex else { return path }
    let digits = encoded.joined()
    guard let bytes = Data(base64URL: digits.cut(atLast: ".")?.before ?? digits[...]) else { return path }
    let url = String(decoding: bytes, as: UTF8.self)
    return shown(path: url).isExactly(url) ? path : "\(path[..<start])…"
}
