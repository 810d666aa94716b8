internal import OnesheetCore

/// An element of an XML document: its name without a prefix, its own text, and its children. Attributes are checked and dropped.
///
/// The documents of S3 are small and flat. A parser of our own keeps libxml2 and the whole of Foundation out of the program, and takes
/// nothing that such a document does not need: no document type, so no entities beyond XML's own five, and nothing from elsewhere.
package struct XMLElement: Sendable, Equatable {
    package var name: String
    package var text = ""
    package var children: [XMLElement] = []

    package init(_ name: String, text: String = "", children: [XMLElement] = []) {
        self.name = name
        self.text = text
        self.children = children
    }

    /// The text of the first child of this name, without spaces and line ends around it; `nil` if there is none.
    package func value(_ name: String) -> String? {
        children.first { $0.name.isExactly(name) }.map(\.text.trimmed)
    }

    /// All children of this name.
    package func all(_ name: String) -> [XMLElement] { children.filter { $0.name.isExactly(name) } }

    /// Parses a whole document in UTF-8 (<https://www.w3.org/TR/xml/>).
    /// - Throws: `XMLError` if it is not well-formed, or passes the depth of 16 or the number of 100,000 elements.
    package init(parsing bytes: [UInt8]) throws(XMLError) {
        var parser = XMLParser(bytes: bytes)
        self = try parser.document()
    }
}

/// The first error of a document.
package struct XMLError: Error, Sendable, Equatable, CustomStringConvertible {
    package let reason: String
    /// The number of bytes before it.
    package let offset: Int

    package var description: String { "\(reason) at byte \(offset)" }
}

/// Reads a document from the first byte to the last. Each byte is looked at a fixed number of times.
private struct XMLParser {
    private static let maxDepth = 16
    private static let maxElements = 100_000
    private static let entities: [String: UInt8] = [
        "lt": UInt8(ascii: "<"), "gt": UInt8(ascii: ">"), "amp": UInt8(ascii: "&"), "quot": UInt8(ascii: "\""),
        "apos": UInt8(ascii: "'"),
    ]

    /// An element whose end has not come yet.
    private struct Open {
        /// With its prefix, as its end repeats it.
        var tag: ArraySlice<UInt8>
        var text: [UInt8] = []
        var children: [XMLElement] = []
    }

