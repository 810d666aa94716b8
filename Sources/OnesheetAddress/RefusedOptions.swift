/// Options of imgproxy that are known and not made here.
enum RefusedOptions {
    /// Those of its paid version, with their short names.
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

    /// Those of its open-source version, with the reason.
    private static let others: [String: String] = [
        "wm": "draws a watermark, and this server has none", "watermark": "draws a watermark, and this server has none",
        "eth": "takes embedded thumbnails, and the picture itself is taken here",
        "enforce_thumbnail": "takes embedded thumbnails, and the picture itself is taken here",
        "skp": "passes originals on unchecked; the size “original” has them as they came",
        "skip_processing": "passes originals on unchecked; the size “original” has them as they came",
        "raw": "passes originals on unchecked; the size “original” has them as they came",
        "mrd": "bounds outcomes, as limits.outputPixels does here",
        "max_result_dimension": "bounds outcomes, as limits.outputPixels does here",
    ]

    /// Why an option is not made; `nil` if there is none of this name.
    static func reason(_ name: String) -> String? {
        if paid.contains(name) { return "option “\(name)” is one of imgproxy's paid version, and is not made here" }
        return others[name].map { "option “\(name)” \($0)" }
    }
}
