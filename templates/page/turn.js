// One turn of a case: what was asked, what was called, what was answered, what a judge said.

import { diff } from "./diff.js";
import { h, sign } from "./dom.js";
import { some, t } from "./words.js";
import { trajectory } from "./trajectory.js";

const LONG = 60;
const KEPT = 24;
const APART = 30;

/** A turn, unfolded where something differs in it or a link asks for it. */
export function turnView(turn, number, { open, alone, paper = false }) {
  const title = alone ? t("page.turn.only") : t("page.turn", { n: number });
  const body = [
    h("div", { class: "asked" }, h("div", { class: "by" }, t("page.asked")), quote(turn.asked)),
    trajectory(turn),
    answers(turn),
    turn.note ? h("p", { class: "soft" }, turn.note) : null,
    judged(turn),
  ];
  const summary = [h("b", {}, title), h("span", { class: "hint" }, turn.asked)];
  return h(
    "details",
    { class: "turn", id: paper ? null : `turn-${number}`, open },
    h("summary", {}, ...summary, turn.differs ? null : h("span", { class: "tag" }, t("page.same"))),
    h("div", { class: "body" }, body),
  );
}

/** Words as they were said, whatever is in them. */
function quote(text) {
  return h("div", { class: "said" }, text);
}

function answers(turn) {
  const sides = ["expected", "base", "head"].filter((side) => turn[side]);
  if (sides.length === 0) return null;
  const views = viewsOf(turn, sides);
  const box = h("div", { class: "answer" });
  const buttons = views.map(({ title, make }, index) =>
    h("button", { type: "button", "aria-pressed": String(index === 0), on: { click: choose } }, title),
  );
  function choose({ currentTarget }) {
    buttons.forEach((one) => one.setAttribute("aria-pressed", String(one === currentTarget)));
    box.replaceChildren(...[views[buttons.indexOf(currentTarget)].make()].flat());
  }
  box.append(...[views[0].make()].flat());
  const heading = h("h4", {}, t("page.answer"));
  return h("section", {}, h("div", { class: "bar" }, heading, h("div", { class: "views" }, buttons)), box);
}

function viewsOf(turn, sides) {
  const pairs = [["base", "head"], ["expected", "head"]]
    .filter((pair) => pair.every((side) => sides.includes(side)))
    .filter(([before, after]) => turn[before] !== turn[after])
    .map(([before, after]) => ({
      title: t("page.against", { before: t(`side.${before}`), after: t(`side.${after}`) }),
      make: () => changes(turn[before], turn[after]),
    }));
  const whole = { title: t("page.whole"), make: () => columns(turn, sides) };
  return [...pairs, whole];
}

function columns(turn, sides) {
  const groups = [];
  for (const side of sides) {
    const group = groups.find((one) => one.text === turn[side]);
    if (group) group.sides.push(side);
    else groups.push({ sides: [side], text: turn[side] });
  }
  return h("div", { class: "columns" }, groups.map(column));
}

function column({ sides, text }) {
  const names = sides.map((side) => t(`side.${side}`)).join(t("list.comma"));
  return h("div", {}, h("div", { class: "by" }, names), quote(text));
}

function changes(before, after) {
  const steps = diff(before, after);
  return h(
    "div",
    { class: "said words" },
    steps.map(([mark, text], index) => {
      const [next] = steps[index + 1] ?? [];
      if (mark === "-") return [h("del", {}, text), next === "+" && text.length > APART ? "\n" : ""];
      if (mark === "+") return h("ins", {}, text);
      return context(text, index > 0, index < steps.length - 1);
    }),
  );
}

/** What both texts share; of a long stretch what is next to a change, the rest at a click. */
function context(text, before, after) {
  const words = text.split(/(?<=\s)/);
  const kept = (before ? KEPT : 0) + (after ? KEPT : 0);
  if (words.length < LONG + kept) return text;
  const head = before ? words.slice(0, KEPT).join("") : "";
  const tail = after ? words.slice(-KEPT).join("") : "";
  const middle = text.slice(head.length, text.length - tail.length);
  const more = h("button", { type: "button", class: "more" }, some("page.shared", words.length - kept));
  more.addEventListener("click", () => more.replaceWith(middle));
  return [head, more, tail];
}

function judged(turn) {
  if (turn.judged.length === 0) return null;
  const items = turn.judged.map((one) =>
    h(
      "li",
      {},
      sign(one.sign),
      h(
        "div",
        {},
        h("div", { class: "subject" }, one.subject, " ", h("b", {}, one.verdicts)),
        one.reason ? h("div", { class: "reason" }, one.reason) : null,
        h("code", {}, one.criterion),
      ),
    ),
  );
  return h("section", {}, h("h4", {}, t("page.judged")), h("ul", { class: "judged" }, items));
}
