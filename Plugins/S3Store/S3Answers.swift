package import OnesheetCore

/// The reason for which bytes from a store are not the expected document.
package enum S3AnswerError: Error, Sendable, Equatable, CustomStringConvertible {
    case notXML(XMLError)
    /// The document is another one.
    case unexpected(String)

    package var description: String {
        switch self {
        case .notXML(let error): "the answer is not XML: \(error)"
        case .unexpected(let reason): reason
        }
    }

    fileprivate static func document(_ bytes: [UInt8]) throws(S3AnswerError) -> XMLElement {
        do throws(XMLError) { return try XMLElement(parsing: bytes) } catch { throw .notXML(error) }
    }
}

/// An error of the store (<https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html>).
package struct S3Fault: Sendable, Equatable {
    package var code: String
    package var message: String
    /// Where the bucket is, if the request went elsewhere.
    package var region: String?
    /// The store's time, if it refuses ours.
    package var serverTime: String?

    package init(code: String, message: String = "", region: String? = nil, serverTime: String? = nil) {
        self.code = code
        self.message = message
        self.region = region
        self.serverTime = serverTime
    }

    /// Parses the body of an error; `nil` if it names no fault. Stores, and proxies in front of them, also send empty bodies and HTML
    /// pages.
    package init?(parsing bytes: [UInt8]) {
        let document: XMLElement
        do throws(S3AnswerError) { document = try S3AnswerError.document(bytes) } catch { return nil }
        self.init(document)
    }

    package init?(_ element: XMLElement) {
        guard element.name.isExactly("Error"), let code = element.value("Code"), !code.isEmpty else { return nil }
        self.init(
            code: code, message: element.value("Message") ?? "", region: element.value("Region"),
            serverTime: element.value("ServerTime"))
    }
}

/// A page of names (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html>).
package struct S3Listing: Sendable, Equatable {
    package var items: [ObjectListing.Item] = []
    package var isTruncated: Bool
    /// The sizes that objects can have: up to 5 TiB.
    private static let sizes = 0...(5 << 40)

    /// - Throws: `S3AnswerError` if the document is not a list, or if a name or size in it is unreadable.
    package init(parsing bytes: [UInt8]) throws(S3AnswerError) {
        let document = try S3AnswerError.document(bytes)
        if let fault = S3Fault(document) { throw .unexpected("the answer is an error, \(fault.code)") }
        guard document.name.isExactly("ListBucketResult") else { throw .unexpected("the answer is not a list of objects") }
        // Some stores ignore the wish for encoded names and say so by leaving this out.
        let isEncoded = document.value("EncodingType")?.lowercasedASCII().isExactly("url") == true
        isTruncated = document.value("IsTruncated")?.lowercasedASCII().isExactly("true") == true
        for entry in document.all("Contents") {
            guard let raw = entry.children.first(where: { $0.name.isExactly("Key") })?.text,
                let name = isEncoded ? Self.decoded(raw) : raw, !name.isEmpty
            else { throw .unexpected("the list has an object without a readable name") }
            guard let bytes = entry.value("Size").flatMap({ Int($0) }), Self.sizes.contains(bytes) else {
                throw .unexpected("the list has an object without a size")
            }
            items.append(ObjectListing.Item(name: name, bytes: bytes))
        }
    }

    /// The name of `encoding-type=url`. Amazon and others write a space as `+`, and a plus sign always as `%2B`.
    static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Self.digit), let low = rest.popFirst().flatMap(Self.digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

/// The deletion of many objects (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html>).
package enum S3Deletion {
    /// The most names of one request.
    package static let maxNames = 1000

    /// The body of a request, which asks for failures only.
    package static func body(_ names: some Sequence<String>) -> String {
        let objects = names.map { "<Object><Key>\(escaped($0))</Key></Object>" }.joined()
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
            + "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>\(objects)</Delete>"
    }

    /// The objects that were not deleted. A missing one counts as deleted.
    /// - Throws: `S3AnswerError` if the document is not the answer to a deletion.
    package static func faults(parsing bytes: [UInt8]) throws(S3AnswerError) -> [S3Fault] {
        let document = try S3AnswerError.document(bytes)
        if let fault = S3Fault(document) { return [fault] }
        guard document.name.isExactly("DeleteResult") else { throw .unexpected("the answer is not that to a deletion") }
        return document.all("Error").map { S3Fault($0) ?? S3Fault(code: "Unknown") }.filter { !$0.code.isExactly("NoSuchKey") }
    }

    private static func escaped(_ name: String) -> String {
        name.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&apos;"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}
