/// Which image of a title is meant: one of a kind, in the best of some languages. Written `poster`, `backdrop` or `logo.ko.original.none`,
/// with characters that no client and no proxy changes.
public struct ImageSelector: Hashable, Sendable, CustomStringConvertible {
    public var kind: ImageKind
    /// `nil` leaves the languages to the source's configuration.
    public var languages: LanguageList?

    public init(_ kind: ImageKind, in languages: LanguageList? = nil) {
        self.kind = kind
        self.languages = languages
    }

    /// The poster, in the languages of the source.
    public static let poster = ImageSelector(.poster)

    /// - Throws: `RequestError` with the kind that is unknown, or the text that is not a language.
    public init(_ text: some StringProtocol) throws(RequestError) {
        let text = Substring(text)
        guard let (kind, languages) = text.cut(at: ".") else {
            self.init(try ImageKind.named(text))
            return
        }
        self.init(try ImageKind.named(kind), in: try LanguageList(languages))
    }

    public var description: String { ([kind.rawValue] + [languages?.description].compactMap { $0 }).joined(separator: ".") }
}

extension ImageSelector {
    /// As the arguments of an option.
    package var arguments: String { ([kind.rawValue] + (languages?.entries.map(\.description) ?? [])).joined(separator: ":") }
}

extension ImageSelector: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(try container.decode(String.self))
        } catch let error as RequestError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(error)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// What is made of each title: one of its images, as a transform of it.
package struct ImageVariant: Hashable, Sendable {
    package let selector: ImageSelector
    package let transform: Transform

    package init(_ selector: ImageSelector, _ transform: Transform) {
        self.selector = selector
        self.transform = transform
    }
}

/// Names one image of one title. Written as the title for its poster, `tmdb://550`, and with the selector before it for any other image,
/// `logo.ko@tmdb://550`: no source has such a name.
public struct ImageReference: Hashable, Sendable, CustomStringConvertible {
    public let title: TitleReference
    public let selector: ImageSelector

    public init(_ title: TitleReference, _ selector: ImageSelector = .poster) {
        self.title = title
        self.selector = selector
    }

    /// Reads what `description` has written.
    package init?(written text: String) {
        guard let title = TitleReference(written: text) else { return nil }
        guard let (selector, source) = title.source.cut(at: "@") else {
            self.init(title)
            return
        }
        do throws(RequestError) {
            self.init(TitleReference(source: String(source), id: title.id), try ImageSelector(selector))
        } catch {
            return nil
        }
    }

    public var description: String { selector == .poster ? title.description : "\(selector)@\(title)" }
}
