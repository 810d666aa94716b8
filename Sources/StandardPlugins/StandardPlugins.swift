import BoxOfficeSource
import JPEGCodec
import KakaoSource
public import OnesheetCore
import PNGCodec
import RemoteSource
import SampleSource

extension PluginList {
    /// The plugins that come with Onesheet.
    public static let standard = PluginList(
        sources: [SampleSource.self, BoxOfficeSource.self, KakaoSource.self, RemoteSource.self],
        codecs: [JPEGCodec.self, PNGCodec.self])
}
