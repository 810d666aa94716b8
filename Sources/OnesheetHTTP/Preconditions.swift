package import FoundationEssentials
package import HTTPTypes
import OnesheetCore

/// A request's conditions, held against a representation (RFC 9110 §13).
package struct Preconditions {
    private let fields: HTTPFields
    private let validator: String
    private let modified: Date

    /// - Parameters:
    ///   - fields: the request's.
    ///   - validator: the representation's strong validator, without quotes.
    ///   - modified: when it was made.
    package init(fields: HTTPFields, validator: String, modified: Date) {
        (self.fields, self.validator, self.modified) = (fields, validator, modified)
    }

    package enum Outcome {
        case met
        /// The client has it already.
        case notModified
        /// The client wants another one.
        case failed
    }

    /// In the order of §13.2.2: a validator decides, and only without one the date.
    package var outcome: Outcome {
        if let field = fields[.ifMatch] {
            guard EntityTags(field).matchStrongly(validator) else { return .failed }
        } else if let date = date(.ifUnmodifiedSince), second > date {
            return .failed
        }
        if let field = fields[.ifNoneMatch] { return EntityTags(field).matchWeakly(validator) ? .notModified : .met }
        if let date = date(.ifModifiedSince), second <= date { return .notModified }
        return .met
    }

    /// Whether a part may be sent at `now`: without `If-Range`, or where it names this very representation (§13.1.5).
    package func allowsRange(at now: Date) -> Bool {
        guard let field = fields[.ifRange] else { return true }
        if field.contains(mark: "\"") { return !field.starts(withBytesOf: "*") && EntityTags(field).matchStrongly(validator) }
        // A date is as good as a validator once its second is over.
        return date(.ifRange) == second && now.timeIntervalSince(second) >= 1
    }

    /// `modified` as precisely as HTTP can say it.
    private var second: Date { Date(timeIntervalSince1970: modified.timeIntervalSince1970.rounded(.down)) }

    private func date(_ name: HTTPField.Name) -> Date? { fields[name].flatMap { HTTPDate.parse($0, now: modified) } }
}
