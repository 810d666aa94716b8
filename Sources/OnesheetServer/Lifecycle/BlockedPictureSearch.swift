import Logging
import OnesheetCore
import OnesheetPipeline
import ServiceLifecycle

/// Looks every second whether other servers have blocked pictures, and purges the titles that show them.
struct BlockedPictureSearch: Service {
    let responder: ReloadableResponder
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while await sleepUnlessCancelled(for: .seconds(1)) {
                do {
                    try await responder.context.posters.searchForBlockedPictures()
                } catch {
                    if Task.isCancelled { return }
                    logger.error("the search for images that another server has blocked is tried again in 30 s: \(error)")
                    // A search reads every original, so the next one waits.
                    _ = await sleepUnlessCancelled(for: .seconds(30))
                }
            }
        }
    }
}
