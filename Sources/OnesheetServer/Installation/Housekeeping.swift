import Logging
import OnesheetCache
import OnesheetCore
import ServiceLifecycle

/// Removes what has expired, every three minutes, and notices within a second what another process has purged.
struct Housekeeping: Service {
    let memory: MemoryTier
    let disk: DiskTier
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Waiting is the purpose, and it ends by cancellation only.
            let watch = RemovalWatch(memory: memory, disk: disk)
            var seconds = 0
            repeat {
                do { try await watch.look() } catch { logger.debug("purges by others cannot be seen: \(error)") }
                if seconds % 180 == 179 {
                    memory.sweep()
                    do { try await disk.sweep() } catch { logger.warning("the disk tier cannot be swept: \(error)") }
                }
                seconds += 1
            } while (try? await ContinuousClock().sleep(for: .seconds(1))) != nil
        }
    }
}
