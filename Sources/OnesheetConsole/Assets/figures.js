// The server's figures: live, read from /metrics (Prometheus' text format 0.0.4) every two seconds while the page is visible, and those
// of the last hour, which the server keeps.
import "./words-tools.js";
import { h } from "./dom.js";
import { get, Problem, problem, request, sources } from "./api.js";
import { illness } from "./list.js";
import { notice } from "./notice.js";
import { ordersPart } from "./orders.js";
import { plot } from "./plot.js";
import { stageNames } from "./stages.js";
import { bytes, milliseconds, moment, number, percent, t } from "./words.js";

const interval = 2000;

async function read() {
  const text = await request("/metrics", {}, (response) => {
    if (!response.ok) throw problem(response);
    return response.text();
  });
  const samples = [];
  for (const line of text.split("\n")) {
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
  /** The bound below or above which the quantile `part` of a histogram lies: what was counted says no more. */
  quantile(name, labels, part) {
    const total = this.sum(`${name}_count`, labels);
    if (!total) return "–";
    let below = 0;
    for (const { labels: { le }, value } of this.all(`${name}_bucket`, labels)) {
      const bound = Number(le);
      if (value >= part * total && Number.isFinite(bound)) return `≤ ${milliseconds(bound * 1000)}`;
      if (Number.isFinite(bound)) below = bound;
    }
    return `> ${milliseconds(below * 1000)}`;
  }
}

export async function figuresView() {
  const cards = h("div.figures");
  const orders = await ordersPart();
  const node = h("div.board", {}, h("h1", { tabindex: "-1" }, t("figures")), cards, orders.node);
  let before = null;
  let timer = null;
  let turn = 0;
  let ended = false;
  let drawn = "";
  let past = {};
  let pastAt = -Infinity;

  /** Reads the last hour again once the server has a new reading. */
  async function hour() {
    if (performance.now() - pastAt < 1000 * (past.interval ?? 1)) return;
    pastAt = performance.now();
    past = await get("/figures");
  }

  async function update() {
    const own = ++turn;
    try {
      const [reading, known] = await Promise.all([read(), sources(true), hour()]);
      if (own !== turn) return;
      draw(reading, known);
      before = reading;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (own !== turn) return;
      drawn = "";
      cards.replaceChildren(notice(error, restart));
      return;
    }
    if (!ended && !document.hidden) timer = setTimeout(update, interval);
  }

  function restart() {
    clearTimeout(timer);
    if (ended) return;
    update();
    orders.restart();
  }

  function draw(reading, known) {
    const series = past.series ?? {};
    const next = [requests(reading, before, series, past.interval), ...[tiers, stages, work].map((part) => part(reading, series, past.interval)),
      ...known.map((source) => calls(reading, source, past.quotas?.find((each) => each.source === source.name)?.quotas ?? []))];
    // Redraw only if something has changed, so that a screen reader keeps its place.
    const texts = next.map((card) => card.outerHTML).join("");
    if (texts !== drawn) cards.replaceChildren(...next);
    drawn = texts;
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
      orders.leave();
      removeEventListener("visibilitychange", restart);
    },
  };
}

function requests(reading, before, series, each) {
  const failed = reading.all("requests_total").filter((sample) => sample.labels.status === "5xx").reduce((sum, sample) => sum + sample.value, 0);
  const past = (series.requests ?? []).map((value) => (value === null ? null : value / each));
  // Until there are two readings, the last one of the server counts.
  const rate = before ? Math.max(0, ((reading.sum("requests_total") - before.sum("requests_total")) * 1000) / (reading.at - before.at)) : past.at(-1) ?? null;
  const one = (value) => number(Math.round(value * 10) / 10);
  return card(t("requests"), h("p.large", {}, rate === null ? h("span.faint", {}, "– ", t("noRate")) : [one(rate), h("span.faint", {}, " " + t("perSecond"))]),
    plot(t("requestsPlot"), [{ name: "", values: past }], { format: one, each }),
    rows([[t("total"), number(reading.sum("requests_total"))], [t("failed"), number(failed)], [t("connections"), number(reading.sum("connections"))]]));
}

const card = (title, ...content) => h("section.card-box", {}, h("h2", {}, title), ...content);
const rows = (pairs) => h("dl.pairs", {}, pairs.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]));

