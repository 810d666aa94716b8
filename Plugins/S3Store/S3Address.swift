package import OnesheetCore

/// Where a bucket is, and how its objects are addressed.
package struct S3Address: Sendable, Equatable {
    /// `https://host[:port]`
    package let origin: String
    /// `host[:port]`
    package let host: String
    /// The percent-encoded path of the bucket, without a slash at its end; empty if the host names the bucket.
    package let bucketPath: String

    /// - Parameters:
    ///   - endpoint: the store's URL; `nil` is Amazon's for the region.
    ///   - pathStyle: whether the path names the bucket, and not the host.
    /// - Throws: `ConfigurationError` if a value is invalid, or if the three cannot go together.
    package init(endpoint: String?, bucket: String, region: String, pathStyle: Bool?) throws(ConfigurationError) {
        guard Self.isBucketName(bucket) else {
            throw ConfigurationError(
                path: "bucket", message: "“\(bucket)” is not a name of a bucket: 3 to 63 of a-z, 0-9, “.” and “-”")
        }
        guard !region.isEmpty, region.utf8.allSatisfy({ Self.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }) else {
            throw ConfigurationError(path: "region", message: "“\(region)” is not a region such as eu-central-1")
        }
        let domain = region.starts(withBytesOf: "cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        let text = endpoint ?? "https://s3.\(region).\(domain)"
        guard let url = WebURL(text), url.query == nil, !text.contains(mark: "#") else {
            throw ConfigurationError(
                path: "endpoint", message: "“\(text)” is not the URL of a store such as https://s3.example or http://10.0.0.5:9000")
        }
        let isAddress = IPAddress(url.host) != nil
        let pathStyle = pathStyle ?? (endpoint != nil)
        if !pathStyle {
            guard !isAddress else {
                throw ConfigurationError(
                    path: "pathStyle", message: "must be true, because \(url.host) is an address and has no subdomains")
            }
            guard url.scheme.isExactly("http") || !bucket.contains(mark: ".") else {
                throw ConfigurationError(
                    path: "pathStyle",
                    message: "must be true for “\(bucket)”: certificates do not cover names with a dot before the host")
            }
        }
        var base = Substring(url.path)
        while base.ends(withBytesOf: "/") { base = base.dropLast() }
        let bare = url.host.contains(mark: ":") ? "[\(url.host)]" : url.host
        let name = pathStyle ? bare : "\(bucket).\(bare)"
        let isUsual = url.port == (url.scheme.isExactly("https") ? 443 : 80)
        host = isUsual ? name : "\(name):\(url.port)"
        origin = "\(url.scheme)://\(host)"
        bucketPath = base + (pathStyle ? "/\(bucket)" : "")
    }

    /// The percent-encoded path of an object.
    package func path(of name: String) -> String {
        bucketPath + "/"
            + name.pieces(at: "/", omittingEmptySubsequences: false).map { PercentEncoding.encode($0) }.joined(separator: "/")
    }

    /// The percent-encoded path of the bucket itself.
    package var path: String { bucketPath.isEmpty ? "/" : bucketPath }

    /// Whether an object can have this name in every store: at most 1,024 bytes; no controls, which XML cannot carry; no backslash, which
    /// SeaweedFS takes for a slash; and parts that are names of files, because stores keep objects in folders and clients resolve dots.
    package static func isObjectName(_ name: String) -> Bool {
        guard !name.isEmpty, name.utf8.count <= 1024, !name.contains(mark: "\\"),
            name.unicodeScalars.allSatisfy({ !isControl($0) })
        else { return false }
        return name.pieces(at: "/", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && !part.isExactly(".") && !part.isExactly("..")
        }
    }

    /// The C0 and C1 controls, and the two scalars at the end of the first plane that are not characters.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0xFFFE...0xFFFF).contains(scalar.value)
    }

    /// The rules for new buckets (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html>), and underscores, which
    /// other stores allow.
    private static func isBucketName(_ name: String) -> Bool {
        guard (3...63).contains(name.utf8.count), let first = name.utf8.first, let last = name.utf8.last else { return false }
        return isLetterOrDigit(first) && isLetterOrDigit(last) && name.firstRange(ofBytesOf: "..") == nil
            && name.utf8.allSatisfy {
                isLetterOrDigit($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }
}
