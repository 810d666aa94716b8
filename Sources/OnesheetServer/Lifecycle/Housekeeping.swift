import Logging
import OnesheetCache
import OnesheetCore
import ServiceLifecycle

/// Removes what has expired, every three minutes, and notices within a second what another process has purged.
struct Housekeeping: Service {
    let cache: Cache
    let disk: DiskTier
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var seconds = 0
            repeat {
                await cache.invalidations.check()
                if seconds % 180 == 179 {
                    cache.memory.sweep()
                    do { try await disk.sweep() } catch { logger.warning("the disk tier cannot be swept: \(error)") }
                }
                seconds += 1
            } while await sleepUnlessCancelled(for: .seconds(1))
        }
    }
}
