import NIOCore
import Synchronization

/// A value for each event loop, which is used on that loop only and without a lock. Only finding it takes one, once for each connection.
final class LoopLocal<Value>: Sendable {
    private let values = Mutex<[ObjectIdentifier: NIOLoopBound<Value>]>([:])
    private let make: @Sendable (any EventLoop) -> Value

    /// - Parameter make: creates the value of an event loop, on that loop.
    init(_ make: @escaping @Sendable (any EventLoop) -> Value) { self.make = make }

    /// - Parameter loop: the event loop that the caller runs on.
    func value(on loop: any EventLoop) -> Value {
        values.withLock { values in
            if let bound = values[ObjectIdentifier(loop)] { return bound.value }
            let bound = NIOLoopBound(make(loop), eventLoop: loop)
            values[ObjectIdentifier(loop)] = bound
            return bound.value
        }
    }

    /// Calls `body` with each value that exists, on its event loop.
    func forEach(_ body: @escaping @Sendable (Value) -> Void) {
        for bound in values.withLock({ Array($0.values) }) { bound.eventLoop.execute { body(bound.value) } }
    }
}
