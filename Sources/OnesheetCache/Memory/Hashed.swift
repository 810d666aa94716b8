/// A key with its hash, made once and before a lock is taken, so that the lock is held for less.
///
/// The hash is Swift's own, seeded anew in each process: nobody can choose keys that collide.
package struct Hashed<Key: Hashable>: Equatable {
    package let key: Key
    let hash: UInt

    package init(_ key: Key) {
        self.key = key
        hash = UInt(bitPattern: key.hashValue)
    }

    package static func == (left: Self, right: Self) -> Bool { left.hash == right.hash && left.key == right.key }
}

extension Hashed: Sendable where Key: Sendable {}
