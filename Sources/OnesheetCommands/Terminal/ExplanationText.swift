import FoundationEssentials
import OnesheetServer

/// An explanation as lines of a name and a text.
struct ExplanationText {
    let lines: [(name: String, text: String)]

    init(_ explanation: ExplanationDocument) {
        var lines = [
            ("title", explanation.title), ("image", ([explanation.image] + explanation.choice).joined(separator: "; ")),
            ("canonical", explanation.canonical ?? "none: it cannot be derived from presets"),
            ("options", explanation.options.isEmpty ? "none: the original pixels" : explanation.options.joined(separator: "/")),
            ("format", (explanation.format ?? "the original's") + (explanation.negotiated ? ", selected by Accept" : "")),
            ("key", explanation.key),
        ]
        lines.append(("cache", explanation.stored.map(Self.stored) ?? "no tier has it"))
        lines.append(("original", explanation.originalTier.map { "in \($0)" } ?? "no tier has it; a request fetches it"))
        if let failure = explanation.failure { lines.append(("failure", failure)) }
        if let fallback = explanation.fallback {
            lines.append(("fallback", "a redirect to \(fallback) if the image cannot be made"))
        }
        if let stages = explanation.stages { lines.append(("this time", Self.times(stages))) }
        if let making = explanation.lastMaking {
            let times = making.stages.isEmpty ? "" : ": " + Self.times(making.stages)
            let kept = making.isStorable ? "" : ", not kept: its origin forbids it"
            lines.append(("last made", "\(Self.text(making.began)), \(making.outcome)\(kept)\(times)"))
        }
        if let purge = explanation.purge {
            lines.append(("purge", "\(purge.tag) would remove \(purge.entries) entries, \(purge.bytes) bytes"))
        }
        self.lines = lines
    }

    private static func stored(_ stored: ExplanationDocument.Stored) -> String {
        let size = stored.width.flatMap { width in stored.height.map { "\(width)×\($0), " } } ?? ""
        let fresh = stored.freshUntil.map { ", fresh until \(text($0))" } ?? ""
        return "\(stored.state) in \(stored.tier), \(size)\(stored.bytes) bytes, \(stored.mediaType), \(stored.age) s old\(fresh)"
    }

    private static func times(_ stages: [ExplanationDocument.Stage]) -> String {
        stages.map { "\($0.stage) \($0.milliseconds) ms" }.joined(separator: ", ")
    }

    private static func text(_ date: Date) -> String { date.formatted(.iso8601) }
}
