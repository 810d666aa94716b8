import BoxOfficeSource
import ExecSource
import FolderSource
import JPEGCodec
import KakaoSource
public import OnesheetCore
import PNGCodec
import RemoteSource
import RestSource
import SampleSource

extension PluginList {
    /// The plugins that come with Onesheet.
    public static let standard = PluginList(
        sources: [
            SampleSource.self, BoxOfficeSource.self, ExecSource.self, FolderSource.self, KakaoSource.self, RemoteSource.self,
            RestSource.self,
        ],
        codecs: [JPEGCodec.self, PNGCodec.self])
}
