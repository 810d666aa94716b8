package import NIOCore
import OnesheetCore

/// An SVG file (<https://www.w3.org/TR/SVG2/>) as it is served: written anew from known elements, so that nothing in it runs, loads or grows.
///
/// It is never made into pixels. Elements that could do anything but draw are an error, and so is what refers to something outside the file;
/// the data of editors is left out. What is sent has a policy against scripts besides.
package struct SVGDocument: Sendable {
    package let bytes: ByteBuffer
    /// Its nominal size in pixels.
    package let width: Int
    package let height: Int

    /// The largest file in bytes.
    package static let mostBytes = 1 << 20

    /// - Throws: `RenderError.tooManyBytes`; `.codec` with `.damaged` if the file is not SVG, has no size, or has or refers to what is not
    ///   allowed.
    package init(sanitizing file: ByteBuffer) throws(RenderError) {
        guard file.readableBytes <= Self.mostBytes else {
            throw .tooManyBytes(bytes: file.readableBytes, limit: Self.mostBytes)
        }
        do throws(XMLError) {
            let writer = try XMLReader.read(Array(file.readableBytesView), into: SVGWriter(), depth: 64, skipsDocumentType: true)
            bytes = ByteBuffer(bytes: writer.output)
            (width, height) = (writer.width, writer.height)
        } catch {
            throw .codec(.damaged(reason: "\(error)"), .svg)
        }
        // Escapes are longer than what they stand for.
        guard bytes.readableBytes <= Self.mostBytes else {
            throw .tooManyBytes(bytes: bytes.readableBytes, limit: Self.mostBytes)
        }
    }

    /// Whether `file` begins as SVG does.
    package static func isSVG(_ file: ByteBuffer) -> Bool { ForeignFormat(of: file.readableBytesUInt8Span) == .svg }
}

/// Writes the known elements of an SVG file.
private struct SVGWriter: XMLHandler {
    private(set) var output: [UInt8] = []
    private(set) var (width, height) = (0, 0)
    private var references = SVGReferences()
    /// The elements that are being written.
    private var open: [String] = []
    /// The depth within an element that is left out.
    private var skipped = 0
    private var style = ""
    /// The namespaces of prefixes, those of the innermost elements last. What is not declared has its usual meaning.
    private var namespaces = ["": [Self.namespace], "svg": [Self.namespace], "xlink": [Self.links]]
    /// The prefixes that each element in `open` declares.
    private var declared: [[String]] = []

    private static let namespace = "http://www.w3.org/2000/svg"
    private static let links = "http://www.w3.org/1999/xlink"

    mutating func begin(_ name: String, _ attributes: [XMLAttribute]) throws(XMLRefusal) {
        guard skipped == 0 else { return skipped += 1 }
        let prefixes = declare(attributes)
        let (prefix, local) = Self.parts(of: name)
        guard namespaces[prefix]?.last == Self.namespace, !Self.leftOut.contains(local) else {
            guard !open.isEmpty else { throw XMLRefusal("the document is not SVG") }
            forget(prefixes)
            return skipped = 1
        }
        guard !open.isEmpty || local == "svg" else { throw XMLRefusal("the document is not SVG") }
        guard Self.elements.contains(local) else { throw XMLRefusal("an element “\(local.shortened(to: 40))” is not allowed") }
        write("<\(local)")
        if open.isEmpty { try beginRoot(attributes) }
        open.append(local)
        declared.append(prefixes)
        references.begin(bytes: attributes.reduce(0) { $0 + $1.value.utf8.count })
        guard attributes.lazy.filter(isLink).count <= 1 else { throw XMLRefusal("an element has two references") }
        for attribute in attributes { try write(attribute) }
        write(">")
    }

    /// Notes the namespaces that an element declares.
    /// - Returns: their prefixes.
    private mutating func declare(_ attributes: [XMLAttribute]) -> [String] {
        var prefixes: [String] = []
        for attribute in attributes {
            let (prefix, local) = Self.parts(of: attribute.name)
            guard prefix == "xmlns" || attribute.name == "xmlns" else { continue }
            prefixes.append(prefix.isEmpty ? "" : local)
            namespaces[prefixes[prefixes.count - 1], default: []].append(attribute.value)
        }
        return prefixes
    }

    private mutating func forget(_ prefixes: [String]) {
        for prefix in prefixes { namespaces[prefix]?.removeLast() }
    }

    private static func parts(of name: String) -> (prefix: String, local: String) {
        name.cut(at: ":").map { (String($0.before), String($0.after)) } ?? ("", name)
    }