    private let bytes: [UInt8]
    private var at = 0
    private var open: [Open] = []
    private var elements = 0
    private var root: XMLElement?

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(XMLError) -> XMLElement {
        if starts(with: "\u{FEFF}") { at += 3 }
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"): try markup()
            case UInt8(ascii: "&"): try reference()
            default: try character()
            }
        }
        guard open.isEmpty else { throw error("the document ends inside an element") }
        guard let root else { throw error("the document has no element") }
        return root
    }

    private mutating func character() throws(XMLError) {
        let byte = bytes[at]
        if open.isEmpty {
            guard isSpace(byte) else { throw error("there is text outside the document's element") }
        } else {
            open[open.count - 1].text.append(byte)
        }
        at += 1
    }

    private mutating func markup() throws(XMLError) {
        if starts(with: "<!--") {
            try skip("<!--", through: "-->")
        } else if starts(with: "<![CDATA[") {
            guard !open.isEmpty else { throw error("there is text outside the document's element") }
            let start = at + "<![CDATA[".utf8.count
            try skip("<![CDATA[", through: "]]>")
            open[open.count - 1].text += bytes[start..<(at - 3)]
        } else if starts(with: "<?") {
            try skip("<?", through: "?>")
        } else if starts(with: "<!") {
            throw error("a document type is not accepted")
        } else if starts(with: "</") {
            try end()
        } else {
            try start()
        }
    }

    private mutating func start() throws(XMLError) {
        guard root == nil else { throw error("a second element follows the document's") }
        guard open.count < Self.maxDepth else { throw error("the elements are nested too deeply") }
        elements += 1
        guard elements <= Self.maxElements else { throw error("there are too many elements") }
        at += 1
        open.append(Open(tag: try name()))
        while true {
            let hadSpace = skipSpaces()
            if starts(with: "/>") {
                at += 2
                return try close()
            }
            if starts(with: ">") {
                at += 1
                return
            }
            guard hadSpace else { throw error("an attribute needs a space before it") }
            try attribute()
        }
    }

    private mutating func attribute() throws(XMLError) {
        _ = try name()
        skipSpaces()
        guard starts(with: "=") else { throw error("an attribute has no value") }
        at += 1
        skipSpaces()
        guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") || bytes[at] == UInt8(ascii: "'") else {
            throw error("an attribute's value has no quotation marks")
        }
        let quote = bytes[at]
        at += 1
        while at < bytes.count, bytes[at] != quote {
            guard bytes[at] != UInt8(ascii: "<") else { throw error("an attribute's value contains “<”") }
            at += 1
        }
        guard at < bytes.count else { throw error("the document ends inside an attribute") }
        at += 1
    }

    private mutating func end() throws(XMLError) {
        at += 2
        let tag = try name()
        skipSpaces()
        guard starts(with: ">") else { throw error("the end of an element has no “>”") }
        guard let last = open.last, last.tag == tag else { throw error("an element ends that was not the last to begin") }
        at += 1
        try close()
    }

    /// Finishes the innermost element.
    private mutating func close() throws(XMLError) {
        let done = open.removeLast()
        let local = done.tag.lastIndex(of: UInt8(ascii: ":")).map { done.tag[($0 + 1)...] } ?? done.tag
        guard let name = String(validating: local, as: UTF8.self), let text = String(validating: done.text, as: UTF8.self) else {
            throw error("an element is not UTF-8")
        }
        let element = XMLElement(name, text: text, children: done.children)
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }

    /// `&amp;`, `&#38;` or `&#x26;`
    private mutating func reference() throws(XMLError) {
        guard !open.isEmpty else { throw error("there is text outside the document's element") }
        // The longest is that of a scalar with leading zeros; without a bound a text of ampersands would take quadratic time.
        guard let end = bytes[at...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else { throw error("a reference has no end") }
        let name = String(decoding: bytes[(at + 1)..<end], as: UTF8.self)
        if let byte = Self.entities[name] {
            open[open.count - 1].text.append(byte)
        } else {
            guard let scalar = Self.scalar(name) else { throw error("an entity is unknown") }
            open[open.count - 1].text += Array(String(scalar).utf8)
        }
        at = end + 1
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

    private mutating func name() throws(XMLError) -> ArraySlice<UInt8> {
        let start = at
        while at < bytes.count, isNameByte(bytes[at]) { at += 1 }
        guard at > start else { throw error("a name is missing") }
        return bytes[start..<at]
    }

    /// Letters, digits, `.-_:` and all beyond ASCII: XML is stricter, which changes nothing for documents with known names.
    private func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x80...0xFF, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }

    private func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    @discardableResult private mutating func skipSpaces() -> Bool {
        let start = at
        while at < bytes.count, isSpace(bytes[at]) { at += 1 }
        return at > start
    }

    private func starts(with mark: String) -> Bool { bytes[at...].starts(with: mark.utf8) }

    private mutating func skip(_ begin: String, through end: String) throws(XMLError) {
        var next = at + begin.utf8.count
        let first = end.utf8.first
        while next < bytes.count {
            if bytes[next] == first, bytes[next...].starts(with: end.utf8) {
                at = next + end.utf8.count
                return
            }
            next += 1
        }
        throw error("the document ends inside “\(begin)”")
    }

    private func error(_ reason: String) -> XMLError { XMLError(reason: reason, offset: at) }
}

extension String {
    /// Without spaces, tabs and line ends around it.
    fileprivate var trimmed: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = utf8.firstIndex(where: { !isSpace($0) }), let last = utf8.lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
