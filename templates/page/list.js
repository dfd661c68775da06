// The list of cases. Only the rows in sight are there, so ten thousand cost no more than twenty.

import { h, sign, sentence } from "./dom.js";
import { count } from "./words.js";

const HEIGHTS = { heading: 38, row: 64 };
const SPARE = 8;

/** A list in `frame`, which scrolls; `link` makes a case's address. */
export class CaseList {
  constructor(frame, link) {
    this.frame = frame;
    this.link = link;
    this.items = [];
    this.selected = null;
    this.holder = h("ol", { class: "rows" });
    frame.replaceChildren(this.holder);
    frame.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(frame);
  }

  /** Show these cases, under a heading a status where `statuses` is given. */
  show(cases, statuses) {
    const items = statuses ? withHeadings(cases, statuses) : cases.map(asRow);
    let top = 0;
    items.forEach((item) => {
      item.top = top;
      top += HEIGHTS[item.kind];
    });
    this.items = items;
    this.cases = cases;
    this.places = new Map(cases.map((one, index) => [one.id, index]));
    this.holder.style.height = `${top}px`;
    this.draw();
  }

  /** Mark a case, and bring it into sight; null for none. */
  select(id) {
    this.selected = id;
    const item = this.items.find((one) => one.kind === "row" && one.case.id === id);
    if (item) this.reveal(item);
    this.draw();
  }

  /** The case so many places from the selected one, or the first. */
  neighbour(id, step) {
    const place = this.places.get(id);
    return place === undefined ? this.cases[0] : this.cases[place + step];
  }

  /** Which of how many a case is, counted from one. */
  placeOf(id) {
    return (this.places.get(id) ?? -1) + 1;
  }

  focus(id) {
    this.select(id);
    const links = [...this.holder.querySelectorAll("a")];
    links.find((one) => one.dataset.id === id)?.focus({ preventScroll: true });
  }

  reveal(item) {
    const { scrollTop, clientHeight } = this.frame;
    const room = HEIGHTS.heading;
    if (item.top - room < scrollTop) this.frame.scrollTop = item.top - room;
    const bottom = item.top + HEIGHTS.row + 8;
    if (bottom > scrollTop + clientHeight) this.frame.scrollTop = bottom - clientHeight;
  }

  draw() {
    const focused = this.holder.contains(document.activeElement)
      ? document.activeElement.dataset.id
      : null;
    const first = Math.max(0, this.at(this.frame.scrollTop) - SPARE);
    const last = this.at(this.frame.scrollTop + this.frame.clientHeight) + SPARE;
    this.holder.replaceChildren(...this.items.slice(first, last + 1).map((one) => this.drawn(one)));
    if (focused) {
      const again = [...this.holder.querySelectorAll("a")].find((a) => a.dataset.id === focused);
      again?.focus({ preventScroll: true });
    }
  }

  /** The index of the item at a height, found by halving. */
  at(height) {
    let [low, high] = [0, this.items.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.items[middle].top <= height) low = middle;
      else high = middle;
    }
    return low;
  }

  drawn(item) {
    const element = item.kind === "heading" ? headingOf(item) : this.row(item.case);
    element.style.top = `${item.top}px`;
    return element;
  }

  row(one) {
    const chosen = one.id === this.selected;
    return h(
      "li",
      { class: "row", "aria-setsize": this.cases.length, "aria-posinset": this.placeOf(one.id) },
      h(
        "a",
        {
          href: this.link(one),
          "data-id": one.id,
          "aria-current": chosen ? "true" : null,
          class: one.blocking ? "blocking" : null,
        },
        sign(one.sign),
        h("span", { class: "name" }, one.name),
        h("span", { class: "runs" }, one.runs ?? ""),
        h("span", { class: "why" }, one.why.length ? sentence(one.why[0]) : one.remark || one.asked || one.label),
      ),
    );
  }
}

function withHeadings(cases, statuses) {
  const groups = new Map(statuses.map((status) => [status.key, []]));
  for (const one of cases) groups.get(one.status).push(one);
  const filled = statuses.filter((status) => groups.get(status.key).length > 0);
  return filled.flatMap((status) => {
    const own = groups.get(status.key);
    return [{ kind: "heading", status, number: own.length }, ...own.map(asRow)];
  });
}

function asRow(one) {
  return { kind: "row", case: one };
}

function headingOf({ status, number }) {
  return h(
    "li",
    { class: "heading" },
    h("span", {}, status.label),
    h("span", { class: "number" }, count(number)),
  );
}
