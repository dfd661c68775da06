// What narrows the list: a button for each status, a fold for each other facet.

import { h, sign } from "./dom.js";
import { counts } from "./search.js";
import { FACETS } from "./state.js";
import { count, t } from "./words.js";

/** The statuses as buttons, and the other facets that have a choice, each with what it leaves. */
export function facetsView(data, state, toggle) {
  const open = new Set([...document.querySelectorAll(".facet[open]")].map((one) => one.dataset.name));
  const statuses = counts(data.cases, "status", state);
  const folds = FACETS.slice(1).map((name) => fold(data, name, state, toggle, open.has(name)));
  return [
    h(
      "div",
      { class: "statuses", role: "group", "aria-label": t("page.facet.status") },
      data.statuses
        .filter((status) => statuses.has(status.key))
        .map((status) => statusButton(status, statuses.get(status.key), state, toggle)),
    ),
    h("div", { class: "folds" }, folds),
  ];
}

/** Close open folds but the one that holds an element; whether there were any. */
export function closeFolds(kept = null) {
  const open = [...document.querySelectorAll(".facet[open]")].filter((one) => !one.contains(kept));
  open.forEach((one) => (one.open = false));
  return open.length > 0;
}

function statusButton(status, number, state, toggle) {
  const pressed = state.facets.status.has(status.key);
  return h(
    "button",
    {
      type: "button",
      "aria-pressed": String(pressed),
      "data-key": `status ${status.key}`,
      on: { click: () => toggle("status", status.key) },
    },
    sign(status.sign),
    h("span", {}, status.label),
    h("span", { class: "number" }, count(number)),
  );
}

function fold(data, name, state, toggle, open) {
  const found = counts(data.cases, name, state);
  found.delete("");
  const chosen = state.facets[name];
  if (found.size < 2 && chosen.size === 0) return null;
  const rows = [...found]
    .sort(([a, x], [b, y]) => y - x || a.localeCompare(b))
    .map(([value, number]) => choice(data, name, value, number, chosen.has(value), toggle));
  return h(
    "details",
    { class: "facet", name: "facet", "data-name": name, open },
    h("summary", {}, t(`page.facet.${name}`), chosen.size ? h("b", {}, ` ${count(chosen.size)}`) : null),
    h("div", { class: "choices" }, rows),
  );
}

function choice(data, name, value, number, checked, toggle) {
  const box = h("input", {
    type: "checkbox",
    "data-key": `${name} ${value}`,
    on: { change: () => toggle(name, value) },
  });
  box.checked = checked;
  const title = data.titles?.[name]?.[value] ?? value;
  return h("label", {}, box, h("span", { class: "value" }, title), h("span", { class: "number" }, count(number)));
}
