import ArgumentParser
import OnesheetServer
import UnixSignals

/// Controls a running server: signals, and changes of its files.
struct ServerControl {
    let server: Server
    /// Loads the configuration with the command line's options.
    let load: @Sendable () throws -> ServerConfiguration
    /// The files to watch.
    let files: [String]
    /// SIGTERM, SIGINT and SIGHUP, trapped from initialization on.
    private let signals: UnixSignalsSequence

    init(_ server: Server, load: @escaping @Sendable () throws -> ServerConfiguration, files: [String]) async {
        (self.server, self.load, self.files) = (server, load, files)
        signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    }

    /// Runs until the task is cancelled. SIGTERM and SIGINT shut the server down gracefully, or at once when repeated. SIGHUP
    /// reloads the files.
    func run() async {
        let (reloads, request) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { for await _ in reloads { server.reload(load) } }
            tasks.addTask { await FileWatch(files).run { request.yield() } }
            tasks.addTask {
                for await signal in signals {
                    if signal == .sighup {
                        request.yield()
                    } else if !server.drain() {
                        ServeCommand.exit(withError: ExitCode.failure)
                    }
                }
            }
        }
    }
}
