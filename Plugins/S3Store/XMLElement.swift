package import OnesheetCore

/// An element of an XML document: its name without a prefix, its own text, and its children. Attributes are checked and dropped.
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

    /// Parses a whole document. The documents of S3 are small and flat.
    /// - Throws: `XMLError` if it is not well-formed, or passes the depth of 16 or the number of 100,000 elements.
    package init(parsing bytes: [UInt8]) throws(XMLError) {
        self = try XMLReader.read(bytes, into: XMLTree(), depth: 16).root
    }
}

/// Makes elements of the parts of a document.
private struct XMLTree: XMLHandler {
    /// An element whose end has not come yet.
    private struct Open {
        var name: String
        var text: [UInt8] = []
        var children: [XMLElement] = []
    }

    private var open: [Open] = []
    /// That of the document, once it has ended.
    private(set) var root = XMLElement("")

    mutating func begin(_ name: String, _ attributes: [XMLAttribute]) {
        open.append(Open(name: name.cut(atLast: ":").map { String($0.after) } ?? name))
    }

    mutating func text(_ bytes: some Collection<UInt8>) { open[open.count - 1].text += bytes }

    mutating func end() {
        let done = open.removeLast()
        let element = XMLElement(done.name, text: String(decoding: done.text, as: UTF8.self), children: done.children)
        if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
    }
}
