"use strict";
(() => {
  document.documentElement.classList.add("script");
  const grid = document.querySelector("[role=grid]");
  const dialog = document.querySelector("dialog");
  const panel = dialog.querySelector(".panel");
  let column = 0; // to which the arrows up and down come back

  // The grid is one stop of the Tab key; arrows move within it: https://www.w3.org/WAI/ARIA/apg/patterns/grid/.
  const cellsOf = (row) => [...row.querySelectorAll(".cell")];
  const plansOf = (cell) => cell.dataset.plans.split(" ");
  const columnOf = (cell) => cell.parentElement.cellIndex;
  const rows = () => [...grid.rows].filter((row) => row.offsetParent && row.querySelector(".cell"));
  const nearest = (row) => cellsOf(row).reduce((a, b) => Math.abs(columnOf(b) - column) < Math.abs(columnOf(a) - column) ? b : a);

  function target(cell, event) {
    const all = rows(), row = cell.closest("tr"), at = all.indexOf(row), cells = cellsOf(row), i = cells.indexOf(cell);
    const within = (n) => all[Math.max(0, Math.min(all.length - 1, n))];
    switch (event.key) {
    case "ArrowRight": return cells[i + 1];
    case "ArrowLeft": return cells[i - 1];
    case "ArrowDown": return nearest(within(at + 1));
    case "ArrowUp": return nearest(within(at - 1));
    case "PageDown": return nearest(within(at + 10));
    case "PageUp": return nearest(within(at - 10));
    case "Home": return cellsOf(event.ctrlKey ? within(0) : row)[0];
    case "End": return cellsOf(event.ctrlKey ? within(all.length - 1) : row).at(-1);
    }
  }

  function stop(cell) {
    grid.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    cell.setAttribute("tabindex", "0");
  }

  function open(cell) {
    panel.replaceChildren(...plansOf(cell).map((id) => document.getElementById("plan-" + id).content.cloneNode(true)));
    panel.querySelectorAll("details").forEach((details) => details.open = true);
    panel.querySelector("h2").id = "panel-title";
    dialog.showModal();
    panel.scrollTop = 0;
    history.replaceState(null, "", "#" + cell.id);
  }

  async function copy(button) {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch { // it is not allowed: the text is selected, to be copied by hand
      getSelection().selectAllChildren(code);
    }
  }

  // shown opens the plan that the address names.
  function shown() {
    const cell = [...grid.querySelectorAll(".cell")].find((cell) => plansOf(cell).includes(location.hash.slice(1)));
    if (!cell) return;
    stop(cell);
    cell.focus();
    open(cell);
  }

  grid.addEventListener("keydown", (event) => {
    const cell = event.target.closest(".cell");
    const next = cell && target(cell, event);
    if (!next) return;
    event.preventDefault();
    const wanted = column;
    next.focus();
    if (/^(Arrow|Page)(Up|Down)$/.test(event.key)) column = wanted;
  });
  grid.addEventListener("focusin", (event) => {
    const cell = event.target.closest(".cell");
    if (!cell) return;
    column = columnOf(cell);
    stop(cell);
  });
  grid.addEventListener("mouseover", (event) => {
    const cell = event.target.closest(".cell");
    if (cell) cell.title = cell.ariaLabel;
  });
  document.addEventListener("click", (event) => {
    const at = event.target;
    if (at.matches(".cell")) open(at);
    else if (at.matches(".copy")) copy(at);
    else if (at.matches(".close") || at === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => history.replaceState(null, "", location.pathname + location.search));
  document.getElementById("only").addEventListener("change", () => {
    const first = rows()[0];
    if (first && !grid.querySelector("[tabindex='0']")?.offsetParent) stop(cellsOf(first)[0]);
  });
  addEventListener("hashchange", shown);
  shown();
})();
