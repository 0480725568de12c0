import { options } from "preact";
import { nextTask } from "./slices";

let atOnce = false;

// Each round of drawing is a task of its own: one that causes another, as a list that learns its size, holds the browser
// up for a shorter time. A key or a click is answered at once, so that the next key finds what it is meant for.
options.debounceRendering = (work) => {
  if (atOnce || window.event instanceof UIEvent) queueMicrotask(work);
  else void nextTask().then(work);
};

// urgently has what a function changes drawn before the browser paints, as rows have to be while a list scrolls.
export function urgently(change: () => void) {
  atOnce = true;
  change();
  atOnce = false;
}
