import Foundation

// Works on a folder until it is killed, so that a test sees what a killed program leaves: on a cache (stores, reads, removes, purges and
// evicts, all concurrently), or on a store of objects. Prints a letter for each operation, so that the test knows that it has begun.

let arguments = CommandLine.arguments.dropFirst()
do {
    switch (arguments.first, arguments.count, arguments.last.flatMap(UInt64.init)) {
    case ("cache", 3, let seed?): try await CacheTraffic.run(folder: arguments[2], seed: seed)
    case ("store", 2, _): try await StoreTraffic.run(folder: arguments[2])
    default:
        FileHandle.standardError.write(Data("usage: Crasher cache FOLDER SEED | store FOLDER\n".utf8))
        exit(64)
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
