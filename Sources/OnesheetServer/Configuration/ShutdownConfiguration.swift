package import OnesheetCore

/// The keys of `shutdown`: how a server ends that is told to.
package struct ShutdownConfiguration: Sendable, Decodable, Equatable {
    /// For how long it says that it is not ready and answers all the same, so that load balancers notice.
    package var delay = Interval(.zero)
    /// For how long after that requests under way may go on.
    package var deadline = Interval(.seconds(30))

    private enum CodingKeys: CodingKey { case delay, deadline }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        delay = try keys.decodeIfPresent(Interval.self, forKey: .delay) ?? delay
        deadline = try keys.decodeIfPresent(Interval.self, forKey: .deadline) ?? deadline
    }
}
