import OnesheetCore

extension ServerConfiguration {
    /// This configuration with what a running server cannot change as it is in `running`, and the keys of what would have changed.
    func taking(fixedPartsOf running: ServerConfiguration) -> (configuration: ServerConfiguration, fixed: [String]) {
        var configuration = self
        var fixed: [String] = []
        func keep<Value: Equatable>(_ part: WritableKeyPath<ServerConfiguration, Value>, _ key: String) {
            if configuration[keyPath: part] != running[keyPath: part] { fixed.append(key) }
            configuration[keyPath: part] = running[keyPath: part]
        }
        keep(\.listen, "listen")
        keep(\.socketMode, "socketMode")
        keep(\.tls, "tls")
        keep(\.cache, "cache")
        keep(\.limits, "limits")
        keep(\.clients, "clients")
        keep(\.log, "log")
        keep(\.shutdown, "shutdown")
        // The threads that render are made with it.
        keep(\.rendering.deadline, "rendering.deadline")
        configuration.recordReplay = running.recordReplay
        return (configuration, fixed)
    }
}
