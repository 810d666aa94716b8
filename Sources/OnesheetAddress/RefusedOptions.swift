/// Options of imgproxy that this server knows but does not support.
enum RefusedOptions {
    /// The options of its paid version, with their short names.
    private static let paid: Set<String> = [
        "a", "adjust", "aq", "autoquality", "avif_options", "avifo", "background_alpha", "bd", "bga", "blur_areas",
        "blur_detections",
        "br", "brightness", "car", "co", "col", "color_profile", "colorize", "contrast", "cp", "crop_ar", "crop_aspect_ratio",
        "cs", "da", "dd", "disable_animation", "dpi", "draw_detections", "dt", "duotone", "fallback_image_url", "fiu", "gr",
        "gradient", "hashsum", "hs", "icc", "jpeg_options", "jpgo", "mc", "monochrome", "obj_pos", "objects_position", "op", "page",
        "pages", "pg", "pgs", "png_options", "pngo", "ra", "resizing_algorithm", "sa", "saturation", "st", "style",
        "unsharp_masking", "unsharpening", "ush", "video_thumbnail_animation", "video_thumbnail_keyframes",
        "video_thumbnail_second", "video_thumbnail_tile", "vta", "vtk", "vts", "vtt", "watermark_rotate", "watermark_shadow",
        "watermark_size", "watermark_text", "watermark_url", "webp_options", "webpo", "wm_rot", "wmr", "wms", "wmsh", "wmt", "wmu",
    ]

    /// The options of its open-source version, with the reason.
    private static let others: [String: String] = [
        "eth": "uses embedded thumbnails; this server always uses the picture itself",
        "enforce_thumbnail": "uses embedded thumbnails; this server always uses the picture itself",
        "skp": "returns originals unchecked; use the size “original” for an original without changes",
        "skip_processing": "returns originals unchecked; use the size “original” for an original without changes",
        "raw": "returns originals unchecked; use the size “original” for an original without changes",
        "mrd": "limits the size of the result; limits.outputPixels in the server's configuration does that",
        "max_result_dimension": "limits the size of the result; limits.outputPixels in the server's configuration does that",
    ]

    /// The reason for refusing the option called `name`; `nil` if imgproxy has no such option.
    static func reason(_ name: String) -> String? {
        if paid.contains(name) { return "option “\(name)” belongs to imgproxy's paid version and is not supported here" }
        return others[name].map { "option “\(name)” \($0)" }
    }
}
