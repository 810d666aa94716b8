/// Reads an XML document in UTF-8 (<https://www.w3.org/TR/xml/>) from the first byte to the last. Each byte is looked at a fixed number of times.
///
/// A parser of our own keeps libxml2 and the whole of Foundation out of the program, and takes nothing that our documents do not need: no
/// declarations of a document type, so no entities beyond XML's own five, and nothing from elsewhere. Comments and instructions are skipped.
package struct XMLReader<Handler: XMLHandler> {
    private let bytes: [UInt8]
    private let maxDepth: Int
    private let skipsDocumentType: Bool
    private var keepsUnknownReferences = false
    private var handler: Handler
    private var at = 0
    /// The names of elements whose end has not come yet.
    private var open: [ArraySlice<UInt8>] = []
    private var elements = 0
    private var hasRoot = false

    /// Parses a whole document.
    /// - Parameters:
    ///   - depth: the deepest nesting of elements.
    ///   - skipsDocumentType: whether a document type is skipped if it declares nothing itself. It is refused otherwise.
    /// - Throws: `XMLError` if the document is not well-formed, is nested too deeply, has more than 100,000 elements, or is refused by
    ///   `handler`.
    package static func read(
        _ bytes: [UInt8], into handler: Handler, depth: Int, skipsDocumentType: Bool = false
    ) throws(XMLError) -> Handler {
        var reader = XMLReader(bytes: bytes, maxDepth: depth, skipsDocumentType: skipsDocumentType, handler: handler)
        do throws(XMLRefusal) { try reader.document() } catch { throw XMLError(reason: error.reason, offset: reader.at) }
        return reader.handler
    }

    /// Parses a document as far as it is well-formed. What people have written may have an end missing, or text behind it. A reference to an
    /// unknown entity stays as it is.
    package static func beginning(of bytes: [UInt8], into handler: Handler, depth: Int) -> Handler {
        var reader = XMLReader(bytes: bytes, maxDepth: depth, skipsDocumentType: true, handler: handler)
        reader.keepsUnknownReferences = true
        do throws(XMLRefusal) { try reader.document() } catch { return reader.handler }
        return reader.handler
    }

    private init(bytes: [UInt8], maxDepth: Int, skipsDocumentType: Bool, handler: Handler) {
        self.bytes = bytes
        self.maxDepth = maxDepth
        self.skipsDocumentType = skipsDocumentType
        self.handler = handler
    }

    private mutating func document() throws(XMLRefusal) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw XMLRefusal("the document is not UTF-8") }
        if starts(with: "\u{FEFF}") { at += 3 }
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"): try markup()
            case UInt8(ascii: "&"):
                try checkInside()
                try handler.text(reference())
            default: try characters()
            }
        }
        guard open.isEmpty else { throw XMLRefusal("the document ends inside an element") }
        guard hasRoot else { throw XMLRefusal("the document has no element") }
    }

    private func checkInside() throws(XMLRefusal) {
        if open.isEmpty { throw XMLRefusal("there is text outside the document's element") }
    }

    private mutating func characters() throws(XMLRefusal) {
        let start = at
        while at < bytes.count, bytes[at] != UInt8(ascii: "<"), bytes[at] != UInt8(ascii: "&") {
            if open.isEmpty, !Self.isSpace(bytes[at]) { try checkInside() }
            at += 1
        }
        if !open.isEmpty { try handler.text(bytes[start..<at]) }
    }

    private mutating func markup() throws(XMLRefusal) {
        if starts(with: "<!--") {
            try skip("<!--", through: "-->")
        } else if starts(with: "<![CDATA[") {
            try checkInside()
            let start = at + "<![CDATA[".utf8.count
            try skip("<![CDATA[", through: "]]>")
            try handler.text(bytes[start..<(at - 3)])
        } else if starts(with: "<?") {
            try skip("<?", through: "?>")
        } else if starts(with: "<!") {
            try documentType()
        } else if starts(with: "</") {
            try end()
        } else {
            try start()
        }
    }

    private mutating func documentType() throws(XMLRefusal) {
        guard skipsDocumentType, !hasRoot, starts(with: "<!DOCTYPE") else {
            throw XMLRefusal("a document type is not accepted")
        }
        let start = at
        try skip("<!DOCTYPE", through: ">")
        guard !bytes[start..<at].contains(UInt8(ascii: "[")) else {
            throw XMLRefusal("a document type with declarations is not accepted")
        }
    }

    private mutating func start() throws(XMLRefusal) {
        guard !hasRoot || !open.isEmpty else { throw XMLRefusal("a second element follows the document's") }
        guard open.count < maxDepth else { throw XMLRefusal("the elements are nested too deeply") }
        elements += 1
        guard elements <= 100_000 else { throw XMLRefusal("there are too many elements") }
        at += 1
        let tag = try name()
        hasRoot = true
        open.append(tag)
        var attributes: [XMLAttribute] = []
        var names: Set<String> = []
        while true {
            let hadSpace = skipSpaces()
            let isWhole = starts(with: "/>")
            if isWhole || starts(with: ">") {
                try handler.begin(String(decoding: tag, as: UTF8.self), attributes)
                at += isWhole ? 2 : 1
                if isWhole { try close() }
                return
            }
            guard hadSpace else { throw XMLRefusal("an attribute needs a space before it") }
            let attribute = try attribute()
            guard names.insert(attribute.name).inserted else { throw XMLRefusal("an element has two attributes of one name") }
            attributes.append(attribute)
        }
    }

    private mutating func attribute() throws(XMLRefusal) -> XMLAttribute {
        let name = String(decoding: try name(), as: UTF8.self)
        skipSpaces()
        guard starts(with: "=") else { throw XMLRefusal("an attribute has no value") }
        at += 1
        skipSpaces()
        guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "'") else {
            throw XMLRefusal("an attribute's value has no quotation marks")
        }
        let quote = bytes[at]
        at += 1
        var value: [UInt8] = []
        while at < bytes.count, bytes[at] != quote {
            switch bytes[at] {
            case UInt8(ascii: "<"): throw XMLRefusal("an attribute's value contains “<”")
            case UInt8(ascii: "&"): value += try reference()
            case let byte:
                value.append(byte)
                at += 1
            }
        }
        guard at < bytes.count else { throw XMLRefusal("the document ends inside an attribute") }
        at += 1
        return XMLAttribute(name: name, value: String(decoding: value, as: UTF8.self))
    }

    private mutating func end() throws(XMLRefusal) {
        at += 2
        let tag = try name()
        skipSpaces()
        guard starts(with: ">") else { throw XMLRefusal("the end of an element has no “>”") }
        guard open.last == tag else { throw XMLRefusal("an element ends that was not the last to begin") }
        at += 1
        try close()
    }

    private mutating func close() throws(XMLRefusal) {
        open.removeLast()
        try handler.end()
    }

    /// The bytes of `&amp;`, `&#38;` or `&#x26;`
    private mutating func reference() throws(XMLRefusal) -> [UInt8] {
        // The longest is that of a scalar with leading zeros; without a bound a text of ampersands would take quadratic time.
        guard let end = bytes[at...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            if keepsUnknownReferences { return ampersand() }
            throw XMLRefusal("a reference has no end")
        }
        let name = String(decoding: bytes[(at + 1)..<end], as: UTF8.self)
        let known: Unicode.Scalar? =
            switch name {
            case "lt": "<"
            case "gt": ">"
            case "amp": "&"
            case "quot": "\""
            case "apos": "'"
            default: Self.scalar(name)
            }
        guard let known else {
            if keepsUnknownReferences { return ampersand() }
            throw XMLRefusal("an entity is unknown")
        }
        at = end + 1
        return Array(String(known).utf8)
    }

    private mutating func ampersand() -> [UInt8] {
        at += 1
        return [UInt8(ascii: "&")]
    }

    /// The scalar of `#38` or `#x26`. Stricter than XML for zero, more lenient for other controls, which S3 writes for such keys.
    private static func scalar(_ name: String) -> Unicode.Scalar? {
        guard name.starts(withBytesOf: "#") else { return nil }
        let isHex = name.starts(withBytesOf: "#x")
        let digits = name.dropFirst(bytes: isHex ? 2 : 1)
        guard digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt32(digits, radix: isHex ? 16 : 10)
        else { return nil }
        return value == 0 ? nil : Unicode.Scalar(value)
    }

    private mutating func name() throws(XMLRefusal) -> ArraySlice<UInt8> {
        let start = at
        while at < bytes.count, Self.isNameByte(bytes[at]) { at += 1 }
        guard at > start else { throw XMLRefusal("a name is missing") }
        return bytes[start..<at]
    }

    /// Letters, digits, `.-_:` and all beyond ASCII: XML is stricter, which changes nothing for documents with known names.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    @discardableResult private mutating func skipSpaces() -> Bool {
        let start = at
        while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
        return at > start
    }

    private func starts(with mark: String) -> Bool { bytes[at...].starts(with: mark.utf8) }

    private mutating func skip(_ begin: String, through end: String) throws(XMLRefusal) {
        var next = at + begin.utf8.count
        let first = end.utf8.first
        while next < bytes.count {
            if bytes[next] == first, bytes[next...].starts(with: end.utf8) {
                at = next + end.utf8.count
                return
            }
            next += 1
        }
        throw XMLRefusal("the document ends inside “\(begin)”")
    }
}
