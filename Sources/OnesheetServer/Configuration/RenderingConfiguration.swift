package import OnesheetCore
import OnesheetImaging

/// How variants are made, and what the codecs are configured with.
package struct RenderingConfiguration: Sendable, Decodable {
    /// Whether pictures are resampled in linear light: bright details on dark ground keep their brightness, for more time.
    package var linearLight = false
    /// Whether an original that ends early is taken as far as it goes, instead of being an error.
    package var acceptTruncated = false
    /// How long one render may take, from the first look at an original to the last byte of its variants; `20s` unless said.
    package var deadline = Interval(.seconds(20))
    /// By codec, such as `png: { effort: 9 }`; a codec that is not named has its own defaults.
    package var codecs: [String: ConfigurationValue] = [:]

    private enum CodingKeys: CodingKey { case linearLight, acceptTruncated, deadline, codecs }

    package init() {}

    package init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        linearLight = try keys.decodeIfPresent(Bool.self, forKey: .linearLight) ?? linearLight
        acceptTruncated = try keys.decodeIfPresent(Bool.self, forKey: .acceptTruncated) ?? acceptTruncated
        deadline = try keys.decodeIfPresent(Interval.self, forKey: .deadline) ?? deadline
        guard deadline.duration > .zero else {
            throw ConfigurationError(
                path: "rendering.deadline", message: "needs to be more than 0, such as 20s: no image could be made otherwise")
        }
        codecs = try keys.decodeIfPresent([String: ConfigurationValue].self, forKey: .codecs) ?? codecs
    }

    /// A renderer that works so.
    func renderer(_ codecs: [any Codec], _ limits: Limits) -> Renderer {
        var renderer = Renderer(codecs: codecs, limits: limits)
        renderer.resamplesInLinearLight = linearLight
        renderer.acceptsTruncated = acceptTruncated
        renderer.deadline = deadline.duration
        return renderer
    }
}