const tierName = (tier) => (tier === "memory" || tier === "disk" ? t(tier) : tier);

function tiers(reading, series, each) {
  const names = reading.values("cache_limit_bytes", "tier");
  const ratios = names.map((tier) => ({ name: tierName(tier), values: (series[`hits.${tier}`] ?? []).map((hits, index) => {
    const asked = hits + (series[`misses.${tier}`]?.[index] ?? 0);
    return asked ? hits / asked : null;
  }) }));
  return card(t("cache"), plot(t("hitRatio"), ratios, { format: percent, each, most: 1 }), ...names.map((tier) => {
    const hits = reading.sum("cache_hits_total", { tier });
    const asked = hits + reading.sum("cache_misses_total", { tier });
    const [used, limit] = [reading.sum("cache_bytes", { tier }), reading.sum("cache_limit_bytes", { tier })];
    return h("div.tier", {}, h("h3", {}, tierName(tier)),
      rows([[t("hitRatio"), asked ? percent(hits / asked) : "–"], [t("entries"), number(reading.sum("cache_entries", { tier }))],
        [t("fill"), `${bytes(used)} / ${bytes(limit)}`]]),
      h("meter", { min: 0, max: 1, value: limit ? used / limit : 0, "aria-label": `${t("fill")}: ${tierName(tier)}` }));
  }));
}

function stages(reading, series, each) {
  const lines = stageNames.map((stage) => ({ name: t("stage_" + stage), values: series[`stage.${stage}`] ?? [] }));
  return card(t("latency"), plot(t("stagesPlot"), lines, { format: milliseconds, each }),
    h("table", {}, h("thead", {}, h("tr", {}, [t("stage"), t("half"), t("most"), t("times")].map((label) => h("th", { scope: "col" }, label)))),
      h("tbody", {}, stageNames.map((stage) => h("tr", {}, h("th", { scope: "row" }, t("stage_" + stage)),
        h("td", {}, reading.quantile("stage_seconds", { stage }, 0.5)), h("td", {}, reading.quantile("stage_seconds", { stage }, 0.95)),
        h("td", {}, number(reading.sum("stage_seconds_count", { stage }))))))), h("p.faint", {}, t("bounds")));
}

function work(reading, series, each) {
  return card(t("work"), plot(t("queue"), [{ name: "", values: series.queue ?? [] }], { format: number, each }),
    plot(t("processMemory"), [{ name: "", values: series.memory ?? [] }], { format: bytes, each }), rows([
      [t("renders"), number(reading.sum("renders_total"))], [t("queue"), number(reading.sum("render_queue"))], [t("workers"), number(reading.sum("render_workers"))],
      [t("renderMemory"), `${bytes(reading.sum("render_memory_bytes"))} / ${bytes(reading.sum("render_memory_limit_bytes"))}`],
      [t("processMemory"), bytes(reading.sum("process_resident_memory_bytes"))],
    ]));
}

function calls(reading, source, quotas) {
  const outcomes = reading.all("source_calls_total", { source: source.name }).filter((sample) => sample.value > 0);
  const failed = outcomes.filter((sample) => !["answered", "not_found"].includes(sample.labels.outcome));
  return card(source.name, source.state === "well" ? h("p.well", {}, t("well")) : h("div.alarm", {}, illness(source)),
    rows([[t("calls"), number(outcomes.reduce((sum, sample) => sum + sample.value, 0))],
      ...failed.map((sample) => [sample.labels.outcome.replaceAll("_", " "), number(sample.value)])]),
    ...quotas.map(quota));
}

/** A daily quota: the calls spent, those reserved for visitors, and the time of the reset. */
function quota({ name, perDay, spent, reserve, isExhausted, fullAt }) {
  return h("div.tier", { "data-quota": name }, h("h3", {}, t("quota", { name })),
    isExhausted ? h("p.alarm", {}, t("quotaGone")) : null,
    perDay ? h("meter", { min: 0, max: perDay, value: spent, high: perDay - reserve, "aria-label": `${t("spent")}: ${name}` }) : null,
    rows([...(perDay ? [[t("spent"), `${number(spent)} / ${number(perDay)}`], [t("keptForPeople"), number(reserve)]] : []), [t("fullAgain"), moment(fullAt)]]));
}
