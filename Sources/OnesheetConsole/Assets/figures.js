// The server's figures, live: read from /metrics (Prometheus' text format 0.0.4) every two seconds while somebody looks.
import { h } from "./dom.js";
import { Problem, sources } from "./api.js";
import { illness } from "./list.js";
import { notice } from "./notice.js";
import { bytes, number, t } from "./words.js";

const interval = 2000;
/** How many readings the curves show. */
const kept = 150;

async function read() {
  let response;
  try {
    response = await fetch("/metrics");
  } catch {
    throw new Problem({ title: "offline" });
  }
  if (!response.ok) throw new Problem({ status: response.status, request: response.headers.get("X-Request-Id") });
  const samples = [];
  for (const line of (await response.text()).split("\n")) {
    const [, name, labels, value] = /^onesheet_([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!name) continue;
    samples.push({ name, labels: Object.fromEntries([...(labels ?? "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((match) => [match[1], match[2]])), value: Number(value) });
  }
  return new Reading(samples);
}

class Reading {
  constructor(samples) {
    this.samples = samples;
    this.at = performance.now();
  }
  all(name, labels = {}) {
    return this.samples.filter((sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value));
  }
  sum(name, labels) { return this.all(name, labels).reduce((sum, sample) => sum + sample.value, 0); }
  values(name, label) { return [...new Set(this.all(name).map((sample) => sample.labels[label]))]; }
  /** The bound that `part` of a histogram's values are not above. */
  quantile(name, labels, part) {
    const buckets = this.all(`${name}_bucket`, labels);
    const total = this.sum(`${name}_count`, labels);
    if (!total) return null;
    return Number((buckets.find((bucket) => bucket.value >= part * total) ?? { labels: { le: "Infinity" } }).labels.le.replace("+Inf", "Infinity"));
  }
}

const percent = (value) => new Intl.NumberFormat(document.documentElement.lang, { style: "percent", maximumFractionDigits: 1 }).format(value);
const milliseconds = (seconds) => (seconds === null ? "–" : seconds === Infinity ? "> 10 s" : seconds >= 1 ? `${number(Math.round(seconds * 10) / 10)} s` : `${number(Math.round(seconds * 1e4) / 10)} ms`);

export async function figuresView() {
  const cards = h("div.figures");
  const node = h("div.board", {}, h("h1", { tabindex: "-1" }, t("figures")), cards);
  const past = [];
  let timer = null;
  let ended = false;

  async function update() {
    try {
      const [reading, known] = await Promise.all([read(), sources(true)]);
      const before = past.at(-1);
      past.push({ reading, rate: before ? rate(before.reading, reading) : null });
      if (past.length > kept) past.shift();
      draw(reading, known);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      cards.replaceChildren(notice(error, restart));
      return;
    }
    if (!ended && !document.hidden) timer = setTimeout(update, interval);
  }

  function restart() {
    clearTimeout(timer);
    if (!ended) update();
  }

  const rate = (old, now) => Math.max(0, ((now.sum("requests_total") - old.sum("requests_total")) * 1000) / (now.at - old.at));

  function draw(reading, known) {
    cards.replaceChildren(requests(reading), tiers(reading), stages(reading), work(reading), ...known.map((source) => calls(reading, source)));
  }

  function requests(reading) {
    const rates = past.map((each) => each.rate).filter((value) => value !== null);
    const failed = reading.all("requests_total").filter((sample) => sample.labels.status === "5xx").reduce((sum, sample) => sum + sample.value, 0);
    return card(t("requests"), h("p.large", {}, rates.length ? number(Math.round(rates.at(-1) * 10) / 10) : "…", h("span.faint", {}, " " + t("perSecond"))), curve(rates),
      rows([[t("total"), number(reading.sum("requests_total"))], [t("failed"), number(failed)], [t("connections"), number(reading.sum("connections"))]]));
  }

  addEventListener("visibilitychange", restart);
  await update();
  return {
    title: t("figures"), node, again: () => {
      ended = false;
      restart();
    },
    leave() {
      ended = true;
      clearTimeout(timer);
      removeEventListener("visibilitychange", restart);
    },
  };
}

const card = (title, ...content) => h("section.card-box", {}, h("h2", {}, title), ...content);
const rows = (pairs) => h("dl.pairs", {}, pairs.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]));

function tiers(reading) {
  return card(t("cache"), ...reading.values("cache_limit_bytes", "tier").map((tier) => {
    const hits = reading.sum("cache_hits_total", { tier });
    const asked = hits + reading.sum("cache_misses_total", { tier });
    const [used, limit] = [reading.sum("cache_bytes", { tier }), reading.sum("cache_limit_bytes", { tier })];
    return h("div.tier", {}, h("h3", {}, t(tier === "memory" || tier === "disk" ? tier : "cache")),
      rows([[t("hitRatio"), asked ? percent(hits / asked) : "–"], [t("entries"), number(reading.sum("cache_entries", { tier }))],
        [t("fill"), `${bytes(used)} / ${bytes(limit)}`]]),
      h("meter", { min: 0, max: 1, value: limit ? used / limit : 0, "aria-label": `${t("fill")}: ${tier}` }));
  }));
}

function stages(reading) {
  return card(t("latency"), h("table", {}, h("thead", {}, h("tr", {}, [t("stage"), t("half"), t("most"), t("times")].map((label) => h("th", { scope: "col" }, label)))),
    h("tbody", {}, ["cache", "origin", "render", "store"].map((stage) => h("tr", {}, h("th", { scope: "row" }, t("stage_" + stage)),
      h("td", {}, milliseconds(reading.quantile("stage_seconds", { stage }, 0.5))), h("td", {}, milliseconds(reading.quantile("stage_seconds", { stage }, 0.95))),
      h("td", {}, number(reading.sum("stage_seconds_count", { stage })))))))  );
}

function work(reading) {
  return card(t("work"), rows([
    [t("renders"), number(reading.sum("renders_total"))], [t("queue"), number(reading.sum("render_queue"))], [t("workers"), number(reading.sum("render_workers"))],
    [t("renderMemory"), `${bytes(reading.sum("render_memory_bytes"))} / ${bytes(reading.sum("render_memory_limit_bytes"))}`],
    [t("processMemory"), bytes(reading.sum("process_resident_memory_bytes"))],
  ]));
}

function calls(reading, source) {
  const outcomes = reading.all("source_calls_total", { source: source.name }).filter((sample) => sample.value > 0);
  const failed = outcomes.filter((sample) => !["answered", "not_found"].includes(sample.labels.outcome));
  return card(source.name, h("p", {}, source.state === "well" ? h("span.well", {}, t("well")) : h("span.alarm", {}, illness(source))),
    rows([[t("calls"), number(outcomes.reduce((sum, sample) => sum + sample.value, 0))],
      ...failed.map((sample) => [sample.labels.outcome.replaceAll("_", " "), number(sample.value)])]));
}

/** The last minutes as a line. */
function curve(values) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 300 60");
  svg.setAttribute("class", "curve");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", t("curve"));
  const line = document.createElementNS(space, "polyline");
  const most = Math.max(1, ...values);
  const from = kept - values.length;
  line.setAttribute("points", values.map((value, index) => `${(((from + index) / (kept - 1)) * 300).toFixed(1)},${(57 - (value / most) * 54).toFixed(1)}`).join(" "));
  svg.append(line);
  return svg;
}
