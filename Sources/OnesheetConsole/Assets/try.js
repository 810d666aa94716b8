// “Try”: any transform of a poster, with its picture, size in bytes, duration and addresses.
import "./words-tools.js";
import { add, announce, copyButton, h } from "./dom.js";
import { accept, pictureFacts, posterPath, Problem, queryText, someTitle, sources, view } from "./api.js";
import { comparison, formats } from "./compare.js";
import { filmField, namesOfFilms } from "./films.js";
import { notice, sentence } from "./notice.js";
import { watch } from "./poster.js";
import { ask, session } from "./session.js";
import { readTiming, waterfall } from "./stages.js";
import { bytes, percent, t } from "./words.js";

/** The fields of the form: the option of imgproxy's grammar that each writes, and the names under which the server speaks of it. */
const fields = [
  { name: "resize", option: "rt", also: ["rs", "resize", "resizing_type"], choices: ["fit", "fill", "fill-down", "force"], usual: "fit" },
  { name: "width", option: "w", also: ["width"], numeric: true },
  { name: "height", option: "h", also: ["height"], numeric: true },
  { name: "gravity", option: "g", also: ["gravity"], choices: ["ce", "no", "so", "we", "ea", "nowe", "noea", "sowe", "soea", "sm"], usual: "ce" },
  { name: "enlarge", option: "el", also: ["enlarge"], choices: ["0", "1"], usual: "0" },
  { name: "quality", option: "q", also: ["quality"], numeric: true },
  { name: "blur", option: "bl", also: ["blur"], numeric: true },
  { name: "sharpen", option: "sh", also: ["sharpen"], numeric: true },
  { name: "rotate", option: "rot", also: ["rotate"], choices: ["0", "90", "180", "270"], usual: "0" },
  { name: "background", option: "bg", also: ["background"] },
];
const dialectNames = { thumbor: "thumbor", cloudflare: "Cloudflare", iiif: "IIIF", next: "Next.js" };

