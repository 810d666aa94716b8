import OnesheetAddress
import OnesheetCore

/// `/t/p/{size}/{source}/{id}[.{ext}]`
struct PosterRoute: ImageRoute {
    let prefix = "/t/p/"
    let images: ImageContext

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        let path = try PosterPath(rest, images.options)
        return ImageAddress(
            title: path.title.canonical(in: images.sources), transform: path.transform, negotiates: path.negotiates)
    }
}

/// `/i/{signature}/{options}/plain/{source-url}[@{ext}]` and `/i/{signature}/{options}/{base64url source-url}[.{ext}]`
struct FreeImageRoute: ImageRoute {
    let prefix = "/i/"
    let images: ImageContext

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        let path = try ImagePath(rest, images.options)
        try images.signature.check(path.signature, of: path.signedPath)
        let title = try SourceURL(sources: images.sources).resolve(path.sourceURL)
        return ImageAddress(
            title: title, transform: path.options.transform, negotiates: path.negotiates, expires: path.options.expires)
    }
}
