// All runs of a case on both sides: what each was made for, and how it came out.

import { h, sign } from "./dom.js";
import { count, some, t } from "./words.js";

const SIGNS = { passed: "good", failed: "bad", errored: "unsure", not_evaluated: "empty" };

/** A strip of marks a side, and a table of every run in a fold. */
export function runs(made, open) {
  if (made.length === 0) return null;
  return h(
    "section",
    {},
    h("h4", {}, t("page.runs")),
    ["base", "head"].map((side) => strip(side, made.filter((run) => run.side === side))),
    h(
      "details",
      { class: "all", open },
      h("summary", {}, some("page.runs.all", made.length)),
      table(made),
    ),
  );
}

function strip(side, own) {
  if (own.length === 0) return null;
  const passed = own.filter((run) => run.status === "passed").length;
  return h(
    "div",
    { class: "strip" },
    h("span", { class: "by" }, t(`side.${side}`)),
    h("span", { class: "marks" }, own.map((run) => sign(SIGNS[run.status] ?? "empty"))),
    h("span", { class: "number" }, t("page.runs.passed", { n: count(passed), total: count(own.length) })),
  );
}

function table(made) {
  const names = [...new Set(made.flatMap((run) => Object.keys(run.scores)))].sort();
  const heads = ["side", "number", "role", "status"].map((name) => t(`page.run.${name}`));
  const head = [...heads, ...names].map((text) => h("th", { scope: "col" }, text));
  const frame = { class: "scroll", tabindex: "0", role: "group", "aria-label": t("page.runs") };
  const rows = made.map((run, at) => runRow(run, numberOf(made, at), names));
  const cells = [h("thead", {}, h("tr", {}, head)), h("tbody", {}, rows)];
  return h("div", frame, h("table", { class: "stack" }, cells));
}

function numberOf(made, at) {
  return made.slice(0, at + 1).filter((run) => run.side === made[at].side).length;
}

function runRow(run, number, names) {
  const facts = [
    h("td", { "data-label": t("page.run.number") }, count(number)),
    h("td", { "data-label": t("page.run.role") }, run.role),
    h("td", {}, sign(SIGNS[run.status] ?? "empty"), " ", run.result),
  ];
  const scores = names.map((name) => h("td", { class: "n", "data-label": name }, run.scores[name] ?? t("page.none")));
  return h("tr", {}, h("th", { scope: "row" }, t(`side.${run.side}`)), facts, scores);
}
