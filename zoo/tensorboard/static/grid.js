// The model view: every layer's heads as small pictures, to be chosen from, sorted and compared.

import { pixels } from "./colours.js";
import { element, sharpCanvas } from "./dom.js";
import { headMatrix } from "./numbers.js";

const SMALL = { least: 44, most: 76 };

function thumbnail(matrix, size) {
  const canvas = element("canvas", { "aria-hidden": "true" });
  const scale = size / Math.max(matrix.rows, matrix.columns);
  const [width, height] = [matrix.columns * scale, matrix.rows * scale].map((side) => Math.max(3, Math.round(side)));
  const small = document.createElement("canvas");
  [small.width, small.height] = [matrix.columns, matrix.rows];
  small.getContext("2d").putImageData(pixels(matrix), 0, 0);
  const pen = sharpCanvas(canvas, width, height);
  pen.imageSmoothingEnabled = matrix.columns * 1.5 > width;
  pen.drawImage(small, 0, 0, width, height);
  return canvas;
}

export class HeadGrid {
  constructor(onchoose) {
    this.node = element("div", { class: "grid", role: "group", "aria-label": "heads of all layers" });
    this.onchoose = onchoose;
  }

  /** Draws all heads: in rows by layer, or as `order`, a list of [layer, head], says. `badge` is {layer, head, text}. */
  draw({ kind, layer, heads, order, badge, describe }) {
    const [layers, count] = kind.shape;
    const size = Math.max(SMALL.least, Math.min(SMALL.most, Math.floor(620 / count)));
    const across = order ? Math.min(count, 8) : count;
    this.node.style.gridTemplateColumns = `${order ? "" : "auto "}repeat(${across}, auto)`;
    const cells = [];
    if (!order) {
      cells.push(element("span", { class: "name" }));
      for (let head = 0; head < count; head++) cells.push(element("span", { class: "name" }, `head ${head + 1}`));
    }
    const one = (l, head) => {
      const chosen = l === layer && heads.includes(head);
      const best = badge && badge.layer === l && badge.head === head;
      const name = `layer ${l + 1}, head ${head + 1}, ${describe(l, head)}${best ? `, ${badge.text}` : ""}`;
      const attributes = { type: "button", "aria-label": name, title: name, "aria-pressed": String(chosen) };
      return element(
        "button",
        {
          ...attributes,
          class: chosen ? "chosen" : "",
          "data-head": `${l}/${head}`,
          onclick: (event) => this.onchoose(l, head, event.shiftKey),
        },
        thumbnail(headMatrix(kind, l, head), size),
        best ? element("span", { class: "badge" }, badge.text) : null,
      );
    };
    if (order) cells.push(...order.map(([l, head]) => one(l, head)));
    for (let l = 0; !order && l < layers; l++) {
      cells.push(element("span", { class: "name" }, `layer ${l + 1}`));
      for (let head = 0; head < count; head++) cells.push(one(l, head));
    }
    const focused = this.node.contains(document.activeElement) && document.activeElement.dataset.head;
    this.node.replaceChildren(...cells);
    if (focused) this.node.querySelector(`[data-head="${focused}"]`)?.focus();
  }
}
