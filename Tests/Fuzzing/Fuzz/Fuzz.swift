import CFuzzing
import Foundation

/// `fuzz KIND …` passes arbitrary bytes to one of our parsers, with further arguments for libFuzzer. `fuzz seeds FOLDER` writes
/// seed files of all kinds.
@main
enum Fuzz {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else { return usage() }
        switch arguments[1] {
        case "jpeg": run { FuzzDecoders.jpeg(UnsafeBufferPointer(start: $0, count: $1)) }
        case "jpeg-corner": run { bytes, count in bytes.map { cfuzzing_jpeg_corner($0, count) } ?? 0 }
        case "png": run { FuzzDecoders.png(UnsafeBufferPointer(start: $0, count: $1)) }
        case "webp": run { FuzzDecoders.webp(UnsafeBufferPointer(start: $0, count: $1)) }
        case "avif": run { FuzzDecoders.avif(UnsafeBufferPointer(start: $0, count: $1)) }
        case "gif": run { FuzzDecoders.gif(UnsafeBufferPointer(start: $0, count: $1)) }
        #if TIFF
            case "tiff": run { FuzzDecoders.tiff(UnsafeBufferPointer(start: $0, count: $1)) }
        #endif
        #if HEIC
            case "heic": run { FuzzDecoders.heic(UnsafeBufferPointer(start: $0, count: $1)) }
        #endif
        #if JXL
            case "jxl": run { FuzzDecoders.jxl(UnsafeBufferPointer(start: $0, count: $1)) }
        #endif
        case "png-paths": run { FuzzPNGPaths.run(UnsafeBufferPointer(start: $0, count: $1)) }
        case "png-encoding": run { FuzzPNGEncoding.run(UnsafeBufferPointer(start: $0, count: $1)) }
        case "render": run { FuzzRender.run(UnsafeBufferPointer(start: $0, count: $1)) }
        case "options": run { FuzzOptions.run(UnsafeBufferPointer(start: $0, count: $1)) }
        case "s3": run { FuzzS3.run(UnsafeBufferPointer(start: $0, count: $1)) }
        case "resp": run { FuzzRESP.run(UnsafeBufferPointer(start: $0, count: $1)) }
        case "seeds" where arguments.count == 3: try FuzzSeeds.write(to: URL(fileURLWithPath: arguments[2]))
        default: usage()
        }
    }

    /// Starts libFuzzer without the argument for the kind.
    private static func run(_ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt) -> Never {
        exit(cfuzzing_run(CommandLine.argc - 1, CommandLine.unsafeArgv + 1, target))
    }

    private static func usage() {
        print(
            "usage: fuzz jpeg|jpeg-corner|png|webp|avif|gif|tiff|heic|jxl|png-paths|png-encoding|render|options|resp|s3 [ARGUMENT OF LIBFUZZER] …\n       fuzz seeds FOLDER"
        )
        exit(64)
    }
}
