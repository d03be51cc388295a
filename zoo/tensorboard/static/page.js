// Where a page of its own starts the viewer.

import { Viewer } from "./app.js";
import { setTheme } from "./colours.js";
import { EmbeddedSource } from "./embedded.js";
import { Permalink } from "./state.js";

function start() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const set = () => setTheme(dark.matches);
  dark.addEventListener("change", set);
  set();
  const data = JSON.parse(document.getElementById("attention-data").textContent);
  new Viewer(document.body, new EmbeddedSource(data), new Permalink(window)).start();
}

start();
