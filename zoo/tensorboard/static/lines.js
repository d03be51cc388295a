// The head view: a line from each token to what it attends to, in the colour of its head, as strong as its weight.

import { headColour } from "./colours.js";
import { drawn, label } from "./dom.js";

const LINE = 17;
const MIDDLE = 180;
const SIDE = 100;
const MOST = 3000;

export class Lines {
  constructor(onhover) {
    this.node = drawn("svg", { role: "img", "data-view": "lines" });
    this.onhover = onhover;
  }

  /** Draws heads [{head, matrix}]; weights below the threshold are left out, and past 3,000 lines the weakest. */
  draw({ heads, rowTokens, columnTokens, threshold }) {
    const height = LINE * Math.max(rowTokens.length, columnTokens.length) + 24;
    const found = [];
    for (const { head, matrix } of heads) {
      matrix.data.forEach((weight, i) => {
        if (weight >= threshold) found.push({ head, weight, row: Math.floor(i / matrix.columns), column: i % matrix.columns });
      });
    }
    this.none = found.length === 0;
    found.sort((a, b) => b.weight - a.weight);
    const left = (this.leftOut = Math.max(0, found.length - MOST));
    const names = heads.map(({ head }) => (head === "mean" ? "mean" : head + 1)).join(", ");
    const cut = left ? `, the ${left} weakest left out` : "";
    this.node.setAttribute("aria-label", `lines from tokens to what they attend to, heads ${names}${cut}`);
    this.node.setAttribute("width", MIDDLE + 2 * SIDE);
    this.node.setAttribute("height", height);
    const y = (i) => 24 + LINE * (i + 0.5);
    this.rows = rowTokens.map((_, row) => drawn("g", { "data-row": row }));
    for (const { head, weight, row, column } of found.slice(0, MOST)) {
      const ends = { x1: SIDE, y1: y(row), x2: SIDE + MIDDLE, y2: y(column) };
      const stroke = { stroke: headColour(head === "mean" ? 7 : head), "stroke-width": 2, "stroke-opacity": weight };
      this.rows[row].append(drawn("line", { ...ends, ...stroke }));
    }
    const title = (x, anchor, text) => drawn("text", { x, y: 12, "text-anchor": anchor }, text);
    const token = (side, i, text) => {
      const left = side === "row";
      const place = { x: left ? SIDE - 6 : SIDE + MIDDLE + 6, y: y(i) + 4, "text-anchor": left ? "end" : "start" };
      const node = drawn("text", { ...place, [`data-${side}`]: i }, label(text));
      node.addEventListener("mouseenter", () => this.onhover({ [side]: i }));
      node.addEventListener("mouseleave", () => this.onhover(null));
      return node;
    };
    this.node.replaceChildren(
      title(SIDE - 6, "end", "attends"),
      title(SIDE + MIDDLE + 6, "start", "is attended to"),
      ...this.rows,
      ...rowTokens.map((text, i) => token("row", i, text)),
      ...columnTokens.map((text, j) => token("column", j, text)),
    );
  }

  /** Keeps the lines of a row strong, and lets the others fade. */
  hover(cell) {
    this.rows?.forEach((group, row) => group.classList.toggle("faint", cell?.row != null && cell.row !== row));
  }

  toSVG() {
    const copy = this.node.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("font-family", "sans-serif");
    copy.setAttribute("font-size", 12);
    return new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
  }
}
