import NIOCore

/// Lets the HTTP/2 connections of an event loop take turns. A connection whose client sends many requests at once handles some of them and
/// then waits here, so that other connections of the loop wait a few milliseconds at most.
///
/// NIO runs all tasks that are due before it looks at its sockets again. So one task is scheduled at a time, for all connections that wait,
/// and it becomes due after the pause.
final class ConnectionTurns {
    /// How long the loop may look at its sockets between two turns.
    private static let pause = TimeAmount.microseconds(200)

    private let loop: any EventLoop
    private var waiting = CircularBuffer<() -> Void>()

    init(on loop: any EventLoop) { self.loop = loop }

    /// Calls `turn` once, after the turns of those that wait already.
    func wait(_ turn: @escaping () -> Void) {
        waiting.append(turn)
        if waiting.count == 1 { schedule() }
    }

    private func schedule() {
        let here = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: Self.pause) { here.value.next() }
    }

    private func next() {
        // The first stays in line during its turn: if it waits again, that schedules no second task.
        waiting.first?()
        waiting.removeFirst()
        if !waiting.isEmpty { schedule() }
    }
}
