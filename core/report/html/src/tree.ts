// The tree of modules with the worst verdict of each, opened along the culprit. Branches are built when
// opened.
import {App, errorText, section} from "./app.ts";
import {clear, h} from "./dom.ts";
import {CULPRIT, FAIL, INHERITED, Model, SYMBOLS, treePath, VERDICTS} from "./model.ts";
import {count, t} from "./text.ts";

const MOST_CHILDREN = 300;

export interface Branch {
  name: string;
  verdict: number;
  culprit: boolean;
  inherited: boolean;
  error: number;
  ops: number[];
  op: number;
  children: Map<string, Branch>;
}
const branch = (name: string): Branch =>
    ({name, verdict: 0, culprit: false, inherited: true, error: NaN, ops: [], op: -1, children: new Map()});

export function moduleTree(model: Model): Branch {
  const root = branch("");
  for (const op of model.ops) {
    let at = root;
    const path = treePath(op);
    path.forEach((name, depth) => {
      let next = at.children.get(name);
      if (!next) at.children.set(name, next = branch(name));
      at = next;
      at.verdict = Math.max(at.verdict, op.verdict);
      at.culprit ||= op.cause === CULPRIT;
      if (op.verdict >= 2 && op.cause !== INHERITED) at.inherited = false;
      if (!Number.isNaN(op.error) && !(op.error <= at.error)) at.error = op.error;
      at.ops.push(op.index);
      if (depth === path.length - 1) at.op = at.op < 0 || op.cause === CULPRIT ? op.index : at.op;
    });
  }
  return root;
}

function label(app: App, node: Branch): HTMLElement {
  const tone = node.culprit               ? "fail" :
      node.verdict >= 2 && node.inherited ? "inherited" :
                                            VERDICTS[node.verdict]!;
  const show = h(
      "button",
      {type: "button", class: "small", title: t("showRows"), "aria-label": t("showRows") + ": " + node.name},
      "☰");
  show.addEventListener("click", (event) => {
    event.preventDefault();
    const ops = new Set(node.ops);
    app.setFilter(
        {
          only: (row) => ops.has(app.model.opOfRow[row]!),
          onlyText: node.name,
          search: "",
          cause: null,
          verdicts: new Set([0, 1, 2, 3])
        },
        true);
    if (node.op >= 0) app.showOp(node.op);
  });
  return h(
      "span", {class: "branch"},
      h("span", {class: "symbol " + tone}, node.culprit ? "✗" : SYMBOLS[node.verdict]!), " ",
      h("span", {class: "name"}, node.name), " ",
      h("small", {},
        (node.ops.length > 1 ? count(node.ops.length) + " " + t("opsCount") + " " : "") +
            errorText(node.error)),
      show);
}

function item(app: App, node: Branch): HTMLElement {
  if (node.children.size === 0) return h("li", {}, label(app, node));
  const list = h("ul", {}), details = h("details", {}, h("summary", {}, label(app, node)), list);
  const fill = () => {
    if (list.childElementCount === 0) fillList(app, node, list);
  };
  details.addEventListener("toggle", () => {
    if (details.open) fill();
  });
  if (node.culprit) {
    fill();
    details.open = true;
  }
  return h("li", {}, details);
}

function fillList(app: App, node: Branch, list: HTMLElement): void {
  const children = [...node.children.values()], chosen = children.slice(0, MOST_CHILDREN);
  for (const child of children.slice(MOST_CHILDREN))
    if (child.culprit) chosen.push(child);
  for (const child of chosen) list.append(item(app, child));
  if (chosen.length < children.length)
    list.append(h("li", {class: "muted"}, t("truncated", count(children.length - chosen.length))));
}

// Branches whose name holds the text, wherever they are.
function matching(root: Branch, text: string, found: Branch[]): Branch[] {
  const waiting = [root];
  while (waiting.length > 0 && found.length < MOST_CHILDREN) {
    const node = waiting.pop()!;
    if (node !== root && node.name.toLowerCase().includes(text)) found.push(node);
    waiting.push(...[...node.children.values()].reverse());
  }
  return found;
}

export function treeView(app: App): HTMLElement {
  const root = moduleTree(app.model), list = h("ul", {class: "tree"});
  const draw = (text: string) => {
    clear(list);
    if (text === "")
      fillList(app, root, list);
    else
      for (const node of matching(root, text, [])) list.append(item(app, node));
    if (list.childElementCount === 0) list.append(h("li", {class: "muted"}, t("nothing")));
  };
  const search =
      h("input", {type: "search", placeholder: t("search"), "aria-label": t("search") + " " + t("tree")});
  search.addEventListener("input", () => draw(search.value.trim().toLowerCase()));
  draw("");
  const failed = app.model.ops.filter((op) => op.verdict === FAIL).length;
  return section(
      "tree", t("tree"),
      h("p", {class: "legend"}, search,
        h("span", {}, count(failed) + " " + t(failed === 1 ? "opFails" : "opsFail"))),
      h("div", {class: "treebox", tabindex: "0"}, list));
}
