package import OnesheetCore

/// The keys of `shutdown`: graceful shutdown.
package struct ShutdownConfiguration: Sendable, ConfigurationSection, Equatable {
    package var delay = Interval(.zero)
    package var deadline = Interval(.seconds(30))

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting("delay", \.delay, meaning: "after SIGTERM `/ready` says 503 for so long while everything is answered"),
            Setting("deadline", \.deadline, meaning: "how long requests under way may go on after that"),
        ]
    }
}
