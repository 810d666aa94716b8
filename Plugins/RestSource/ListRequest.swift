internal import OnesheetCore

/// A request for a page of titles.
struct ListRequest: Sendable, Decodable {
    var request: RestRequest
    /// The place of the list.
    var items: Items
    /// The number of titles on all pages.
    var total: Count?
    /// The number of pages.
    var pages: Count?
    /// The place of what a response with a further page has: `true`, an address, a number.
    var next: JSONPointer?
    /// The titles on a full page, if only `total` is known, and the step of `offset`.
    var perPage: Int?
    /// The last page that the service gives out, if it counts more; it refuses those after it.
    var lastPage: Int?
    /// The service's number of the first page.
    var firstPage: Int?
    /// The service's offset of the first title.
    var firstOffset: Int?
    var fields: TitleFields

    private enum CodingKeys: CodingKey { case items, total, pages, next, perPage, lastPage, firstPage, firstOffset, fields }

    init(from decoder: any Decoder) throws {
        let keys = try decoder.container(keyedBy: CodingKeys.self)
        request = try RestRequest(from: decoder)
        items = try keys.decode(Items.self, forKey: .items)
        total = try keys.decodeIfPresent(Count.self, forKey: .total)
        pages = try keys.decodeIfPresent(Count.self, forKey: .pages)
        next = try keys.decodeIfPresent(JSONPointer.self, forKey: .next)
        perPage = try keys.decodeIfPresent(Int.self, forKey: .perPage)
        lastPage = try keys.decodeIfPresent(Int.self, forKey: .lastPage)
        firstPage = try keys.decodeIfPresent(Int.self, forKey: .firstPage)
        firstOffset = try keys.decodeIfPresent(Int.self, forKey: .firstOffset)
        fields = try keys.decode(TitleFields.self, forKey: .fields)
    }

    /// Whether it asks for one page at a time.
    var isPaged: Bool { !request.allNames.isDisjoint(with: ["page", "offset"]) }

    /// The variables that say which page is asked for, from 1; `nil` if no service counts so far.
    func values(ofPage page: Int) -> [String: String]? {
        let (number, isFarPage) = (page - 1).addingReportingOverflow(firstPage ?? 1)
        let (start, isFar) = (page - 1).multipliedReportingOverflow(by: perPage ?? 0)
        let (offset, isFarther) = start.addingReportingOverflow(firstOffset ?? 0)
        guard !isFarPage, !isFar, !isFarther else { return nil }
        return ["page": String(number), "offset": String(offset)]
    }

    /// Whether there is a page after `page`, as far as the response says.
    func hasPage(after page: Int, _ answer: RestAnswer) -> Bool {
        if let pages = pages?.value(in: answer) { return page < pages }
        if let perPage, let total = total?.value(in: answer) { return page <= (max(total, 1) - 1) / perPage }
        switch next.flatMap({ $0.value(in: answer.document) }) {
        case nil, .null?, .bool(false)?, .string("")?: return false
        case .array(let members)?: return !members.isEmpty
        case .object(let members)?: return !members.isEmpty
        case .bool?, .string?, .integer?, .number?: return true
        }
    }
}

/// The place of a number: a pointer, or `{ header: X-Pagination-Page-Count }`.
enum Count: Sendable, Decodable {
    case place(JSONPointer)
    case header(String)

    private enum CodingKeys: CodingKey { case header }

    init(from decoder: any Decoder) throws {
        if case .scalar = try ConfigurationValue(from: decoder) {
            self = .place(try JSONPointer(from: decoder))
        } else {
            self = .header(try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .header).lowercased())
        }
    }

    func value(in answer: RestAnswer) -> Int? {
        switch self {
        case .place(let place): place.value(in: answer.document)?.plainText.flatMap { Int($0) }
        case .header(let name): answer.headers[name].flatMap { Int($0) }
        }
    }
}
