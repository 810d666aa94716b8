import OnesheetCore
import OnesheetTesting

/// Kakao in its recorded form.
enum RecordedKakao {
    static let search = "https://dapi.kakao.com/v2/search/image"

    /// Ten hits for a film's poster in order: the first is a news photo, five are upright, three have a poster's shape.
    static let hits: [(url: String, width: Int, height: Int, collection: String)] = [
        ("https://t1.daumcdn.net/news/202001/photo.jpg", 710, 490, "news"),
        ("http://cfile23.uf.daum.net/image/poster-small", 314, 441, "blog"),
        ("https://postfiles.pstatic.net/scene.jpg?type=w1", 960, 640, "blog"),
        ("https://blog.kakaocdn.net/dn/poster/img.jpg", 633, 909, "blog"),
        ("https://i0.wp.com/site.example/wide.png", 1280, 720, "etc"),
        ("http://cfile4.uf.daum.net/image/poster", 411, 592, "cafe"),
        ("https://postfiles.pstatic.net/scene.jpg?type=w2", 800, 800, "blog"),
        ("https://t1.daumcdn.net/news/phone-photo", 540, 960, "news"),
        ("https://i0.wp.com/site.example/almost-square.jpg", 500, 560, "etc"),
        ("https://t1.daumcdn.net/cafe/leaflet.jpg", 600, 424, "cafe"),
    ]

    static var answer: String {
        let documents = hits.enumerated().map { index, hit in
            """
            {"collection":"\(hit.collection)","datetime":"2020-01-\(10 + index)T09:30:00.000+09:00","display_sitename":"네이버블로그",\
            "doc_url":"http://blog.example/\(index)","height":\(hit.height),"image_url":"\(hit.url)",\
            "thumbnail_url":"https://search1.kakaocdn.net/argon/130x130_85_c/\(index)","width":\(hit.width)}
            """
        }
        return
            #"{"documents":[\#(documents.joined(separator: ","))],"meta":{"is_end":false,"pageable_count":3905,"total_count":1153412}}"#
    }

    static let empty = #"{"documents":[],"meta":{"is_end":true,"pageable_count":0,"total_count":0}}"#
    static let badKey = #"{"code":-401,"msg":"ip mismatched! callerIp=192.0.2.1. check out registered ips."}"#
    static let quota = #"{"code":-10,"msg":"API limit has been exceeded."}"#
    static let gateway = #"{"errorType":"AccessDeniedError","message":"wrong appKey(x) format"}"#

    static func transport(status: Int = 200, _ body: String = answer) -> FakeTransport {
        let transport = FakeTransport()
        transport.on(search, status: status, body)
        return transport
    }
}
