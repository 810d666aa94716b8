import ArgumentParser
import OnesheetServer
import UnixSignals

/// Tells a running server what signals say, and when its files have changed.
struct ServerControl {
    let server: Server
    /// Reads the configuration as the server was started with it.
    let load: @Sendable () throws -> ServerConfiguration
    /// The files that it is in.
    let files: [String]
    /// SIGTERM, SIGINT and SIGHUP, which are caught from the moment on at which this is made.
    private let signals: UnixSignalsSequence

    init(_ server: Server, load: @escaping @Sendable () throws -> ServerConfiguration, files: [String]) async {
        (self.server, self.load, self.files) = (server, load, files)
        signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    }

    /// Goes on until the task is cancelled. SIGTERM and SIGINT end the server, the second one at once; SIGHUP reads the files again.
    func run() async {
        let (wishes, wish) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { for await _ in wishes { server.reload(load) } }
            tasks.addTask { await FileWatch(files).run { wish.yield() } }
            tasks.addTask {
                for await signal in signals {
                    if signal == .sighup { wish.yield() } else if !server.drain() { ServeCommand.exit(withError: ExitCode.failure) }
                }
            }
        }
    }
}
