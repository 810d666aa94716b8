import Logging
import OnesheetCache
import OnesheetCore
import ServiceLifecycle

/// Removes expired entries every three minutes, and checks for purges by other processes every second.
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
                    do { try await disk.sweep() } catch { logger.warning("cannot sweep the disk tier: \(error)") }
                }
                seconds += 1
            } while await sleepUnlessCancelled(for: .seconds(1))
        }
    }
}
