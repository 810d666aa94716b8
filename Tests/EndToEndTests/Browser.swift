import Foundation
import Synchronization
import XCTest

/// Headless Chromium, controlled with the DevTools protocol (<https://chromedevtools.github.io/devtools-protocol/>) through two
/// pipes. It shows one page at a time, and each has its own cookies, storage and cache.
final class Browser: Sendable {
    /// A failure of the browser.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The conditions for viewing a page.
    struct Look {
        var width = 1280
        var height = 900
        var isDark = false
        var language = "en"
        var runsScripts = true
    }

    private struct State {
        var last = 0
        var waiting: [Int: CheckedContinuation<Data, any Error>] = [:]
        var events: [Data] = []
        var hasEnded = false
        /// The status and the text that answer paused requests. Without them, they stay paused.
        var refusal: (status: Int, text: String)?
    }

    private let state = Mutex(State())
    private let process: Process
    private let commands: FileHandle
    private let folder: URL
    private let session = Mutex("")
    private let context = Mutex("")
    private let runsScripts = Mutex(true)

    /// The path of the browser; `nil` if it is not installed.
    static let program = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Opens an empty page with cookies, storage and a cache of its own. `closePage` ends it.
    func openPage() async throws {
        state.withLock { ($0.events, $0.refusal) = ([], nil) }
        let context = try await send("Target.createBrowserContext")["browserContextId"] as? String ?? ""
        self.context.withLock { $0 = context }
        let page = try await send("Target.createTarget", ["url": "about:blank", "browserContextId": context])
        let attached = try await send("Target.attachToTarget", ["targetId": page["targetId"] ?? "", "flatten": true])
        session.withLock { $0 = attached["sessionId"] as? String ?? "" }
        for domain in ["Page", "Runtime", "Log", "Network"] { _ = try await send("\(domain).enable") }
        _ = try await send("Page.addScriptToEvaluateOnNewDocument", ["source": Self.observer])
    }

    func closePage() async throws {
        session.withLock { $0 = "" }
        try await send("Target.disposeBrowserContext", ["browserContextId": context.withLock { $0 }])
    }

    /// Sums up unexpected layout shifts, as <https://web.dev/articles/cls> defines them.
    private static let observer = """
        window.shift = 0;
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
        }).observe({ type: "layout-shift", buffered: true });
        """

