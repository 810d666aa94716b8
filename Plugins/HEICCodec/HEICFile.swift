#if HEIC
    internal import CHEIF
    internal import OnesheetCore

    /// Reads one file with libheif. The bytes stay in place during its lifetime.
    struct HEICFile: ~Copyable {
        private let context: OpaquePointer
        private let handle: OpaquePointer
        /// The size after cropping and turning.
        let width: Int
        let height: Int
        let hasAlpha: Bool
        let isPremultiplied: Bool

        /// The largest side of a picture or tile.
        private static let largestSide: Int32 = 65_535

        /// - Parameter bytes: must stay in place during the lifetime of this object.
        init(_ bytes: UnsafeBufferPointer<UInt8>) throws(CodecError) {
            let pictures = try HEICPictures(bytes)
            guard let context = heif_context_alloc() else { throw .outOfMemory }
            // Tiles are decoded on this thread. libde265 adds one of its own for each picture, which cannot be turned off.
            heif_context_set_max_decoding_threads(context, 0)
            heif_context_set_maximum_image_size_limit(context, Self.largestSide)
            let handle: OpaquePointer
            do throws(CodecError) {
                handle = try Self.primary(context, of: bytes, pictures: pictures)
            } catch {
                heif_context_free(context)
                throw error
            }
            self.context = context
            self.handle = handle
            width = Int(heif_image_handle_get_width(handle))
            height = Int(heif_image_handle_get_height(handle))
            hasAlpha = heif_image_handle_has_alpha_channel(handle) != 0
            isPremultiplied = heif_image_handle_is_premultiplied_alpha(handle) != 0
        }

        /// The primary picture, whose size is usable.
        private static func primary(
            _ context: OpaquePointer, of bytes: UnsafeBufferPointer<UInt8>, pictures: HEICPictures
        ) throws(CodecError) -> OpaquePointer {
            try check(heif_context_read_from_memory_without_copy(context, bytes.baseAddress, bytes.count, nil))
            var found: OpaquePointer?
            try check(heif_context_get_primary_image_handle(context, &found))
            guard let handle = found else { throw .damaged(reason: "there is no primary image") }
            let (width, height) = (Int(heif_image_handle_get_width(handle)), Int(heif_image_handle_get_height(handle)))
            do throws(CodecError) {
                guard width > 0, height > 0 else { throw .damaged(reason: "the image has no pixels") }
                try pictures.check(width: width, height: height)
            } catch {
                heif_image_handle_release(handle)
                throw error
            }
            return handle
        }

        deinit {
            heif_image_handle_release(handle)
            heif_context_free(context)
        }

        /// The TIFF structure of the first `Exif` item.
        var exif: [UInt8]? {
            var id: heif_item_id = 0
            guard heif_image_handle_get_list_of_metadata_block_IDs(handle, "Exif", &id, 1) == 1 else { return nil }
            let size = heif_image_handle_get_metadata_size(handle, id)
            guard (5...ImageHeader.largestEXIF).contains(size) else { return nil }
            var bytes = [UInt8](repeating: 0, count: size)
            guard heif_image_handle_get_metadata(handle, id, &bytes).code == heif_error_Ok else { return nil }
            // The item begins with the distance to the structure.
            let start = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
            return start < size - 4 ? Array(bytes[(4 + start)...]) : nil
        }

        /// The colour space: a profile, or else code points (ITU-T H.273).
        var colors: ColorDescription {
            get throws(CodecError) {
                let size = heif_image_handle_get_raw_color_profile_size(handle)
                if (1...ImageHeader.largestProfile).contains(size) {
                    var profile = [UInt8](repeating: 0, count: size)
                    if heif_image_handle_get_raw_color_profile(handle, &profile).code == heif_error_Ok { return .icc(profile) }
                }
                var points: UnsafeMutablePointer<heif_color_profile_nclx>?
                guard heif_image_handle_get_nclx_color_profile(handle, &points).code == heif_error_Ok, let points else {
                    return .sRGB
                }
                defer { heif_nclx_color_profile_free(points) }
                return try ColorDescription(
                    primaries: Int(points.pointee.color_primaries.rawValue),
                    transfer: Int(points.pointee.transfer_characteristics.rawValue))
            }
        }

        /// Decodes, crops and turns the picture, in 8 bits.
        func decode() throws(CodecError) -> HEICPixels {
            guard let options = heif_decoding_options_alloc() else { throw .outOfMemory }
            defer { heif_decoding_options_free(options) }
            options.pointee.convert_hdr_to_8bit = 1
            options.pointee.strict_decoding = 1
            var image: OpaquePointer?
            try Self.check(
                heif_decode_image(
                    handle, &image, heif_colorspace_RGB, hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB,
                    options))
            guard let image else { throw .damaged(reason: "there is no image") }
            return try HEICPixels(image, width: width, height: height, hasAlpha: hasAlpha)
        }

        private static func check(_ error: heif_error) throws(CodecError) {
            guard error.code != heif_error_Ok else { return }
            let message = error.message.map { String(cString: $0) } ?? "the file is not valid"
            switch error.code {
            case heif_error_Memory_allocation_error where error.subcode != heif_suberror_Security_limit_exceeded:
                throw .outOfMemory
            case heif_error_Unsupported_feature, heif_error_Unsupported_filetype: throw .unsupported(message)
            default:
                if error.subcode == heif_suberror_End_of_data { throw .truncated }
                throw .damaged(reason: message)
            }
        }
    }
#endif