export async function tryView(parameters) {
  const entry = history.state?.entry;
  const names = namesOfFilms(await sources().catch(() => []));
  const first = parameters.get("of") ?? await somePoster();
  const inputs = new Map();
  const outcome = h("div.outcome", { role: "status" });
  const result = h("div.result");
  let timer = null;
  let turn = 0;
  const signing = session({ help: t("signSignIn"), changed: () => update(), say });
  const film = filmField({ first, choose: () => {
    clearTimeout(timer);
    update();
  }, leave: () => {
    clearTimeout(timer);
    turn += 1;
    empty();
  } });
  film.field.placeholder = names.example;
  const of = part("of", film.field, film.offers);
  const format = choice("format", formats, parameters.get("format") ?? "", (name) => name.toUpperCase() || t("byAccept"));
  const given = read(parameters.get("options") ?? "rt:fit/w:342");
  const controls = fields.map((field) => (field.choices
    ? choice(field.name, field.choices, given.values[field.name] ?? field.usual, (name) => label(field.name, name))
    : input(field.name, { value: given.values[field.name] ?? "", inputmode: field.numeric ? "decimal" : null })));
  const more = input("more", { value: given.rest.join("/"), placeholder: "pd:10/sm:0" });
  const form = h("form.options", { id: "options", "aria-label": t("options"), oninput: (event) => { if (event.target !== film.field) later(); }, onsubmit: (event) => {
    event.preventDefault();
    if (film.enter()) update();
  } }, of, format, controls, more);
  update();
  return {
    title: t("tryView"), leave() {
      clearTimeout(timer);
      turn += 1;
    },
    node: h("div.board", {}, h("h1", { tabindex: "-1" }, t("tryView")), h("p.faint.lead", {}, t("tryHelp")),
      h("div.workbench", {}, form, h("div", {}, outcome, result))),
  };

  // MARK: The form

  function part(name, control, ...more) {
    const wrong = h("p.wrong", { id: `wrong-${name}`, role: "alert" });
    inputs.set(name, { control, wrong });
    return h("div.field", { "data-field": name }, h("label", { for: `try-${name}` }, t("field_" + (name === "of" ? names.kind : name))), control, ...more, wrong);
  }

  function input(name, attributes) {
    return part(name, h("input", { type: "text", id: `try-${name}`, "aria-describedby": `wrong-${name}`, autocomplete: "off", spellcheck: "false", ...attributes }));
  }

  function choice(name, choices, value, words) {
    const select = h("select", { id: `try-${name}`, "aria-describedby": `wrong-${name}` },
      choices.map((each) => h("option", { value: each, selected: each === value }, words(each))));
    return part(name, select);
  }

  function value(name) { return inputs.get(name).control.value.trim(); }

  /** The options of the form, in the grammar of free transforms. */
  function written() {
    const options = fields.filter((field) => value(field.name) && value(field.name) !== field.usual)
      .map((field) => `${field.option}:${value(field.name).replace(/^#/, "")}`);
    return [...options, ...value("more").split("/").filter(Boolean)].join("/");
  }

  function mark(problem) {
    for (const { control, wrong } of inputs.values()) {
      wrong.replaceChildren();
      control.removeAttribute("aria-invalid");
    }
    if (!problem) return true;
    const name = fields.find((field) => [field.option, ...field.also].includes(problem.option))?.name
      ?? (problem.option === "of" ? "of" : value("more") ? "more" : null);
    const wrong = problem.status === 400 && inputs.get(name);
    if (!wrong) return false;
    wrong.control.setAttribute("aria-invalid", "true");
    wrong.wrong.replaceChildren(sentence(problem.message.replace(`option “${problem.option}”`, t("field_" + name))));
    return true;
  }

  function say(...nodes) {
    outcome.replaceChildren();
    add(outcome, nodes);
  }

  // MARK: The picture

  function later() {
    clearTimeout(timer);
    timer = setTimeout(update, 350);
  }

  /** There is no picture of what the form says. */
  function empty(...nodes) {
    result.removeAttribute("aria-busy");
    result.replaceChildren(...nodes, h("p.faint", {}, film.field.value.trim() ? t("noResult") : names.help));
    say();
  }

  function addresses(options, format) { return ask(`/addresses?${queryText({ of: film.title, options, format })}`); }

  async function update() {
    const own = ++turn;
    if (!film.title) return empty();
    const options = written();
    result.setAttribute("aria-busy", "true");
    try {
      const found = await addresses(options, value("format"));
      if (own !== turn) return;
      mark(null);
      say();
      // The reader may have gone on already, to a view that is not ready yet.
      if (history.state?.entry === entry) history.replaceState(history.state, "", view({ view: "try", of: film.title, options, format: value("format") }));
      await show(found, own);
    } catch (error) {
      if (own !== turn) return;
      if (!(error instanceof Problem)) throw error;
      if (mark(error)) return empty();
      result.replaceChildren(...(error.status === 401 ? [signing.node] : []));
      say(notice(error, update));
    } finally {
      if (own === turn) result.removeAttribute("aria-busy");
    }
  }

  async function show(found, own) {
    if (!found.address) return result.replaceChildren(h("div.pictured", {}, h("p", {}, t("needsSignature")), signing.node), list(found));
    if (!result.hasChildNodes()) result.append(h("p.faint", {}, t("loading")));
    try {
      const made = await pictureFacts(found.address);
      const original = await pictureFacts(originalOf(found.title)).catch(() => null);
      const times = await timesOf(found.address, readTiming(made.timing));
      if (own !== turn) return;
      const image = h("img", { src: found.address, alt: t("result"), width: made.size?.split("x")[0] ?? null, height: made.size?.split("x")[1] ?? null });
      const frame = h("div.made", {}, image);
      watch(image, frame, t("notAvailable"));
      result.replaceChildren(h("div.pictured", {}, frame), h("div.weights", {}, weights(made, original), fitting(made), times), list(found));
      announce(t("weighs", { bytes: bytes(made.bytes ?? 0) }));
      const compared = await comparison({ made, address: found.address, another: (changes) => another(found, changes) });
      if (own === turn) result.append(compared);
    } catch (error) {
      if (own !== turn) return;
      if (error instanceof Problem && mark(error)) return empty();
      result.replaceChildren();
      say(notice(error, update));
    }
  }

  /** Says why the picture is smaller than the box of the form. */
  function fitting(made) {
    const box = [value("width"), value("height")];
    if (value("resize") !== "fit" || !box[0] || !box[1] || !made.size || box.join("x") === made.size) return null;
    return h("p.faint", { id: "fits" }, t("fits", { box: box.join(" × "), fill: label("resize", "fill") }));
  }

  /** The address of the same picture in another quality or format. */
  async function another(found, { quality, format }) {
    const options = found.options.filter((option) => !quality || !option.startsWith("q:"));
    if (quality) options.push(`q:${quality}`);
    return (await addresses(options.join("/"), format || found.format || "")).address;
  }

  function list(found) {
    const row = (name, address) => h("li", {}, h("b", {}, name),
      address ? [h("code", {}, address), copyButton(new URL(address, location.href).href, `${t("copyURL")}: ${name}`, t("copied"))] : h("span.faint", {}, t("cannotSay")));
    return h("section.addresses", {}, h("h2", {}, t("addresses")),
      h("ul", {}, row(found.isSigned ? `Onesheet (${t("signed")})` : "Onesheet", found.address),
        Object.entries(found.dialects).sort().map(([name, address]) => row(dialectNames[name] ?? name, address))),
      Object.keys(found.dialects).length ? null : h("p.faint", {}, t("noDialects")),
      found.address ? h("p.actions", {}, h("a", { href: found.address, download: "" }, t("download")),
        h("a", { href: view({ view: "explain", url: found.address }) }, t("explainThis"))) : null);
  }
}

