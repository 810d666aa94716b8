/// Why there is no answer, and everything that others must know about it.
///
/// A failure is judged once, where it is made. Whoever receives one reads the judgement and never asks what has happened. A new reason is
/// one function that returns a `Failure`, in the target that finds it. Contracts, such as `SourceError`, say only what has happened, and
/// one function beside their cases judges it.
package struct Failure: Error, Sendable, Equatable {
    /// Whom it blames.
    package enum Blame: Sendable {
        /// The client has left, or used up its share.
        case client
        /// This server has no room, or cannot work.
        case server
        /// What is asked for does not exist, or cannot be made.
        case request
        case source, origin
        /// The bytes of an original.
        case image
    }

    /// The status of the response. `Problem` gives each its number.
    package enum Status: Sendable {
        case badRequest, forbidden, notFound, conflict, tooLarge, unusable, tooManyRequests, internalError, badGateway, unavailable
        case tooSlow
    }

    /// When another request may succeed.
    package enum Retry: Sendable, Equatable {
        case unknown
        /// After so many seconds.
        case after(Int)
        /// At a time in seconds since 1970, such as the reset of a quota.
        case at(Double)
    }

    /// The seconds for which it is remembered, so that many requests cause one attempt.
    package struct Memory: Sendable, Equatable {
        /// As the failure of an image, or of the original of a title; `nil` is not at all.
        package var image: Double?
        /// As the answer of a source to a question; `nil` is not at all.
        package var question: Double?
        /// Whether a prefetch does not remember it, because it does not hold for other requests.
        var skipsPrefetch: Bool

        package init(image: Double? = nil, question: Double? = nil, skipsPrefetch: Bool = false) {
            self.image = image
            self.question = question
            self.skipsPrefetch = skipsPrefetch
        }
    }

    package struct Traits: OptionSet, Sendable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// A stale image or answer may be used instead (RFC 5861 §4), because there is no answer, or the answer says nothing about the image.
        package static let allowsStale = Traits(rawValue: 1)
        /// The bytes of the original cannot be used, which its header did not show, so it is fetched again.
        package static let dropsOriginal = Traits(rawValue: 2)
        /// A later attempt may fetch the same image, so the choice of a poster stays.
        package static let keepsChoice = Traits(rawValue: 4)
        /// A wrong outline of the original cannot be the reason.
        package static let keepsOutline = Traits(rawValue: 8)
        /// The message has no word of a source or an origin and no URL, so it is also for clients that may not see the source URL.
        package static let namesNoSource = Traits(rawValue: 16)
        /// There is no such title at its source, or no such image at its origin. Another meaning of the address may have one.
        package static let isMissing = Traits(rawValue: 32)
        /// The origin has answered without the image. The title may have another one.
        package static let isRefusal = Traits(rawValue: 64)
        /// The owner has removed the image, so nothing that is made of it is served any more.
        package static let isRemoval = Traits(rawValue: 128)
        /// A prefetch waits as long as `retry` says, and tries again.
        package static let pausesPrefetch = Traits(rawValue: 256)
        /// A list has its earlier pages if a later one fails so: asking again would get the same answer.
        package static let endsList = Traits(rawValue: 512)
        /// Another format of the result may be possible: this one cannot hold the image, or its encoder takes more memory than there is.
        package static let mayFitOtherFormat = Traits(rawValue: 1024)
    }

    package let blame: Blame
    package let status: Status
    /// The kind, in a few words.
    package let title: String
    /// What anyone may read, in one line.
    package private(set) var message: String
    /// What only the log, the commands and the administrator may read.
    package private(set) var details: String?
    /// The reason without the title and without numbers that differ, if the message has such: equal failures are shown as one.
    package let summary: String?
    package let retry: Retry
    package let memory: Memory
    package let traits: Traits

    package init(
        blame: Blame, status: Status, title: String, message: String, details: String? = nil, summary: String? = nil,
        retry: Retry = .unknown, memory: Memory = Memory(), traits: Traits = []
    ) {
        self.blame = blame
        self.status = status
        self.title = title
        self.message = message
        self.details = details
        self.summary = summary
        self.retry = retry
        self.memory = memory
        self.traits = traits
    }
}

extension Failure: CustomStringConvertible {
    /// The whole text, for the log and the administrator.
    package var description: String { details.map { "\(message): \($0)" } ?? message }

    /// Whether another image of the same client would fail as well.
    package var isOurs: Bool { blame == .client || blame == .server }

    /// The text by which equal failures of several titles are grouped, for those who may read `details`.
    package var reason: String { summary ?? description }

    /// The seconds for which `use` remembers it.
    /// - Parameter isPrefetch: whether it is the failure of a prefetch.
    package func seconds(_ use: KeyPath<Memory, Double?>, isPrefetch: Bool) -> Double? {
        memory.skipsPrefetch && isPrefetch ? nil : memory[keyPath: use]
    }

    /// The same for clients that may not see the source URL.
    package var hidingSource: Failure {
        guard !traits.contains(.namesNoSource) else { return self }
        var hidden = self
        hidden.message = "the original behind the encrypted source URL is not available; the server's log has the reason"
        hidden.details = description
        return hidden
    }
}

extension Failure {
    /// Workers, memory or a queue are full. Room is likely after `retryAfter` seconds.
    package static func overloaded(retryAfter seconds: Int) -> Failure {
        Failure(
            blame: .server, status: .unavailable, title: "Overloaded",
            message: "the server has no room for this request at the moment; try again shortly", retry: .after(seconds),
            traits: [.allowsStale, .namesNoSource])
    }

    /// The client has exhausted its share of misses. It has some again after `retryAfter` seconds.
    package static func tooManyRequests(retryAfter seconds: Int) -> Failure {
        Failure(
            blame: .client, status: .tooManyRequests, title: "Too many requests",
            message: "this address has exceeded its share of new images (configuration: clients.perAddress.misses); "
                + "try again after \(seconds) s",
            retry: .after(seconds), traits: .namesNoSource)
    }

    /// The key in the address has had its share of requests. It has some again after `retryAfter` seconds.
    package static func keyIsUsedUp(retryAfter seconds: Int) -> Failure {
        Failure(
            blame: .client, status: .tooManyRequests, title: "Too many requests",
            message: "this key has had its share of requests; try again after \(seconds) s", retry: .after(seconds),
            traits: .namesNoSource)
    }

    /// The caller has left.
    package static let cancelled = Failure(
        blame: .client, status: .unavailable, title: "Cancelled", message: "the request was cancelled", retry: .after(1),
        traits: [.keepsOutline, .namesNoSource])
}
