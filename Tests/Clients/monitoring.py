"""Tries examples/deploy/monitoring, the dashboard of Grafana and the alert rules of Prometheus, with a real Prometheus and a real server."""

import json
import re
import subprocess
import time
import urllib.parse
from pathlib import Path

from context import POSTER
from server import Program, free_port, get, run, tool

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "examples/deploy/monitoring"
OPERATIONS = ROOT / "docs/operations.md"
# Labels that Prometheus adds to what it reads, and its own metric.
ADDED = {"job", "instance"}
# Values that a healthy server does not have within seconds.
RARE = {"status": {"5xx"}, "outcome": {"disk", "dropped"}, "reason": {"purged", "shutdown"}}


def check_promtool(context):
    """Prometheus' own linter reads the metrics."""
    promtool = tool("promtool")
    with context.server() as server:
        get(server.url + POSTER)
        status, fields, body = get(server.url + "/metrics")
        assert status == 200, body
        done = subprocess.run([promtool, "check", "metrics"], input=body, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        assert done.returncode == 0, done.stdout.decode()


def check_alerts(_):
    """The rules are well-formed, and each alert fires in its test and is silent about a healthy server."""
    promtool = tool("promtool")
    code, text = run(promtool, "check", "rules", str(FOLDER / "alerts.yaml"))
    assert code == 0 and "SUCCESS" in text, text
    tests = Path(__file__).parent / "alerts.yaml"
    code, text = run(promtool, "test", "rules", str(tests))
    assert code == 0, text
    names = re.findall(r"alert: (\w+)", (FOLDER / "alerts.yaml").read_text())
    untested = [name for name in names if f'alertname="{name}"' not in tests.read_text()]
    assert not untested, untested
    return f"{len(names)} alerts"


def check_dashboard(context):
    """Every metric and label of the dashboard and of the rules exists in /metrics of a server, and every panel shows something."""
    prometheus = tool("prometheus")
    redis = next(name for name in ("/usr/bin/redis-server", "/usr/bin/redis-check-rdb", tool("redis-cli")) if Path(name).exists())
    port, room = free_port(), context.new_folder("monitoring")
    (room / "store").mkdir(parents=True, exist_ok=True)
    # Redis is one program that looks at its name.
    (room / "redis-server").unlink(missing_ok=True)
    (room / "redis-server").symlink_to(redis)
    engine = [str(room / "redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(room), "--save", "",
              "--appendonly", "yes"]
    keys = (f"shared: {{ store: {{ type: folder, path: {room / 'store'} }}, "
            f"coordinator: {{ type: valkey, addresses: ['127.0.0.1:{port}'], deadline: 1s }} }}\n"
            f"accessLog: {{ path: {room / 'access.log'} }}\n"
            f"tracing: {{ endpoint: 'http://127.0.0.1:{free_port()}/v1/traces' }}\n"
            "clients: { perAddress: { misses: 0 } }")
    with Program(engine, port, room), context.server(keys) as server:
        def browse():
            for path in ["/t/p/w342/sample/1.jpg", "/t/p/w342/sample/2.jpg", "/t/p/w92/sample/none.jpg", "/sources",
                         "/sources/sample/titles"]:
                get(server.url + path)

        browse()
        with Prometheus(prometheus, room, server.port) as prometheus:
            prometheus.await_scrapes(3, meanwhile=browse)
            dashboard = json.loads((FOLDER / "dashboard.json").read_text())
            require_layout(dashboard)
            shown = expressions(dashboard)
            rules = prometheus.rules()
            metrics = get(server.url + "/metrics")[2].decode()
            problems = []
            for panel, query in shown + rules:
                problems += [f"{panel}: {problem}" for problem in unknown(query, metrics, prometheus)]
            for panel, query in shown:
                if not prometheus.query(query) and not is_rare(query, metrics):
                    problems.append(f"{panel} shows nothing: {query}")
            assert not problems, "\n".join(problems)
            return f"{len(shown)} expressions of the dashboard, {len(rules)} rules"


def expressions(dashboard):
    """What the dashboard asks for, with its variables filled in."""
    asked = [(panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel.get("targets", [])]
    # An annotation is where its expression is true; here it counts that there is something to compare.
    asked += [(one["name"], one["expr"].removesuffix(" > 0")) for one in dashboard["annotations"]["list"]]
    values = {"$__rate_interval": "1m", "$job": ".*", "$instance": ".*"}
    return [(title, re.sub(r"\$\w+", lambda found: values[found[0]], query)) for title, query in asked]


def require_layout(dashboard):
    """No two panels have one place or one number, and each is described."""
    taken, numbers = set(), [panel["id"] for panel in dashboard["panels"]]
    assert len(set(numbers)) == len(numbers), numbers
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells
        assert panel["type"] == "row" or (panel["description"] and panel["targets"]), panel["title"]


def selectors(query):
    """The metrics of a query with their matchers: label and values."""
    for name, matchers in re.findall(r"\b((?:onesheet|process)_\w+)(?:\{([^}]*)\})?", query):
        found = re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"', matchers)
        yield name, [(label, [] if value == ".*" else value.split("|")) for label, value in found]


def grouping(query):
    return {label.strip() for labels in re.findall(r"\bby \(([^)]*)\)", query) for label in labels.split(",")}


def unknown(query, metrics, prometheus):
    """What a query names and the server does not have."""
    used = {"le"} if "_bucket" in query else set()
    for name, matchers in selectors(query):
        known = prometheus.labels(name)
        if not known:
            # A metric of trouble: the server announces it, and the documentation has its labels.
            if not re.search(rf"^# TYPE {name} ", metrics, re.MULTILINE):
                yield f"there is no {name}"
                continue
            row = next((line for line in OPERATIONS.read_text().splitlines() if line.startswith(f"| `{name}`")), "")
            known = {label: None for label in re.findall(r"`(\w+)`", row)} | {label: None for label in ADDED}
        used |= set(known)
        for label, values in matchers:
            if label not in known:
                yield f"{name} has no label {label}"
            elif known[label] is not None:
                for value in set(values) - prometheus.values(label) - RARE.get(label, set()):
                    if f"`{value}`" not in OPERATIONS.read_text():
                        yield f"the label {label} of {name} is never {value}"
    for label in grouping(query) - used - ADDED:
        yield f"no metric has the label {label}: {query}"


def is_rare(query, metrics):
    """Whether a query is about a metric without samples on a healthy server."""
    return any(f"\n{name}" not in metrics for name, _ in selectors(query))


class Prometheus(Program):
    """A Prometheus that reads a server every second and evaluates the rules."""

    def __init__(self, program, room, server):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/api/v1"
        (room / "prometheus.yaml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(FOLDER / "alerts.yaml")],
            "scrape_configs": [{"job_name": "onesheet", "static_configs": [{"targets": [f"127.0.0.1:{server}"]}]}],
        }))
        super().__init__(
            [program, f"--config.file={room / 'prometheus.yaml'}", f"--storage.tsdb.path={room / 'prometheus'}",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"], port, room)

    def ask(self, path, **parameters):
        status, _, body = get(f"{self.url}/{path}?{urllib.parse.urlencode(parameters, doseq=True)}")
        answer = json.loads(body)
        assert status == 200 and answer["status"] == "success", (path, parameters, answer)
        return answer["data"]

    def query(self, query):
        return self.ask("query", query=query)["result"]

    def await_scrapes(self, count, meanwhile):
        """Until it has read the server often enough for rates, and has evaluated every rule."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            meanwhile()
            scrapes = self.query('sum_over_time(up{job="onesheet"}[1m])')
            health = {rule["health"] for rule in self.all_rules()}
            assert "err" not in health, [rule for rule in self.all_rules() if rule["health"] == "err"]
            if scrapes and float(scrapes[0]["value"][1]) >= count and health == {"ok"}:
                return
            time.sleep(0.2)
        raise AssertionError("Prometheus does not read the server")

    def all_rules(self):
        return [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]

    def rules(self):
        rules = self.all_rules()
        firing = [rule["name"] for rule in rules if rule["state"] == "firing"]
        assert not firing, firing
        return [(rule["name"], rule["query"]) for rule in rules]

    def labels(self, name):
        """The labels of a metric that it has read."""
        return {label: True for series in self.ask("series", **{"match[]": name}) for label in series if label != "__name__"}

    def values(self, label):
        return set(self.ask(f"label/{label}/values"))
