import Foundation
import OnesheetCache
import OnesheetCore

// Works on a cache folder until it is killed: stores, reads, removes, purges and evicts, all concurrently. Prints a letter for each
// operation, so that the test knows that it has begun. Arguments: folder, seed.

let arguments = CommandLine.arguments
guard arguments.count == 3, let seed = UInt64(arguments[2]) else {
    FileHandle.standardError.write(Data("usage: CacheCrasher FOLDER SEED\n".utf8))
    exit(64)
}

do {
    let tier = try DiskTier(path: arguments[1], budgets: CrashTraffic.budgets, extending: .cacheTime, threads: 4)
    await withTaskGroup(of: Void.self) { group in
        for worker in 0..<4 {
            group.addTask { await CrashTraffic(tier: tier, seed: seed &* 4 &+ UInt64(worker)).run() }
        }
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
