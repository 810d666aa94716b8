import NIOCore

extension Channel {
    /// Runs `body`, and closes the channel if the task is cancelled.
    func closedWhenCancelled(_ body: () async -> Void) async {
        await withTaskCancellationHandler(operation: body) { close(promise: nil) }
    }
}

extension EventLoopFuture where Value: Sendable {
    /// Keeps the value until `channel` is closed. The process would end if an open channel's `NIOAsyncChannel` were released unused,
    /// for example because the server stops while the connection is accepted.
    func kept(whileOpen channel: any Channel) -> EventLoopFuture<Value> {
        map { value in
            channel.closeFuture.whenComplete { _ in withExtendedLifetime(value) {} }
            return value
        }
    }
}
