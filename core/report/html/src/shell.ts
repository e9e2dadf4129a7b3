// What every kind of report has around it: the bar at the top, language, theme, keyboard.
import {clear, h, visible} from "./dom.ts";
import {currentLanguage, setLanguage, t} from "./text.ts";

// One report, drawn in the language of the moment.
export interface Drawn {
  title: string;
  sections: [string, string][];  // that the bar leads to: their ids and names
  parts: (HTMLElement|null)[];
  dialog?: HTMLElement;
  onTheme?: () => void;
  ready?: () => void;  // when it is in the page
}

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
}

function topBar(drawn: Drawn, again: () => void): HTMLElement {
  const language =
      h("button", {type: "button", lang: currentLanguage() === "zh" ? "en" : "zh"},
        currentLanguage() === "zh" ? "English" : "中文");
  language.addEventListener("click", () => {
    setLanguage(currentLanguage() === "zh" ? "en" : "zh");
    again();
  });
  const theme = h("button", {type: "button", title: t("theme"), "aria-label": t("theme")}, "◐");
  theme.addEventListener("click", () => {
    document.documentElement.dataset["theme"] = isDark() ? "light" : "dark";
    drawn.onTheme?.();
  });
  return h(
      "header", {class: "top"}, h("strong", {}, "ulpscope"),
      h("nav", {}, ...drawn.sections.map(([id, name]) => h("a", {href: "#" + id}, t(name)))), language,
      theme);
}

// Puts a report into the page, and again when the language changes.
export function show(draw: () => Drawn): void {
  const root = document.getElementById("app")!, drawn = draw();
  document.documentElement.lang = currentLanguage();
  document.title = visible(drawn.title + " · ulpscope");
  clear(root);
  root.append(topBar(drawn, () => show(draw)), h("main", {}, ...drawn.parts));
  if (drawn.dialog) root.append(drawn.dialog);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.onTheme?.());
  drawn.ready?.();
}

export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    if (event.key === "/" && !["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName)) {
      event.preventDefault();
      document.getElementById("search")?.focus();
    }
  });
}
