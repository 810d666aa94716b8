import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import SampleSource
import StandardPlugins
import Synchronization

/// The sample source, but each poster is painted once for a build. Without optimisation, painting takes half of the tests' time.
struct PaintedPosters: SourcePlugin {
    static let type = SampleSource.type
    static let sampleConfiguration = SampleSource.sampleConfiguration

    private static let painted = Mutex<[String: ByteBuffer]>([:])

    private let source: SampleSource

    init(_ configuration: NoConfiguration, context: PluginContext) {
        source = SampleSource(configuration, context: context)
    }

    var originPolicy: OriginPolicy { source.originPolicy }
    var asksService: Bool { source.asksService }
    var capabilities: SourceCapabilities { source.capabilities }

    func titles(_ query: TitleQuery) async throws(SourceError) -> TitlePage { try await source.titles(query) }

    func title(_ id: String) async throws(SourceError) -> Title { try await source.title(id) }

    func candidates(for id: String) async throws(SourceError) -> [PosterCandidate] {
        try await source.candidates(for: id).map { candidate in
            guard case .local(let name, let paint) = candidate.location else { return candidate }
            var candidate = candidate
            candidate.location = .local(name: name) { () throws(SourceError) in
                if let bytes = Self.painted.withLock({ $0[name] }) { return bytes }
                let bytes = try Self.kept(name, paint)
                Self.painted.withLock { $0[name] = bytes }
                return bytes
            }
            return candidate
        }
    }

    /// The poster that a process of this build has painted and kept.
    private static func kept(
        _ name: String, _ paint: () throws(SourceError) -> ByteBuffer
    ) throws(SourceError) -> ByteBuffer {
        let label = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        do {
            let file = try BuildFixture.item("poster-\(label)", of: URL(filePath: CommandLine.arguments[0])) { file in
                try Data(try paint().readableBytesView).write(to: file)
            }
            return ByteBuffer(bytes: try Data(contentsOf: file))
        } catch let error as SourceError {
            throw error
        } catch {
            // If the build folder is not writable, each process paints its own.
            return try paint()
        }
    }
}

extension PluginList {
    /// The standard plugins, with posters that are painted once.
    static var painted: PluginList {
        var plugins = standard
        plugins.sources = plugins.sources.map { $0.type == SampleSource.type ? PaintedPosters.self : $0 }
        return plugins
    }
}
