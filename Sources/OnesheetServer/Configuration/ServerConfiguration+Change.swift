import OnesheetCore

extension ServerConfiguration {
    /// This configuration with the values of `running` for keys that a running server cannot change, and the list of such keys that
    /// differ.
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
        // The render threads are created with this deadline.
        keep(\.rendering.deadline, "rendering.deadline")
        configuration.recordReplay = running.recordReplay
        return (configuration, fixed)
    }
}
