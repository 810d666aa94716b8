package import FoundationEssentials
package import HTTPTypes
import OnesheetCore

/// Evaluates a request's preconditions (RFC 9110 §13).
package struct Preconditions {
    private let fields: HTTPFields
    private let validator: String
    private let modified: Date?

    /// - Parameters:
    ///   - fields: the request's header fields.
    ///   - validator: the representation's strong validator, without quotes.
    ///   - modified: the representation's modification date. `nil` if it has none: dates in conditions then count for nothing (RFC
    ///     9110 §13.1.3 and §13.1.4).
    package init(fields: HTTPFields, validator: String, modified: Date?) {
        self.fields = fields
        self.validator = validator
        self.modified = modified
    }

    package enum Outcome {
        case met
        /// The client's copy is current.
        case notModified
        /// A precondition of the request is false.
        case failed
    }

    /// Evaluates in the order of RFC 9110 §13.2.2: entity tags take precedence over dates.
    ///
    /// `If-Modified-Since` means the date that was sent with the client's copy. A later one says nothing: a pin or a changed choice replaces
    /// a picture by one whose date may be earlier.
    package var outcome: Outcome {
        if let field = fields[.ifMatch] {
            guard EntityTags(field).matchStrongly(validator) else { return .failed }
        } else if let second, let date = date(.ifUnmodifiedSince), second > date {
            return .failed
        }
        if let field = fields[.ifNoneMatch] { return EntityTags(field).matchWeakly(validator) ? .notModified : .met }
        if let second, date(.ifModifiedSince) == second { return .notModified }
        return .met
    }

    /// Whether a range may be sent: `If-Range` is absent or has the entity tag of the representation, alone (RFC 9110 §13.1.5).
    ///
    /// A date never matches. It is the original's and not a strong validator (RFC 9110 §8.8.2.2): variants made of it by two versions of the
    /// server differ, and their parts must not be joined.
    package var allowsRange: Bool {
        guard let field = fields[.ifRange] else { return true }
        return field.isExactly(EntityTags.field(validator))
    }

    /// `modified` with HTTP's resolution of one second.
    private var second: Date? { modified.map { Date(timeIntervalSince1970: $0.timeIntervalSince1970.rounded(.down)) } }

    private func date(_ name: HTTPField.Name) -> Date? {
        guard let modified, let field = fields[name] else { return nil }
        return HTTPDate.parse(field, now: modified)
    }
}

/// The entity tags of an `If-Match` or `If-None-Match` field (RFC 9110 §8.8.3, §13.1).
package struct EntityTags {
    private let isAny: Bool
    private var tags: [(isWeak: Bool, opaque: Substring)] = []

    /// Parses `*` or a list of tags. Stops at the first malformed tag: tags may contain commas, so the rest is ambiguous.
    package init(_ field: String) {
        func isFiller(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") }
        var rest = Substring(field.utf8.drop(while: isFiller))
        isAny = Substring(rest.utf8.prefix { !isFiller($0) }).isExactly("*")
        while !isAny {
            let isWeak = rest.starts(withBytesOf: "W/")
            if isWeak { rest = rest.dropFirst(bytes: 2) }
            guard rest.starts(withBytesOf: "\""), let (tag, more) = rest.dropFirst(bytes: 1).cut(at: "\"") else { return }
            tags.append((isWeak, tag))
            rest = Substring(more.utf8.drop(while: isFiller))
        }
    }

    /// The field value of a response for the strong tag `validator`.
    package static func field(_ validator: String) -> String { "\"\(validator)\"" }

    /// Whether a strong tag equals `validator`.
    package func matchStrongly(_ validator: String) -> Bool {
        isAny || tags.contains { !$0.isWeak && $0.opaque.isExactly(validator) }
    }

    /// Whether a tag equals `validator`, weak tags included.
    package func matchWeakly(_ validator: String) -> Bool { isAny || tags.contains { $0.opaque.isExactly(validator) } }
}
