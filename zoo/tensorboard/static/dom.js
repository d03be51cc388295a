// Elements, with text only ever as text: tokens come from users and are never interpreted.

const LONGEST_LABEL = 18;
const LONGEST_TEXT = 200;
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** An HTML element; children are nodes or strings. */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function drawn(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A token with nothing invisible in it: control, format and direction characters by their code, the word sign as _. */
export function visible(token, longest = LONGEST_TEXT) {
  const plain = String(token).replaceAll("▁", "_");
  const parts = [];
  for (const character of plain) {
    if (parts.length >= longest) {
      parts[longest - 1] = "…";
      break;
    }
    const hidden = /[\p{C}\p{Zl}\p{Zp}]/u.test(character);
    parts.push(hidden ? `\\u${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}` : character);
  }
  return parts.join("") || "∅";
}

/** A token as it is written beside a picture. */
export function label(token) {
  return visible(token, LONGEST_LABEL);
}

/** A drop-down list of [value, text] pairs. */
export function choice(name, options, value, onchange) {
  if (options.length === 1) return element("span", {}, `${name} `, element("b", {}, options[0][1]));
  const items = options.map(([key, text]) => element("option", { value: key, selected: key === value }, text));
  const list = element("select", { "aria-label": name, onchange: () => onchange(list.value) }, ...items);
  return element("label", {}, `${name} `, list);
}

/** A slider with its name. */
export function slider(name, least, most, step, value, oninput) {
  const input = element("input", { type: "range", min: least, max: most, step, "aria-label": name });
  input.value = value;
  input.addEventListener("input", () => oninput(Number(input.value)));
  return element("label", {}, `${name} `, input);
}

/** A canvas of so many CSS pixels, sharp on the screen that it is on. */
export function sharpCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

/** Saves a blob under a name. */
export function saveAs(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
