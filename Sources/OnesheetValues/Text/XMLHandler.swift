/// Takes the parts of an XML document in order.
package protocol XMLHandler {
    /// The start of an element.
    /// - Parameters:
    ///   - name: with its prefix.
    ///   - attributes: in order, with the references in their values replaced. Each name is there once.
    mutating func begin(_ name: String, _ attributes: [XMLAttribute]) throws(XMLRefusal)
    /// Text within an element, in one or more parts, as UTF-8.
    mutating func text(_ bytes: some Collection<UInt8>) throws(XMLRefusal)
    /// The end of the innermost element.
    mutating func end() throws(XMLRefusal)
}

/// An attribute of an element.
package struct XMLAttribute: Sendable, Equatable {
    /// With its prefix.
    package let name: String
    package let value: String
}

/// The reason for which a handler does not take a document.
package struct XMLRefusal: Error, Sendable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// The first error of a document.
package struct XMLError: Error, Sendable, Equatable, CustomStringConvertible {
    package let reason: String
    /// The number of bytes before it.
    package let offset: Int

    package var description: String { "\(reason) at byte \(offset)" }
}
