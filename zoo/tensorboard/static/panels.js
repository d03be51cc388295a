// The pictures under the bar, and what they say to one another.

import { CAUTION, LEGEND, meaning, SIGNED_LEGEND, WORTH_LEGEND } from "./help.js";
import { css, fullScale, shadeOf, signedShade } from "./colours.js";
import { Curves } from "./curves.js";
import { choice, drawn, element, saveAs, slider, visible } from "./dom.js";
import { HeadGrid } from "./grid.js";
import { Heatmap } from "./heatmap.js";
import { Lines } from "./lines.js";
import { Neurons } from "./neurons.js";
import { bestHead, cutMatrix, differenceOf, headMatrix, headNumbers, isSpecial, layerMean, rolledOut, wholeMean, written } from "./numbers.js";

const ROOM = 96; // tokens of an axis that are shown at a time
const soft = (...text) => element("p", { class: "soft" }, ...text);
const METRICS = { entropy: "entropy (nats)", sharpness: "largest weight of a row", distance: "distance from the diagonal (tokens)", first: "weight on the first token", aer: "alignment error, row = word predicted", aer_read: "alignment error, row = word read" };

export class Panels {
  constructor(set) {
    this.set = set;
    this.room = ROOM;
    const hover = (cell) => this.hover(cell);
    const pin = (cell) => this.set({ row: cell && this.state.row !== this.rows[cell.row] ? this.rows[cell.row] : null });
    this.map = new Heatmap("map", hover, pin);
    this.otherMap = new Heatmap("other", hover, pin);
    this.lines = new Lines(hover);
    this.grid = new HeadGrid((layer, head, more) => this.choose(layer, head, more));
    this.curves = new Curves((step) => this.set({ step }));
    this.neurons = new Neurons();
    this.readout = element("div", { class: "readout", role: "status", "aria-live": "polite", "data-out": "cell" });
    this.numbers = element("p", { class: "soft", "data-out": "numbers" });
    this.node = element("div", { class: "panels" });
  }

  choose(layer, head, more) {
    if (!more || layer !== this.state.layer) return this.set({ layer, heads: [head], how: "head" });
    const others = this.state.heads.filter((other) => other !== head);
    const heads = others.length < this.state.heads.length ? others : [...this.state.heads, head];
    return this.set({ heads: heads.length ? heads : [head], how: "head" });
  }

  /** Draws everything for a state and what was fetched for it. */
  draw(state, shown) {
    Object.assign(this, { state, shown });
    const { kind, record, other } = shown;
    const words = (tokens) => tokens.map((_, i) => i).filter((i) => state.special === "show" || !isSpecial(tokens[i]));
    const inRoom = (kept, from) => kept.slice(Math.min(from, Math.max(0, kept.length - ROOM))).slice(0, ROOM);
    this.kept = words(kind.columnTokens);
    this.rows = inRoom(words(kind.rowTokens), state.fromRow);
    this.columns = inRoom(this.kept, state.fromColumn);
    this.matrix = this.cut(this.matrixOf(kind, state.heads[0]));
    const there = other?.kind;
    const fits = there && String(there.shape) === String(kind.shape) && (state.how !== "worth" || there.worth);
    this.otherMatrix = fits ? this.cut(this.matrixOf(there, state.heads[0])) : null;
    this.alike = fits && ["rowTokens", "columnTokens"].every((axis) => JSON.stringify(there[axis]) === JSON.stringify(kind[axis]));
    const tokensOf = (one) => ({ rowTokens: this.rows.map((i) => one.rowTokens[i]), columnTokens: this.columns.map((i) => one.columnTokens[i]) });
    const tokens = tokensOf(kind);
    const cross = kind.name === "cross" && record.header.gold;
    const gold = cross ? record.header.gold.map(([i, j]) => [this.rows.indexOf(i), this.columns.indexOf(j)]).filter(([i, j]) => i >= 0 && j >= 0) : [];
    const difference = this.alike && state.view === "difference";
    const matrix = difference ? differenceOf(this.otherMatrix, this.matrix) : this.matrix;
    const here = `${visible(state.run, 40)}, step ${shown.step}`;
    const otherName = fits && `${visible(other.run, 40)}, step ${other.step}`;
    this.map.draw({ matrix, ...tokens, gold, caption: difference ? `${here} minus ${otherName}` : `${this.name()} · ${here}` });
    if (this.otherMatrix && !difference) this.otherMap.draw({ matrix: this.otherMatrix, ...tokensOf(there), gold: this.alike ? gold : [], caption: `${this.name()} · ${otherName}` });
    const heads = state.how === "head" ? state.heads.map((head) => ({ head, matrix: this.cut(headMatrix(kind, state.layer, head)) })) : [{ head: "mean", matrix: this.matrix }];
    this.lines.draw({ heads, ...tokens, threshold: state.threshold });
    this.drawGrid();
    this.node.replaceChildren(...this.sections(fits, difference, matrix));
    this.numbers.replaceChildren(this.headText());
    this.neuronRow = null;
    this.hover(null);
  }

