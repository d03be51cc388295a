// The neuron view: one query, every key, their product by element, its sum, and the weight that the softmax makes of it.

import { css, signedShade } from "./colours.js";
import { drawn, label } from "./dom.js";

const LINE = 17;
const SIDE = 110;
const WIDE = 220; // pixels of a vector

export class Neurons {
  constructor() {
    this.node = drawn("svg", { role: "img", "data-view": "neurons" });
  }

  /** Draws row `row` of head `head` of layer `layer`; `columns` are the shown places of the keys. */
  draw({ kind, vectors, layer, head, row, columns }) {
    const { queries, keys, width } = vectors;
    const [, heads, rows, count] = kind.shape;
    const at = (data, length, i) => data.subarray(((layer * heads + head) * length + i) * width).subarray(0, width);
    const query = at(queries, rows, row);
    const cell = WIDE / width;
    const sizes = (vector) => Math.max(...vector.map(Math.abs));
    const keyScale = Math.max(1e-6, ...columns.map((j) => sizes(at(keys, count, j))));
    const products = columns.map((j) => at(keys, count, j).map((value, d) => value * query[d]));
    const productScale = Math.max(1e-6, ...products.map(sizes));
    const strip = (vector, scale, x, y) =>
      Array.from(vector, (value, d) => {
        const fill = css(signedShade(value / scale));
        return drawn("rect", { x: x + d * cell, y, width: cell + 0.5, height: LINE - 3, fill });
      });
    const places = { query: SIDE, keys: SIDE + WIDE + 20, products: SIDE + 2 * (WIDE + 20), sums: SIDE + 3 * (WIDE + 20) };
    const title = (x, text) => drawn("text", { x, y: 12 }, text);
    const nodes = [
      title(places.query, "query q"),
      title(places.keys, "keys k"),
      title(places.products, "q × k"),
      title(places.sums, "q · k"),
      title(places.sums + 60, "weight"),
      drawn("text", { x: SIDE - 6, y: 32, "text-anchor": "end" }, label(kind.rowTokens[row])),
      ...strip(query, Math.max(1e-6, sizes(query)), places.query, 20),
    ];
    columns.forEach((j, i) => {
      const y = 20 + LINE * i;
      const weight = kind.weights[((layer * heads + head) * rows + row) * count + j];
      const sum = products[i].reduce((total, value) => total + value, 0);
      nodes.push(...strip(at(keys, count, j), keyScale, places.keys, y), ...strip(products[i], productScale, places.products, y));
      nodes.push(drawn("text", { x: places.sums, y: y + 12, "data-dot": j }, sum.toFixed(2)));
      nodes.push(drawn("text", { x: places.sums + 60, y: y + 12 }, weight.toFixed(3)));
      nodes.push(drawn("text", { x: places.sums + 110, y: y + 12 }, label(kind.columnTokens[j])));
    });
    this.node.setAttribute("width", places.sums + 240);
    this.node.setAttribute("height", 30 + LINE * columns.length);
    this.node.setAttribute("aria-label", `query, keys and their products, layer ${layer + 1}, head ${head + 1}`);
    this.node.replaceChildren(...nodes);
  }
}
