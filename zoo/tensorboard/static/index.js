// Where TensorBoard starts the viewer.

import { Viewer } from "./app.js";
import { setTheme } from "./colours.js";
import { Permalink } from "./state.js";
import { TensorBoardSource } from "./tensorboard.js";

function followTheme(body) {
  const set = () => setTheme(body.classList.contains("dark-mode"));
  set();
  new MutationObserver(set).observe(body, { attributes: true, attributeFilter: ["class"] });
}

export function render() {
  followTheme(window.parent.document.body);
  new Viewer(document.body, new TensorBoardSource(), new Permalink(window.parent)).start();
}