  /** What is shown of a kind: a head, a mean, the rollout, or what tokens are worth. */
  matrixOf(kind, head) {
    const { how, layer } = this.state;
    if (how === "worth") {
      const [, , rows, columns] = kind.shape;
      return { rows, columns, data: Float32Array.from(kind.worth.slice(0, rows).flatMap((row) => row.slice(0, columns))), signed: true };
    }
    if (how === "rollout") return rolledOut(kind, layer);
    if (how === "all") return wholeMean(kind);
    return how === "mean" ? layerMean(kind, layer) : headMatrix(kind, layer, head);
  }

  /** The shown rows and columns; without special tokens, a row keeps the sum that it had over all columns. */
  cut(matrix) {
    const rescaled = this.state.special === "hide" && !matrix.signed;
    return cutMatrix(matrix, this.rows, this.columns, rescaled ? this.kept : null);
  }

  name() {
    const { how, layer, heads } = this.state;
    const one = `layer ${layer + 1}, head ${heads[0] + 1}`;
    return { head: one, mean: `layer ${layer + 1}, mean of heads`, all: "mean of all layers and heads", rollout: `rollout to layer ${layer + 1}`, worth: "leave-one-out" }[how] ?? one;
  }

  /** A head's number at a step: what the writer worked out from floats, or here from the bytes. */
  number(metric, layer, head, step = this.shown.step) {
    const { stats, kind } = this.shown;
    const known = written(stats, kind, metric, layer, head, step);
    if (known !== null) return known;
    const place = ["entropy", "sharpness", "distance", "first"].indexOf(metric);
    return place >= 0 && step === this.shown.step ? headNumbers(headMatrix(kind, layer, head))[place] : null;
  }

  drawGrid() {
    const { kind } = this.shown;
    const { sort, layer, heads } = this.state;
    const all = Array.from({ length: kind.shape[0] * kind.shape[1] }, (_, i) => [Math.floor(i / kind.shape[1]), i % kind.shape[1]]);
    const best = bestHead(this.shown.stats, kind, this.shown.step);
    const badge = best && { ...best, text: `${all.length > 1 ? "best " : ""}AER ${best.error.toFixed(2)}` };
    let order = null;
    if (sort !== "layer" && sort in METRICS) {
      const value = ([l, head]) => this.number(sort, l, head) ?? Infinity;
      order = [...all].sort((a, b) => (sort === "sharpness" ? value(b) - value(a) : value(a) - value(b)));
    }
    const describe = (l, head) => `entropy ${this.number("entropy", l, head)?.toFixed(2) ?? "unknown"}`;
    this.grid.draw({ kind, layer, heads: this.state.how === "head" ? heads : [], order, badge, describe });
  }

  sections(fits, difference, matrix) {
    const { state, shown } = this;
    const { kind, record, stats, other } = shown;
    const save = (name, make) => element("button", { type: "button", onclick: async () => saveAs(await make(), `attention.${name.toLowerCase()}`) }, name);
    const notes = [...record.header.notes];
    if (other?.problem) notes.push(other.problem);
    else if (other && !fits) notes.push("the other map has another size: it is not shown");
    else if (fits && !this.alike) notes.push("the other map has other tokens: the two are not subtracted");
    const section = (title, ...parts) => element("section", { "aria-label": title }, element("h2", {}, title), ...parts);
    const several = kind.shape[0] * kind.shape[1] > 1;
    const choose = several ? "Choose one; with Shift, several of a layer for the lines." : "This model has one head.";
    const left = element(
      "div",
      { class: "column" },
      section(several ? "All heads" : "The head", soft(choose), this.grid.node),
    );
    const legend = difference ? SIGNED_LEGEND : matrix.signed ? WORTH_LEGEND : LEGEND;
    const parts = [
      left,
      section(
        "Weights",
        soft(meaning(kind.name), " ", legend, record.header.gold && kind.name === "cross" ? "Framed: links of the gold alignment." : ""),
        element("div", { class: "pair" }, this.map.node, this.otherMatrix && !difference ? this.otherMap.node : null),
        this.legend(matrix),
        this.readout,
        this.numbers,
        ...notes.map((note) => element("p", { class: "soft", "data-out": "note" }, visible(note))),
        element("div", { class: "bar" }, save("PNG", () => this.map.toPNG()), save("SVG", () => this.map.toSVG())),
      ),
      section(
        "Lines",
        soft("One colour for each chosen head; strong lines carry much weight. Point at a token to see its lines alone."),
        slider("weights from", 0, 1, 0.01, state.threshold, (threshold) => this.set({ threshold })),
        this.lines.none ? soft("No weight is that large: move the slider to the left.") : null,
        this.lines.leftOut ? soft(`${this.lines.leftOut} of the weakest lines are left out`) : null,
        this.lines.node,
        element("div", { class: "bar" }, element("button", { type: "button", onclick: () => saveAs(this.lines.toSVG(), "lines.svg") }, "SVG")),
      ),
    ];
    const k = stats.kinds.indexOf(kind.name);
    if (stats.steps.length > 1 && k >= 0) {
      const known = stats.metrics.filter((metric) => this.number(metric, state.layer, state.heads[0]) != null);
      const metric = known.includes(state.metric) ? state.metric : known[0];
      const series = Array.from({ length: kind.shape[1] }, (_, head) => ({
        head,
        values: stats.steps.map((step) => this.number(metric, state.layer, head, step)),
        strong: state.heads.includes(head),
      }));
      this.curves.draw({ steps: stats.steps, series, current: shown.step, name: METRICS[metric] ?? metric });
      left.append(
        section(
          "In training",
          soft(`A line for each head of layer ${state.layer + 1}, the chosen one thick. Click to go to a step.`),
          choice("number", known.map((name) => [name, METRICS[name] ?? name]), metric, (name) => this.set({ metric: name })),
          this.curves.node,
        ),
      );
    }
    if (shown.vectors) {
      const about = "How a weight comes about: the query of the row that you point at, times each key, summed, then the softmax over what may be seen.";
      parts.push(section("Neurons", soft(about), this.neurons.node));
    }
    return parts;
  }

