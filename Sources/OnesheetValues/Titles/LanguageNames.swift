/// The names of languages that have another, preferred one.
enum LanguageNames {
    /// Deprecated names (IANA language subtag registry).
    static let preferred = ["in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "sr"]

    /// Languages whose parts may be written behind them, as in `zh-yue` (IANA language subtag registry).
    static let extended: Set = ["ar", "kok", "lv", "ms", "sgn", "sw", "uz", "zh"]

    /// Languages that are a part of another.
    static let families = ["nb": "no", "nn": "no", "cmn": "zh", "yue": "zh"]

    /// The scripts that regions tell.
    static let scripts = ["zh": ["CN": "Hans", "SG": "Hans", "HK": "Hant", "MO": "Hant", "TW": "Hant"]]

    /// The names of two letters, by those of three letters (ISO 639-2/B and /T).
    static let short: [String: String] = {
        var short: [String: String] = [:]
        for pair in pairs.split(whereSeparator: \.isWhitespace) { short[String(pair.prefix(3))] = String(pair.suffix(2)) }
        return short
    }()

    private static let pairs = """
        aaraa abkab afraf akaak albsq amham araar argan armhy asmas avaav aveae aymay azeaz bakba bambm baqeu belbe benbn bisbi
        bodbo bosbs brebr bulbg burmy catca cescs chach chece chizh chucu chvcv corkw cosco crecr cymcy czecs danda deude divdv
        dutnl dzodz ellel engen epoeo estet euseu eweee faofo fasfa fijfj finfi frafr frefr fryfy fulff geoka gerde glagd glega
        glggl glvgv greel grngn gujgu hatht hauha hebhe herhz hinhi hmoho hrvhr hunhu hyehy iboig iceis idoio iiiii ikuiu ileie
        inaia indid ipkik islis itait javjv jpnja kalkl kankn kasks katka kaukr kazkk khmkm kikki kinrw kirky komkv konkg korko
        kuakj kurku laolo latla lavlv limli linln litlt ltzlb lublu luglg macmk mahmh malml maomi marmr mayms mkdmk mlgmg mltmt
        monmn mrimi msams myamy nauna navnv nblnr ndend ndong nepne nldnl nnonn nobnb norno nyany ocioc ojioj orior ormom ossos
        panpa perfa plipi polpl porpt pusps quequ rohrm ronro rumro runrn rusru sagsg sansa sinsi slksk slosk slvsl smese smosm
        snasn sndsd somso sotst spaes sqisq srdsc srpsr sswss sunsu swasw swesv tahty tamta tattt telte tgktg tgltl thath tibbo
        tirti tonto tsntn tsots tuktk turtr twitw uigug ukruk urdur uzbuz venve vievi volvo welcy wlnwa wolwo xhoxh yidyi yoryo
        zhaza zhozh zulzu
        """
}
