package import OnesheetCore

/// The keys of `shutdown`: graceful shutdown.
package struct ShutdownConfiguration: Sendable, ConfigurationSection, Equatable {
    package var delay = Interval(.zero)
    package var deadline = Interval(.seconds(30))

    package init() {}

    package static var settings: [Setting<Self>] {
        [
            Setting(
                "delay", \.delay, meaning: "time after SIGTERM in which `/ready` answers 503 and other requests are still answered"),
            Setting("deadline", \.deadline, meaning: "time for requests in progress to end after that"),
        ]
    }
}
