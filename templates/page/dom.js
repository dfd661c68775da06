// Elements are made here and nowhere else. Texts become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element; `attributes` may hold `on`, the listeners by event. Children may be nested lists. */
export function h(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** One of the signs of signs.svg. What it means stands beside it, so it is hidden from readers. */
export function sign(name) {
  const use = filled(document.createElementNS(SVG, "use"), { href: `#sign-${name}` }, []);
  const attributes = { class: `sign ${name}`, viewBox: "0 0 16 16", "aria-hidden": "true" };
  return filled(document.createElementNS(SVG, "svg"), attributes, [use]);
}

/** Our words with other people's names and values among them, as `locales.Sentence` has them. */
export function sentence(pieces) {
  return pieces.map((piece) => (typeof piece === "string" ? piece : h("code", {}, piece.code)));
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") listen(element, value);
    else if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(key, value === true ? "" : value);
    }
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== ""));
  return element;
}

function listen(element, listeners) {
  for (const [event, listener] of Object.entries(listeners)) {
    element.addEventListener(event, listener);
  }
}