/** The stages of making the picture: those of this very answer or, if the cache had it, of the last time. */
async function timesOf(address, stages) {
  if (stages.some((stage) => stage.stage === "render")) return waterfall(stages);
  const last = await ask(`/explain?${queryText({ url: address, accept })}`)
    .then((found) => found.lastMaking?.stages ?? [], () => []);
  return last.length ? h("section", {}, h("h2", {}, t("lastMade")), waterfall(last)) : waterfall(stages);
}

function weights(made, original) {
  const kind = (facts) => `${(facts.mediaType ?? "").replace("image/", "").toUpperCase()}${facts.size ? `, ${facts.size.replace("x", " × ")}` : ""}`;
  const part = original?.bytes && made.bytes ? made.bytes / original.bytes : null;
  return h("dl.pairs", {}, h("dt", {}, `${t("result")} (${kind(made)})`), h("dd", { id: "made-bytes" }, made.bytes ? bytes(made.bytes) : "–"),
    original ? [h("dt", {}, `${t("original")} (${kind(original)})`), h("dd", {}, original.bytes ? bytes(original.bytes) : "–")] : [],
    part ? [h("dt", {}, t("part")), h("dd", {}, percent(part))] : []);
}

/** The address of a title's original. */
function originalOf(title) {
  const end = title.indexOf("://");
  return posterPath("original", title.slice(0, end), title.slice(end + 3));
}

/** Parses options into values of the form's fields, and the rest that no field has. */
function read(text) {
  const values = {};
  const rest = [];
  for (const option of text.split("/").filter(Boolean)) {
    const [name, ...parts] = option.split(":");
    const field = fields.find((each) => each.option === name || each.also.includes(name));
    if (name === "rs" && parts.length <= 3) [values.resize, values.width = "", values.height = ""] = parts;
    else if (field && (parts.length === 1 || field.name === "background") && (!field.choices || field.choices.includes(parts[0]))) values[field.name] = parts.join(":");
    else rest.push(option);
  }
  return { values, rest };
}

const label = (field, name) => t(`choice_${field}_${name}`);

/** The first poster of the first list. */
async function somePoster() {
  const title = await someTitle();
  return title ? `${title.source}://${title.id}` : "";
}
