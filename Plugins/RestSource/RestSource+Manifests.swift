extension RestSource {
    /// The built-in manifests, by name.
    public static var manifests: [String: String] { Manifest.shipped }
}
