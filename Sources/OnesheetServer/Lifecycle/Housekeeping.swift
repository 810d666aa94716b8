import CLinux
import Logging
import OnesheetCache
import OnesheetCore
import ServiceLifecycle

/// Removes expired entries every three minutes. Checks for purges by other processes every second, and
/// returns free memory to the system four times a second.
struct Housekeeping: Service {
    let cache: Cache
    let disk: DiskTier
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Separately: a sweep of a large folder takes longer than a second.
            async let checks: Void = repeatedly(every: .seconds(1)) { await cache.invalidations.check() }
            async let pages: Void = repeatedly(every: .milliseconds(250)) { cmemory_return_free_pages() }
            async let sweeps: Void = repeatedly(every: .seconds(180)) {
                cache.memory.sweep()
                do { try await disk.sweep() } catch { logger.warning("cannot sweep the disk tier: \(error)") }
            }
            _ = await (checks, pages, sweeps)
        }
    }

    private func repeatedly(every pause: Duration, _ work: @Sendable () async -> Void) async {
        while await sleepUnlessCancelled(for: pause) { await work() }
    }
}