    private mutating func beginRoot(_ attributes: [XMLAttribute]) throws(XMLRefusal) {
        guard let size = Self.size(attributes) else { throw XMLRefusal("it has no size") }
        (width, height) = size
        write(#" xmlns="\#(Self.namespace)" xmlns:xlink="\#(Self.links)""#)
        // If it were missing, a browser would crop the drawing instead of scaling it.
        if !attributes.contains(where: { $0.name == "viewBox" }) { write(#" viewBox="0 0 \#(width) \#(height)""#) }
    }

    private func isLink(_ attribute: XMLAttribute) -> Bool {
        let (prefix, local) = Self.parts(of: attribute.name)
        return local == "href" && !prefix.isEmpty && namespaces[prefix]?.last == Self.links
    }

    private mutating func write(_ attribute: XMLAttribute) throws(XMLRefusal) {
        let (name, value) = (isLink(attribute) ? "xlink:href" : attribute.name, attribute.value)
        if name.lowercasedASCII().starts(withBytesOf: "on") {
            throw XMLRefusal("an attribute “\(name.shortened(to: 40))” is not allowed")
        }
        let isReference = name == "href" || name == "xlink:href"
        // Without its reference, an element would be missing.
        guard isReference || !name.ends(withBytesOf: ":href") else {
            throw XMLRefusal("an attribute “\(name.shortened(to: 40))” is not allowed")
        }
        guard isReference || Self.isPlain(name) else { return }
        if isReference {
            try references.add(target: value)
        } else {
            try references.add(value: value)
            if name == "id", let element = open.last { references.define(value, on: element) }
        }
        write(" \(name)=\"")
        try write(escaping: value.utf8)
        write("\"")
    }

    mutating func text(_ bytes: some Collection<UInt8>) throws(XMLRefusal) {
        guard skipped == 0, let element = open.last else { return }
        if element == "style" {
            style += String(decoding: bytes, as: UTF8.self)
        } else if ["text", "tspan", "textPath"].contains(element) {
            references.addText(bytes: bytes.count)
            try write(escaping: bytes)
        }
    }

    mutating func end() throws(XMLRefusal) {
        guard skipped == 0 else { return skipped -= 1 }
        if open.last == "style" {
            try references.add(style: style)
            try write(escaping: style.utf8)
            style = ""
        }
        write("</\(open.removeLast())>")
        forget(declared.removeLast())
        references.end()
        if open.isEmpty { try references.check() }
    }

    private mutating func write(_ text: String) { output += text.utf8 }

    private mutating func write(escaping bytes: some Collection<UInt8>) throws(XMLRefusal) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "&"): write("&amp;")
            case UInt8(ascii: "<"): write("&lt;")
            case UInt8(ascii: ">"): write("&gt;")
            case UInt8(ascii: "\""): write("&quot;")
            case 0x20..., 0x09, 0x0A, 0x0D: output.append(byte)
            default: throw XMLRefusal("a text has a control character")
            }
        }
    }

    /// Whether an attribute is one of SVG and none of an editor, of a namespace or of a page.
    private static func isPlain(_ name: String) -> Bool {
        let isNamed = name.utf8.allSatisfy {
            (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        }
        return isNamed && !["xmlns", "role", "lang"].contains(name) && !name.starts(withBytesOf: "data-")
            && !name.starts(withBytesOf: "aria-")
    }

    /// The size of the drawing: its width and height, or else those of its view box.
    private static func size(_ attributes: [XMLAttribute]) -> (width: Int, height: Int)? {
        func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        let box = (value("viewBox") ?? "").split(whereSeparator: { $0.isWhitespace || $0 == "," }).map { Double($0) }
        let sides = [value("width").flatMap(pixels), value("height").flatMap(pixels)].compactMap { $0 }
        let all = sides.count == 2 ? sides : box.count == 4 ? box[2...].compactMap { $0 } : []
        guard all.count == 2, all.allSatisfy({ $0 > 0 && $0 <= 100_000 }) else { return nil }
        return (max(1, Int(all[0].rounded())), max(1, Int(all[1].rounded())))
    }

    /// A length in pixels of CSS; `nil` if it depends on something else.
    private static func pixels(_ text: String) -> Double? {
        for (unit, factor) in [("px", 1), ("pt", 4 / 3), ("pc", 16), ("mm", 96 / 25.4), ("cm", 96 / 2.54), ("in", 96)]
        where text.ends(withBytesOf: unit) {
            return Double(text.dropLast(2)).map { $0 * factor }
        }
        return Double(text)
    }

    /// Left out with everything in them: what no one sees.
    private static let leftOut: Set = ["title", "desc", "metadata"]

    private static let elements: Set = [
        "svg", "g", "defs", "symbol", "use", "style", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text",
        "tspan", "textPath", "linearGradient", "radialGradient", "stop", "clipPath", "mask", "pattern",
    ]
}
