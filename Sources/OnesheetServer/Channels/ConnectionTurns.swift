import NIOCore

/// Lets the HTTP/2 connections of an event loop take turns. If a client sends many requests at once, its connection passes some of them to
/// the router and then waits here (`StreamRequests`). So it delays the other connections by a few milliseconds at a time.
///
/// NIO runs all tasks that are due before it looks at its sockets again. So one task is scheduled at a time, for all connections that wait.
/// It becomes due a pause after the tasks that the turn before has left, such as the responses of its requests.
final class ConnectionTurns {
    /// How long the loop may look at its sockets between two turns.
    private static let pause = TimeAmount.microseconds(200)

    private let loop: any EventLoop
    private var waiting = CircularBuffer<() -> Bool>()

    init(on loop: any EventLoop) { self.loop = loop }

    /// Calls `turn` once, after the turns of those that wait already.
    /// - Parameter turn: returns whether the connection is still there.
    func wait(_ turn: @escaping () -> Bool) {
        waiting.append(turn)
        if waiting.count == 1 { schedule() }
    }

    private func schedule() {
        let here = NIOLoopBound(self, eventLoop: loop)
        loop.execute {
            here.value.loop.scheduleTask(in: Self.pause) { here.value.next() }
        }
    }

    private func next() {
        // The first stays in line during its turn: if it waits again, that schedules no second task.
        while let turn = waiting.first {
            let wasThere = turn()
            waiting.removeFirst()
            if wasThere { break }
        }
        if !waiting.isEmpty { schedule() }
    }
}
