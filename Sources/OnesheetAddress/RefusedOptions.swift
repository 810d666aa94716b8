/// Options of imgproxy that this server knows but does not support. Those of its open-source version are all supported.
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

    /// The reason for refusing the option called `name`; `nil` if imgproxy's paid version has no such option.
    static func reason(_ name: String) -> String? {
        paid.contains(name) ? "option “\(name)” belongs to imgproxy's paid version and is not supported here" : nil
    }
}
