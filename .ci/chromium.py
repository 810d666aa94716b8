"""Headless Chromium, driven over the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/) through the descriptors 3 and 4."""
import base64
import json
import os
import select
import subprocess
import sys
import time

PROGRAM = "/usr/bin/chromium"


class Browser:
    """A browser with a profile of its own in `folder`, and an empty page."""

    def __init__(self, folder):
        command = [PROGRAM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(["/bin/sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null', *command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.count, self.rest, self.session, self.events = 0, b"", None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.agent = self.call("Browser.getVersion")["userAgent"]

    def call(self, method, **parameters):
        """Sends a command and waits for its result. Events that come before it are stored in `events`."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            while b"\0" not in self.rest:
                if not select.select([self.process.stdout], [], [], 60)[0]:
                    sys.exit(f"the browser does not answer {method}")
                self.rest += os.read(self.process.stdout.fileno(), 1 << 20)
            text, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(text)
            if answer.get("id") == self.count:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, expression):
        """What an expression of JavaScript is; a promise's value once it is there."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def look(self, width, height, dark, language, scale=1):
        """How pages are looked at from now on: CSS pixels and how many of the screen each takes, colours, and the language as a browser sends it."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.call("Emulation.setUserAgentOverride", userAgent=self.agent, acceptLanguage=language)

    def open(self, url, settled):
        """Opens an address and waits until an expression of JavaScript is true in it."""
        self.call("Page.navigate", url=url)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self.call("Runtime.evaluate", expression=settled, returnByValue=True)["result"].get("value") is True:
                return
            time.sleep(0.02)
        sys.exit(f"{url} is never complete: {self.run('document.body.innerText.slice(0, 300)')}")

    def picture(self, quality=70):
        return base64.b64decode(self.call("Page.captureScreenshot", format="webp", quality=quality)["data"])

    def end(self):
        self.process.terminate()
        self.process.wait()
