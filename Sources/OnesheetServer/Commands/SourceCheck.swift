import NIOCore
import OnesheetCore
import OnesheetPipeline

/// Tries a configured source: each step builds on the one before.
struct SourceCheck: Sendable {
    struct Step: Encodable, Sendable {
        let what: String
        let passed: Bool
        let outcome: String
    }

    let installation: Installation
    let name: String

    func run() async -> [Step] {
        var steps: [Step] = []
        var id: String?
        do {
            let page = try await installation.catalog.titles(of: name, TitleQuery())
            id = page.titles.first?.id
            steps.append(Step(what: "newest list", passed: !page.titles.isEmpty, outcome: "\(page.titles.count) titles"))
        } catch PipelineError.source(_, .unsupported(let what)) {
            steps.append(Step(what: "newest list", passed: true, outcome: "this source does not do that: \(what)"))
        } catch {
            steps.append(Step(what: "newest list", passed: false, outcome: "\(error)"))
        }
        guard let id else { return steps }
        let title = TitleReference(source: name, id: id)
        await steps.append(step("title \(id)") { try await installation.catalog.title(title).name })
        await steps.append(step("candidates of \(id)") { "\(try await installation.catalog.candidates(for: title).count) places" })
        await steps.append(
            step("poster of \(id)") {
                let answer = try await installation.pipeline.image(for: ImageRequest(title, try SizeLadder.transform("w185")))
                return "\(answer.entry.mediaType), \(answer.entry.body.readableBytes) bytes"
            })
        return steps
    }

    private func step(_ what: String, _ work: () async throws -> String) async -> Step {
        do {
            return Step(what: what, passed: true, outcome: try await work())
        } catch {
            return Step(what: what, passed: false, outcome: "\(error)")
        }
    }
}
