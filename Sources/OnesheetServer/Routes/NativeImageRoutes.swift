import OnesheetAddress
import OnesheetCore

/// `/t/p/{size}/{source}/{id}[.{ext}]`
struct PosterRoute: ImageRoute {
    let prefix = "/t/p/"
    let grammar = "sizes"
    let images: ImageContext

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        let path = try PosterPath(rest, images.options)
        var address = ImageAddress(
            title: path.title.canonical(in: images.sources), transform: path.transform, negotiates: path.negotiates)
        if let unknown = path.unknownExtension {
            address.ifMissing = .refused(unknown)
        } else if let undivided = path.undivided {
            var transform = path.transform
            transform.format = nil
            let whole = ImageAddress(
                title: undivided.canonical(in: images.sources), transform: transform, negotiates: transform != Transform())
            address.ifMissing = .address(whole)
        }
        return address
    }
}

/// `/i/{signature}/{options}/plain/{source-url}[@{ext}]` and `/i/{signature}/{options}/{base64url source-url}[.{ext}]`
struct FreeImageRoute: ImageRoute {
    let prefix = "/i/"
    let grammar = "options"
    let images: ImageContext

    func address(_ rest: Substring) throws(RequestError) -> ImageAddress? {
        let path = try ImagePath(rest, images.options)
        try images.signature.check(path.signature, of: path.signedPath)
        let title = try SourceURL(sources: images.sources).resolve(path.sourceURL)
        var address = ImageAddress(
            title: title, transform: path.options.transform, negotiates: path.negotiates, expires: path.options.expires)
        address.disposition = path.options.disposition
        return address
    }
}
