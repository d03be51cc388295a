// One matrix of weights with its tokens: a row for each token that attends, a column for each that is attended to.

import { css, fullScale, pixels } from "./colours.js";
import { drawn, element, label, sharpCanvas } from "./dom.js";

const GAP = 6;
const FONT = 12;
const CELL = { least: 7, most: 26 };
const AXES = { rows: "attends ↓", columns: "attended to →" };
const ROOM = 560; // pixels that the cells of one axis get, about

/** Sizes of a picture of so many tokens: {cell, left, top, width, height}. */
function layOut(pen, rows, columns) {
  const cell = Math.max(CELL.least, Math.min(CELL.most, Math.floor(ROOM / Math.max(rows.length, columns.length, 1))));
  pen.font = `${FONT}px sans-serif`;
  const widest = (tokens) => Math.max(0, ...tokens.map((token) => pen.measureText(label(token)).width));
  const left = Math.max(Math.ceil(pen.measureText(AXES.columns).width), Math.ceil(widest(rows))) + 2 * GAP;
  const top = Math.max(3 * FONT, Math.ceil(widest(columns))) + 2 * GAP;
  return { cell, left, top, width: left + cell * columns.length + GAP, height: top + cell * rows.length + GAP };
}

/** Every how many labels there is room for one. */
function labelStep(cell) {
  return Math.ceil((FONT - 2) / cell);
}

export class Heatmap {
  constructor(name, onhover, onpin) {
    this.canvas = element("canvas", { tabindex: 0, role: "img", "data-view": name });
    this.bands = [0, 1].map(() => element("div", { class: "band" }));
    for (const band of this.bands) {
      band.style.cssText = "position:absolute;pointer-events:none;border:1.5px solid var(--mark);display:none";
    }
    const holder = element("div", {}, this.canvas, ...this.bands);
    holder.style.position = "relative";
    this.caption = element("figcaption");
    this.node = element("figure", {}, this.caption, holder);
    this.canvas.addEventListener("mousemove", (event) => onhover(this.cellAt(event)));
    this.canvas.addEventListener("mouseleave", () => onhover(null));
    this.canvas.addEventListener("click", (event) => onpin(this.cellAt(event)));
    this.canvas.addEventListener("keydown", (event) => this.move(event, onhover, onpin));
  }

  draw({ matrix, rowTokens, columnTokens, gold, caption }) {
    Object.assign(this, { matrix, rowTokens, columnTokens, gold });
    this.caption.replaceChildren(caption);
    this.canvas.setAttribute("aria-label", `${caption}. ${matrix.rows} rows, ${matrix.columns} columns. Arrow keys move.`);
    const place = (this.place = layOut(this.canvas.getContext("2d"), rowTokens, columnTokens));
    Object.assign(this.canvas.dataset, { cell: place.cell, left: place.left, top: place.top });
    const pen = sharpCanvas(this.canvas, place.width, place.height);
    const style = getComputedStyle(document.documentElement);
    pen.fillStyle = style.getPropertyValue("--panel") || "#fff";
    pen.fillRect(0, 0, place.width, place.height);
    const small = document.createElement("canvas");
    [small.width, small.height] = [matrix.columns || 1, matrix.rows || 1];
    small.getContext("2d").putImageData(pixels(matrix), 0, 0);
    pen.imageSmoothingEnabled = false;
    const { cell, left, top } = place;
    pen.drawImage(small, left, top, cell * matrix.columns, cell * matrix.rows);
    pen.strokeStyle = style.getPropertyValue("--line") || "#ccc";
    pen.strokeRect(left - 0.5, top - 0.5, cell * matrix.columns + 1, cell * matrix.rows + 1);
    pen.fillStyle = style.getPropertyValue("--ink") || "#000";
    pen.font = `${FONT}px sans-serif`;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.fillStyle = style.getPropertyValue("--soft") || "#666";
    pen.fillText(AXES.columns, left - GAP, top - GAP - 1.5 * FONT);
    pen.fillText(AXES.rows, left - GAP, top - GAP);
    pen.fillStyle = style.getPropertyValue("--ink") || "#000";
    const every = labelStep(cell);
    rowTokens.forEach((token, i) => {
      pen.textAlign = "right";
      if (i % every === 0) pen.fillText(label(token), left - GAP, top + cell * (i + 0.5));
    });
    columnTokens.forEach((token, j) => {
      if (j % every) return;
      pen.save();
      pen.translate(left + cell * (j + 0.5), top - GAP);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "left";
      pen.fillText(label(token), 0, 0);
      pen.restore();
    });
    pen.strokeStyle = style.getPropertyValue("--mark") || "#b45309";
    pen.lineWidth = 1.5;
    for (const [i, j] of gold) pen.strokeRect(left + cell * j + 1, top + cell * i + 1, cell - 2, cell - 2);
    this.hover(null);
  }

  cellAt(event) {
    const { cell, left, top } = this.place;
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - top) / cell);
    const column = Math.floor((event.clientX - box.left - left) / cell);
    const inside = row >= 0 && row < this.matrix.rows && column >= 0 && column < this.matrix.columns;
    return inside ? { row, column } : null;
  }

  move(event, onhover, onpin) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.key === "Enter") onpin(this.cell);
    if (!(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    const [down, right] = steps[event.key];
    const { row, column } = this.cell ?? { row: 0, column: 0 };
    const within = (value, size) => Math.min(Math.max(value, 0), size - 1);
    const moved = this.cell ? [row + down, column + right] : [0, 0];
    onhover({ row: within(moved[0], this.matrix.rows), column: within(moved[1], this.matrix.columns) });
  }

  /** Marks a cell's row and column; nothing is drawn again. */
  hover(cell) {
    this.cell = cell;
    const { cell: size, left, top } = this.place;
    const boxes = cell && [
      [left, top + size * cell.row, size * this.matrix.columns, size],
      [left + size * cell.column, top, size, size * this.matrix.rows],
    ];
    this.bands.forEach((band, i) => {
      band.style.display = boxes ? "block" : "none";
      if (boxes) ["left", "top", "width", "height"].forEach((side, k) => (band.style[side] = `${boxes[i][k]}px`));
    });
  }

  toPNG() {
    return new Promise((resolve) => this.canvas.toBlob(resolve, "image/png"));
  }

  toSVG() {
    const { matrix, place } = this;
    const { cell, left, top, width, height } = place;
    const root = drawn("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, "font-family": "sans-serif" });
    const image = pixels(matrix);
    for (let i = 0; i < matrix.data.length; i++) {
      if (Math.abs(matrix.data[i]) < 0.002 * fullScale(matrix)) continue;
      const [x, y] = [left + cell * (i % matrix.columns), top + cell * Math.floor(i / matrix.columns)];
      const fill = css(image.data.subarray(4 * i, 4 * i + 3));
      root.append(drawn("rect", { x, y, width: cell, height: cell, fill }));
    }
    this.rowTokens.forEach((token, i) => {
      const place = { x: left - GAP, y: top + cell * (i + 0.5) + 4, "text-anchor": "end", "font-size": FONT };
      root.append(drawn("text", place, label(token)));
    });
    this.columnTokens.forEach((token, j) => {
      const turn = `translate(${left + cell * (j + 0.5) + 4},${top - GAP}) rotate(-90)`;
      root.append(drawn("text", { transform: turn, "font-size": FONT }, label(token)));
    });
    return new Blob([new XMLSerializer().serializeToString(root)], { type: "image/svg+xml" });
  }
}