    /// Starts the browser with an empty profile.
    init(_ program: String) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "onesheet-browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let (input, output) = (Pipe(), Pipe())
        process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        // The protocol uses the descriptors 3 and 4.
        process.arguments = [
            "-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null", program, "--headless=new", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe",
            // What people need and tests do not: extensions, updates, and a process that is ready for the next page.
            "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
            "--disable-sync", "--disable-features=SpareRendererForSitePerProcess,Translate,MediaRouter,OptimizationHints",
            "--user-data-dir=\(folder.path)/profile", "about:blank",
        ]
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        commands = input.fileHandleForWriting
        let reading = output.fileHandleForReading
        Thread.detachNewThread { self.read(reading) }
    }

    /// Terminates the browser, waits until it has ended, and removes its profile.
    func end() throws {
        process.terminate()
        process.waitUntilExit()
        try FileManager.default.removeItem(at: folder)
    }

    private func read(_ file: FileHandle) {
        var rest = Data()
        while true {
            let data = file.availableData
            guard !data.isEmpty else { break }
            rest += data
            while let end = rest.firstIndex(of: 0) {
                receive(Data(rest[rest.startIndex..<end]))
                rest = Data(rest[(end + 1)...])
            }
        }
        let waiting = state.withLock { state in
            state.hasEnded = true
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume(throwing: Failure(description: "the browser has ended")) }
    }

    private func receive(_ message: Data) {
        let document = try? JSONSerialization.jsonObject(with: message) as? [String: Any]
        if document?["method"] as? String == "Fetch.requestPaused" { return refuse(document?["params"] as? [String: Any]) }
        let id = document?["id"] as? Int
        let continuation = state.withLock { state in
            guard let id else {
                state.events.append(message)
                return CheckedContinuation<Data, any Error>?.none
            }
            return state.waiting.removeValue(forKey: id)
        }
        continuation?.resume(returning: message)
    }

    private func refuse(_ paused: [String: Any]?) {
        guard let request = paused?["requestId"] as? String, let refusal = state.withLock({ $0.refusal }) else { return }
        Task {
            _ = try? await send(
                "Fetch.fulfillRequest",
                [
                    "requestId": request, "responseCode": refusal.status,
                    "body": Data(refusal.text.utf8).base64EncodedString(),
                ])
        }
    }

    /// Sends a command and waits for its result.
    @discardableResult
    func send(_ method: String, _ parameters: [String: Any] = [:]) async throws -> [String: Any] {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        var message: [String: Any] = ["id": id, "method": method, "params": parameters]
        let session = session.withLock { $0 }
        if !session.isEmpty { message["sessionId"] = session }
        let bytes = try JSONSerialization.data(withJSONObject: message) + [0]
        let answer = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Data, any Error>) in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting[id] = continuation }
                return state.hasEnded
            }
            guard !hasEnded else { return continuation.resume(throwing: Failure(description: "the browser has ended")) }
            do { try commands.write(contentsOf: bytes) } catch {
                state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(throwing: error)
            }
        }
        let document = try JSONSerialization.jsonObject(with: answer) as? [String: Any]
        if let error = document?["error"] as? [String: Any] { throw Failure(description: "\(method): \(error)") }
        return document?["result"] as? [String: Any] ?? [:]
    }

    // MARK: What tests do

    /// Opens an address with an empty history, and waits until `condition` holds in the page.
    func open(_ url: String, _ look: Look = Look(), until condition: String) async throws {
        state.withLock { $0.events = [] }
        try await send(
            "Emulation.setDeviceMetricsOverride",
            ["width": look.width, "height": look.height, "deviceScaleFactor": 1, "mobile": false])
        try await send(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": look.isDark ? "dark" : "light"]]])
        let agent = try await send("Browser.getVersion")["userAgent"] as? String ?? ""
        try await send("Emulation.setUserAgentOverride", ["userAgent": agent, "acceptLanguage": look.language])
        try await send("Emulation.setScriptExecutionDisabled", ["value": !look.runsScripts])
        runsScripts.withLock { $0 = look.runsScripts }
        try await send("Page.navigate", ["url": url])
        try await wait(condition)
    }

    /// Waits until `condition` holds in the page, for at most a minute. The page evaluates it for a second at a time, because the
    /// page may be replaced.
    func wait(_ condition: String, file: StaticString = #filePath, line: UInt = #line) async throws {
        let end = ContinuousClock.now + .seconds(60)
        let pause = runsScripts.withLock { $0 } ? "await new Promise((done) => setTimeout(done, 25))" : "0"
        let look = "(async () => { for (let n = 0; n < 40 && !(\(condition)); n++) \(pause); return Boolean(\(condition)) })()"
        while ContinuousClock.now < end {
            if try await evaluate("await \(look)") == "true" { return }
        }
        XCTFail("“\(condition)” never held: \(try await evaluate("document.body.innerText.slice(0, 500)"))", file: file, line: line)
        throw Failure(description: condition)
    }

    /// Answers requests for addresses that match `pattern` with `status` and `text`, without the server. `nil` ends it, also for
    /// `hold`.
    func refuse(_ pattern: String, with status: Int?, text: String = "") async throws {
        state.withLock { $0.refusal = status.map { ($0, text) } }
        if status == nil {
            try await send("Fetch.disable")
        } else {
            try await send("Fetch.enable", ["patterns": [["urlPattern": pattern]]])
        }
    }

    /// Lets requests for addresses that match `pattern` wait for an answer.
    func hold(_ pattern: String) async throws {
        state.withLock { $0.refusal = nil }
        try await send("Fetch.enable", ["patterns": [["urlPattern": pattern]]])
    }

    /// Clicks the middle of an element with the mouse, `count` times in quick succession. Waits first until the element stands still, is
    /// enabled and is in front: if a picture above it loads, the click hits its neighbor. A press whose element was drawn anew before the
    /// button came up is no click for the page, so it is made again.
    func click(_ selector: String, count: Int = 1) async throws {
        for _ in 1...5 {
            let place = try await place(of: selector)
            // A click whose element was replaced falls on an ancestor, and the second of two is no first one.
            _ = try await evaluate(
                """
                (window.clicks = 0, window.addEventListener('click', ({ target, detail }) => {
                  if (detail === 1 && target.closest('\(selector)')) window.clicks++;
                }, { capture: true }))
                """)
            for number in 1...count {
                for type in ["mousePressed", "mouseReleased"] {
                    try await send(
                        "Input.dispatchMouseEvent",
                        ["type": type, "x": place.x, "y": place.y, "button": "left", "clickCount": number])
                }
            }
            // A click that opened another page took the count with it.
            if try await evaluate("String(window.clicks)") != "0" { return }
        }
        throw Failure(description: "no click reached \(selector)")
    }

    /// The middle of an element, once it may be clicked.
    private func place(of selector: String) async throws -> (x: Double, y: Double) {
        let place = try await evaluate(
            """
            await (async () => {
              let [last, same] = ["", 0];
              for (let turn = 0; turn < 200 && same < 5; turn++) {
                const element = document.querySelector('\(selector)');
                if (!element) break;
                if (same === 0) element.scrollIntoView({ block: "center", behavior: "instant" });
                const { x, y, width, height } = element.getBoundingClientRect();
                const [left, top] = [x + width / 2, y + height / 2];
                const ready = !element.disabled && element.contains(document.elementFromPoint(left, top));
                const place = ready ? `${left} ${top}` : `turn ${turn}`;
                [last, same] = [place, place === last ? same + 1 : 0];
                await new Promise((done) => setTimeout(done, 20));
              }
              return last;
            })()
            """
        ).split(separator: " ").compactMap { Double($0) }
        guard place.count == 2 else { throw Failure(description: "\(selector) cannot be clicked") }
        return (place[0], place[1])
    }

    /// The value of a JavaScript expression as text; waits for promises.
    func evaluate(_ expression: String) async throws -> String {
        let result: [String: Any]
        do {
            result = try await send(
                "Runtime.evaluate",
                ["expression": "(async () => String(\(expression)))()", "returnByValue": true, "awaitPromise": true])
        } catch let failure as Failure where ["context", "navigated", "collected"].contains(where: failure.description.contains) {
            // The page was being replaced.
            return ""
        }
        if let exception = result["exceptionDetails"] as? [String: Any] {
            let text = ((exception["exception"] as? [String: Any])?["description"] as? String) ?? "\(exception)"
            return "exception: \(text)"
        }
        return (result["result"] as? [String: Any])?["value"] as? String ?? ""
    }

    func press(_ key: String) async throws {
        for type in ["keyDown", "keyUp"] {
            var event: [String: Any] = ["type": type, "key": key, "code": key]
            if let code = Self.codes[key] { event["windowsVirtualKeyCode"] = code }
            if key == "Enter" { event["text"] = "\r" }
            try await send("Input.dispatchKeyEvent", event)
        }
    }

    private static let codes = [
        "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Enter": 13, "Escape": 27, "Tab": 9, "PageUp": 33,
    ]

    /// A screenshot of the page as PNG.
    func screenshot() async throws -> Data {
        let text = try await send("Page.captureScreenshot", ["format": "png"])["data"] as? String
        return try XCTUnwrap(Data(base64Encoded: text ?? ""))
    }

    /// Messages of the page since it was opened: of its scripts, errors, and reports of its policy. Excludes reports of a busy
    /// server: the browser reports each such response, and the page retries.
    func messages() -> [String] {
        events("Log.entryAdded").compactMap { event in
            let entry = event["entry"] as? [String: Any]
            let text = "\(entry?["text"] ?? "") \(entry?["url"] ?? "")"
            let isBusy =
                entry?["source"] as? String == "network" && ["status of 503", "status of 504"].contains(where: text.contains)
            return isBusy ? nil : text
        }
            + events("Runtime.exceptionThrown").map { "\($0)" } + events("Runtime.consoleAPICalled").map { "\($0)" }
    }

    /// Requested addresses since the page was opened.
    func requests() -> [String] {
        events("Network.requestWillBeSent").compactMap { ($0["request"] as? [String: Any])?["url"] as? String }
    }

    private func events(_ method: String) -> [[String: Any]] {
        state.withLock { $0.events }.compactMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
            .filter { $0["method"] as? String == method }.compactMap { $0["params"] as? [String: Any] }
    }
}
