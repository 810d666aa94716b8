// Makes elements. Text is always text: nothing that a source says becomes markup.

/**
 * @param {string} tag a name, with classes behind points: "a.card"
 * @param {object} [attributes] properties that start with "on" are listeners, the value of `disabled` is the reason; null, undefined and
 *   false are left out
 * @param {...(Node|string|null|false)} children
 */
export function h(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "disabled") disable(element, value);
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

/** Disables a control, and says why; without a reason, it is enabled. */
export function disable(control, reason, title = "") {
  control.disabled = Boolean(reason);
  control.title = reason || title;
}

export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

const paths = {
  left: "M15 5l-7 7 7 7", right: "M9 5l7 7-7 7", close: "M6 6l12 12M18 6L6 18", wall: "M4 4h6v7H4zM14 4h6v7h-6zM4 15h6v5H4zM14 15h6v5h-6z",
  list: "M4 6h16M4 12h16M4 18h16", refresh: "M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6", calendar: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16 16l5 5", copy: "M9 9h11v11H9zM5 15H4V4h11v1",
};

/** A small line drawing that says nothing to a screen reader. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}

/** Says something to screen readers. */
export function announce(text) { document.getElementById("status").textContent = text; }

/** A button that copies a text, also where browsers keep the clipboard for secure pages. */
export function copyButton(text, label, done) {
  const button = h("button.copy", { type: "button", "aria-label": label, title: label }, icon("copy"));
  button.addEventListener("click", async () => {
    const value = typeof text === "function" ? text() : text;
    if (navigator.clipboard) await navigator.clipboard.writeText(value).catch(() => copyBySelection(value));
    else copyBySelection(value);
    button.classList.add("done");
    announce(done);
    setTimeout(() => button.classList.remove("done"), 1500);
  });
  return button;
}

function copyBySelection(text) {
  const area = h("textarea.hidden", { "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}
