import { Store } from "./store";

export type Theme = "system" | "light" | "dark";

const stored = "theme";
const themes: Theme[] = ["system", "light", "dark"];

export const theme = new Store<Theme>(read());

function read(): Theme {
  const kept = localStorage.getItem(stored) as Theme;
  return themes.includes(kept) ? kept : "system";
}

export function nextTheme() {
  theme.set(themes[(themes.indexOf(theme.value) + 1) % themes.length]!);
  localStorage.setItem(stored, theme.value);
  applyTheme();
}

export function applyTheme() {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
