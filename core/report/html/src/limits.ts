// Live thresholds: which rows other limits would judge otherwise. Changes nothing of the report.
import {section} from "./app.ts";
import {AnyReport} from "./data.ts";
import {clear, h} from "./dom.ts";
import {changedRows, Limit, offeredLimits} from "./filter.ts";
import {count, number, t} from "./text.ts";

// A slider moves over decades; a share such as cosine over the nines: 0.9, 0.99, …
const toSlider = (limit: Limit) =>
    limit.least ? -Math.log10(Math.max(1e-12, 1 - limit.value)) : Math.log10(Math.max(1e-12, limit.value));
const fromSlider = (limit: Limit, at: number) => limit.least ? 1 - 10 ** -at : 10 ** at;

function control(limit: Limit, changed: () => void): HTMLElement {
  const on = h("input", {type: "checkbox", checked: limit.on, "aria-label": limit.metric});
  const slider = h("input", {
    type: "range",
    min: limit.least ? 0 : -12,
    max: limit.least ? 12 : 4,
    step: 0.05,
    value: toSlider(limit),
    "aria-label": limit.metric
  });
  const exact = h(
      "input",
      {type: "text", inputmode: "decimal", size: 10, value: String(limit.value), "aria-label": limit.metric});
  on.addEventListener("change", () => {
    limit.on = on.checked;
    changed();
  });
  const use = (value: number) => {
    limit.value = value;
    limit.on = on.checked = true;
    changed();
  };
  slider.addEventListener("input", () => {
    const value = Number(fromSlider(limit, Number(slider.value)).toPrecision(limit.least ? 6 : 3));
    exact.value = String(value);
    use(value);
  });
  exact.addEventListener("change", () => {
    const value = Number(exact.value);
    exact.toggleAttribute("aria-invalid", !Number.isFinite(value) || exact.value.trim() === "");
    if (!Number.isFinite(value) || exact.value.trim() === "") return;
    use(value);
    slider.value = String(toSlider(limit));
  });
  return h(
      "div", {class: "limit"},
      h("label", {}, on, h("span", {class: "name"}, limit.metric + (limit.least ? " ≥" : " ≤"))), slider,
      exact);
}

// column: where rows have their own verdict; choose: shows rows, under the name of what they are.
export function limitsView(
    report: AnyReport, column: string, choose: (rows: Set<number>, name: string) => void): HTMLElement {
  const limits = offeredLimits(report), result = h("div", {class: "tiles", "aria-live": "polite"});
  const tile = (name: string, rows: Set<number>, tone: string) =>
      h("button", {type: "button", class: "tile " + tone, click: () => choose(rows, t(name))},
        h("strong", {}, count(rows.size)), h("span", {}, t(name)));
  const update = () => {
    const changed = changedRows(report, limits, column);
    clear(result);
    result.append(
        tile("toFail", changed.toFail, "fail"), tile("toPass", changed.toPass, "pass"),
        h("p", {class: "muted"}, number(changed.judged) + " " + t("judgedRows")));
  };
  let waiting = 0;
  // A slider fires faster than 100 000 rows are counted.
  const later = () => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(update, 40);
  };
  update();
  return section(
      "limits", t("limits"), h("p", {class: "muted"}, t("limitsHelp")),
      limits.length === 0 ? h("p", {class: "muted"}, t("nothing")) :
                            h("div", {class: "limitbox"}, ...limits.map((limit) => control(limit, later))),
      result);
}
