import BoxOfficeSource
import Dialects
import ExecSource
import FirstSource
import FolderSource
import FolderStore
import JPEGCodec
public import OnesheetCore
import PNGCodec
import RemoteSource
import RestSource
import S3Store
import SampleSource
import ValkeyCoordinator

#if AVIF
    import AVIFCodec
#endif
#if GIF
    import GIFCodec
#endif
#if HEIC
    import HEICCodec
#endif
#if JXL
    import JPEGXLCodec
#endif
#if TIFF
    import TIFFCodec
#endif
#if WebP
    import WebPCodec
#endif

extension PluginList {
    /// The built-in plugins of Onesheet.
    public static let standard = PluginList(
        sources: [
            SampleSource.self, BoxOfficeSource.self, ExecSource.self, FirstSource.self, FolderSource.self, KakaoSource.self,
            RemoteSource.self, RestSource.self, S3Source.self,
        ],
        codecs: [JPEGCodec.self, PNGCodec.self] + optionalCodecs, decoders: optionalDecoders,
        dialects: [
            ThumborDialect.self, CloudflareDialect.self, IIIFDialect.self, NextDialect.self, TMDBDialect.self, RPDBDialect.self,
            JellyfinDialect.self, PlexDialect.self,
        ],
        stores: [FolderStore.self, S3Store.self], coordinators: [ValkeyCoordinator.self])

    /// The codecs behind package traits.
    private static var optionalCodecs: [any CodecPlugin.Type] {
        var codecs: [any CodecPlugin.Type] = []
        #if WebP
            codecs.append(WebPCodec.self)
        #endif
        #if AVIF
            codecs.append(AVIFCodec.self)
        #endif
        return codecs
    }

    /// The decoders behind package traits.
    private static var optionalDecoders: [any DecoderPlugin.Type] {
        var decoders: [any DecoderPlugin.Type] = []
        #if GIF
            decoders.append(GIFCodec.self)
        #endif
        #if HEIC
            decoders.append(HEICCodec.self)
        #endif
        #if JXL
            decoders.append(JPEGXLCodec.self)
        #endif
        #if TIFF
            decoders.append(TIFFCodec.self)
        #endif
        return decoders
    }
}
