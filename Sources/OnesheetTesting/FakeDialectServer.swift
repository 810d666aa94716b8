public import OnesheetCore

/// The services of a server for the test of a dialect. It knows every source.
public struct FakeDialectServer: DialectServer {
    /// Whether it accepts addresses without a signature.
    public var acceptsUnsigned: Bool
    /// The signature that is valid for every path.
    public var signature: String

    public init(acceptsUnsigned: Bool = true, signature: String = "unsafe") {
        self.acceptsUnsigned = acceptsUnsigned
        self.signature = signature
    }

    public func requireUnsigned() throws(RequestError) {
        guard acceptsUnsigned else { throw .forbidden("only what was signed") }
    }

    public func check(sha1 signature: Substring, of path: Substring) throws(RequestError) {
        guard signature.isExactly(self.signature) else { throw .badSignature }
    }

    public func title(_ sourceURL: String) throws(RequestError) -> TitleReference {
        guard let separator = sourceURL.firstRange(ofBytesOf: "://") else { throw .malformed("“\(sourceURL)” is not a source URL") }
        return TitleReference(
            source: String(sourceURL[..<separator.lowerBound]), id: String(sourceURL[separator.upperBound...]))
    }

    /// Ids of TheTVDB are written as `tvdb-81189`, all others as they are.
    public func title(_ id: String, of database: String, from source: String) throws(RequestError) -> TitleReference {
        guard let id = DatabaseIDs(database, prefix: database == "tvdb" ? "tvdb-" : "").written(id) else {
            throw .malformed("“\(id)” is no id of \(database)")
        }
        return TitleReference(source: source, id: id)
    }

    public func title(embedded sourceURL: Substring) throws(RequestError) -> TitleReference {
        try title(String(sourceURL).replacing(bytesOf: "%3A", with: ":").replacing(bytesOf: "%2F", with: "/"))
    }
}
