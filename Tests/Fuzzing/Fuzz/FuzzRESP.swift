import NIOCore
import OnesheetCore
import ValkeyCoordinator

/// Arbitrary bytes are replies or a typed error, the same however they are cut. Whole replies are read as maps of a cluster, and errors as
/// redirects.
enum FuzzRESP {
    private static let address = ValkeyAddress(host: "127.0.0.1", port: 7000)

    static func run(_ bytes: UnsafeBufferPointer<UInt8>) -> CInt {
        guard let size = bytes.first else { return 0 }
        let bytes = bytes[1...]
        let whole = replies(bytes, in: bytes.count)
        let cut = replies(bytes, in: Int(size % 16) + 1)
        precondition(whole.values == cut.values && whole.isBroken == cut.isBroken, "replies depend on how the bytes are cut")
        for value in whole.values { use(value) }
        return 0
    }

    private static func replies(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, in size: Int) -> (values: [RESPValue], isBroken: Bool) {
        var limits = RESPParser.Limits()
        (limits.line, limits.bytes, limits.values) = (1_000, 20_000, 500)
        var parser = RESPParser(limits: limits)
        var values: [RESPValue] = []
        do throws(RESPError) {
            for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: max(1, size)) {
                parser.append(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.endIndex)]))
                while let value = try parser.next() { values.append(value) }
            }
            return (values, false)
        } catch {
            precondition(!error.reason.isEmpty, "an error without words")
            return (values, true)
        }
    }

    private static func use(_ value: RESPValue) {
        if case .error(let text) = value { _ = Redirect(text, from: address) }
        do throws(RESPError) {
            let topology = try Topology(slots: value, from: address)
            precondition(!topology.masters.isEmpty, "a map without a node")
            for slot in stride(from: 0, to: HashSlot.count, by: 1_000) {
                precondition(topology.master(of: slot).map(topology.masters.contains) ?? true, "a slot with a strange master")
            }
        } catch {}
    }
}