  /** Draws the neurons of a row, where it is another than before: it is much to draw for each move of a pointer. */
  drawNeurons(row) {
    if (!this.shown.vectors || row === undefined || row === this.neuronRow) return;
    this.neuronRow = row;
    const { kind, vectors } = this.shown;
    this.neurons.draw({ kind, vectors, layer: this.state.layer, head: this.state.heads[0], row, columns: this.columns });
  }

  legend(matrix) {
    const scale = fullScale(matrix);
    const [from, to] = matrix.signed ? [-1, 1] : [0, 1];
    const ramp = Array.from({ length: 24 }, (_, i) => {
      const value = from + ((to - from) * i) / 23;
      return drawn("rect", { x: 40 + i * 6, y: 2, width: 6.5, height: 12, fill: css(matrix.signed ? signedShade(value) : shadeOf(value)) });
    });
    const text = (x, value, anchor) => drawn("text", { x, y: 13, "text-anchor": anchor }, value);
    const ends = matrix.signed ? [(-scale).toPrecision(2), scale.toPrecision(2)] : ["0", "1"];
    return drawn("svg", { width: 260, height: 18, role: "img", "aria-label": `colours from ${ends[0]} to ${ends[1]}` }, text(36, ends[0], "end"), ...ramp, text(190, ends[1], "start"));
  }

  /** Follows the pointer or the arrow keys: the same row and column in every picture, and its number. */
  hover(cell) {
    const row = cell?.row ?? (this.state.row === null ? undefined : this.rows.indexOf(this.state.row));
    const full = cell?.row !== undefined && cell?.column !== undefined;
    this.map.hover(full ? cell : null);
    if (this.otherMatrix && !(this.alike && this.state.view === "difference")) this.otherMap.hover(full ? cell : null);
    const marked = row !== undefined && row >= 0;
    this.lines.hover(marked ? { row } : null);
    this.drawNeurons(marked ? this.rows[row] : (this.neuronRow ?? this.rows[0]));
    this.readout.replaceChildren(full ? this.cellText(cell) : "Point at a cell, or reach the map with Tab and move with the arrow keys.");
  }

  cellText({ row, column }) {
    const { kind } = this.shown;
    const at = row * this.matrix.columns + column;
    const [from, to] = [visible(kind.rowTokens[this.rows[row]], 40), visible(kind.columnTokens[this.columns[column]], 40)];
    const value = this.matrix.data[at].toFixed(3);
    if (!this.otherMatrix) return `${from} → ${to}: ${value}`;
    const other = this.otherMatrix.data[at];
    if (!this.alike) {
      const { kind: there } = this.shown.other;
      const [row2, column2] = [visible(there.rowTokens[this.rows[row]], 40), visible(there.columnTokens[this.columns[column]], 40)];
      return `${from} → ${to}: ${value}; the other, ${row2} → ${column2}: ${other.toFixed(3)}`;
    }
    return `${from} → ${to}: ${value}, the other ${other.toFixed(3)}, difference ${(this.matrix.data[at] - other).toFixed(3)}`;
  }

  headText() {
    const { layer, heads, how } = this.state;
    const { correlation } = this.shown.record.header;
    if (how !== "head") return "";
    const parts = Object.keys(METRICS).map((metric) => [METRICS[metric], this.number(metric, layer, heads[0])]).filter(([, value]) => value != null);
    const said = parts.map(([name, value]) => `${name} ${value.toFixed(2)}`);
    const together = correlation?.[this.shown.kind.name]?.[layer]?.[heads[0]];
    if (together != null) said.push(`rank correlation with leave-one-out ${together.toFixed(2)} (${CAUTION})`);
    return `Layer ${layer + 1}, head ${heads[0] + 1}: ${said.join("; ")}.`;
  }
}
