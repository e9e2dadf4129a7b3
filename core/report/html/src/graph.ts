// The data flow around one op: where its inputs came from, and who read its outputs. Laid out in columns by
// distance: producers to the left, consumers to the right.
import {App, errorText, place, section} from "./app.ts";
import {clear, h, svg} from "./dom.ts";
import {CULPRIT, INHERITED, Model, SYMBOLS, VERDICTS} from "./model.ts";
import {count, t} from "./text.ts";

const WIDTH = 190, HEIGHT = 46, GAP_X = 60, GAP_Y = 14, MOST_IN_COLUMN = 8;

export interface Node {
  op: number;
  column: number;
  place: number
}
export interface Edge {
  from: number;
  to: number;
  row: number
}  // ops; row: the output; -1: order only
export interface Flow {
  nodes: Map<number, Node>;
  edges: Edge[];
  left: number;
  right: number;
  hidden: number;
  known: boolean
}

// Ops at most levels steps away. Where no flow is known: the neighbours in execution order.
export function flowAround(model: Model, centre: number, levels: number): Flow {
  const flow: Flow = {nodes: new Map(), edges: [], left: 0, right: 0, hidden: 0, known: true};
  const sizes = new Map<number, number>();
  const add = (op: number, column: number): boolean => {
    if (flow.nodes.has(op)) return true;
    const size = sizes.get(column) ?? 0;
    if (size >= MOST_IN_COLUMN) {
      ++flow.hidden;
      return false;
    }
    sizes.set(column, size + 1);
    flow.nodes.set(op, {op, column, place: size});
    flow.left = Math.min(flow.left, column);
    flow.right = Math.max(flow.right, column);
    return true;
  };
  add(centre, 0);
  for (const side of [-1, 1]) {
    let edge = [centre];
    for (let level = 1; level <= levels; ++level) {
      const next: number[] = [];
      for (const op of edge)
        for (const link of side < 0 ? model.producers(op) : model.consumers(op))
          if (link.op !== op && !flow.nodes.has(link.op) && add(link.op, side * level)) next.push(link.op);
      edge = next;
    }
  }
  for (const op of flow.nodes.keys()) {
    const drawn = new Set<number>();
    for (const link of model.producers(op))
      if (link.op !== op && flow.nodes.has(link.op) && !drawn.has(link.row)) {
        drawn.add(link.row);
        flow.edges.push({from: link.op, to: op, row: link.row});
      }
  }
  if (flow.nodes.size === 1) addNeighbours(model, centre, levels, flow, add);
  return flow;
}

function addNeighbours(
    model: Model, centre: number, levels: number, flow: Flow,
    add: (op: number, column: number) => boolean): void {
  flow.known = false;
  const op = model.ops[centre]!, lane = model.lanes[op.lane]!.ops;
  for (const side of [-1, 1])
    for (let level = 1; level <= levels; ++level) {
      const next = lane[op.place + side * level];
      if (next === undefined) break;
      add(next, side * level);
      const inner = lane[op.place + side * (level - 1)]!;
      flow.edges.push(side < 0 ? {from: next, to: inner, row: -1} : {from: inner, to: next, row: -1});
    }
}

const shortened = (text: string, most: number) =>
    text.length <= most ? text : text.slice(0, most / 2 - 1) + "…" + text.slice(text.length - most / 2);

function positions(flow: Flow): Map<number, {x: number, y: number}> {
  const heights = new Map<number, number>();
  for (const node of flow.nodes.values())
    heights.set(node.column, Math.max(heights.get(node.column) ?? 0, node.place + 1));
  const tallest = Math.max(...heights.values()), found = new Map<number, {x: number, y: number}>();
  for (const node of flow.nodes.values())
    found.set(node.op, {
      x: (node.column - flow.left) * (WIDTH + GAP_X) + 8,
      y: (node.place + (tallest - heights.get(node.column)!) / 2) * (HEIGHT + GAP_Y) + 8
    });
  return found;
}

function drawNode(app: App, op: number, at: {x: number, y: number}): SVGElement {
  const {model} = app, known = model.ops[op]!;
  const tone = known.cause === INHERITED ? "inherited" : VERDICTS[known.verdict]!;
  const symbol = known.cause === CULPRIT ? "✗" : SYMBOLS[known.verdict]!;
  const label = known.name + " " + place(known.step, known.rank) + " " + t(VERDICTS[known.verdict]!);
  const node =
      svg("g", {
        class:
            "node " + tone + (op === app.op ? " centre" : "") + (known.cause === CULPRIT ? " isculprit" : ""),
        tabindex: "0",
        role: "button",
        transform: "translate(" + at.x + "," + at.y + ")",
        "aria-label": label
      },
          svg("title", {}, label), svg("rect", {width: WIDTH, height: HEIGHT, rx: 6}),
          svg("text", {x: 8, y: 19, class: "nodename"}, symbol + " " + shortened(known.name, 22)),
          svg("text", {x: 8, y: 37, class: "nodenote"},
              (known.cause === CULPRIT       ? t("culprit") + " · " :
                   known.cause === INHERITED ? t("inherited") + " · " :
                                               "") +
                  (errorText(known.error) === "" ? "" : t("error") + " " + errorText(known.error))));
  const go = () => op === app.op ? app.showRow(known.first) : app.showOp(op);
  node.addEventListener("click", go);
  node.addEventListener("keydown", (event) => {
    if ((event as KeyboardEvent).key === "Enter") go();
  });
  return node;
}

function drawEdge(app: App, edge: Edge, places: Map<number, {x: number, y: number}>): SVGElement {
  const a = places.get(edge.from)!, b = places.get(edge.to)!;
  const x1 = a.x + WIDTH, y1 = a.y + HEIGHT / 2, x2 = b.x, y2 = b.y + HEIGHT / 2,
        bend = Math.max(30, Math.abs(x2 - x1) / 2);
  const verdict = edge.row >= 0 ? app.model.report.integer("verdict")[edge.row]! : 0;
  const cause = edge.row >= 0 ? app.model.report.integer("cause")[edge.row]! : 0;
  const tone = edge.row < 0 ? "order" : cause === INHERITED ? "inherited" : VERDICTS[verdict]!;
  return svg(
      "path", {
        class: "edge " + tone,
        "marker-end": "url(#arrow)",
        d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2 - 4},${y2}`
      },
      svg("title", {}, edge.row < 0 ? "" : app.model.tensorName(edge.row)));
}

function drawFlow(app: App, flow: Flow): SVGElement {
  const places = positions(flow);
  let width = 0, height = 0;
  for (const at of places.values()) {
    width = Math.max(width, at.x + WIDTH + 8);
    height = Math.max(height, at.y + HEIGHT + 8);
  }
  const arrow = svg(
      "marker",
      {id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
      svg("path", {d: "M0,0 L8,4 L0,8 z", class: "arrow"}));
  return svg(
      "svg", {width, height, viewBox: "0 0 " + width + " " + height, role: "group", "aria-label": t("graph")},
      svg("defs", {}, arrow), ...flow.edges.map((edge) => drawEdge(app, edge, places)),
      ...[...places].map(([op, at]) => drawNode(app, op, at)));
}

function findOp(model: Model, text: string): number {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return -1;
  const exact = model.ops.findIndex((op) => op.name.toLowerCase() === wanted);
  return exact >= 0 ? exact : model.ops.findIndex((op) => op.name.toLowerCase().includes(wanted));
}

export function graphView(app: App): HTMLElement {
  let levels = 2;
  const box = h("div", {class: "graphbox", tabindex: "0"}), note = h("p", {class: "muted"});
  const draw = () => {
    clear(box);
    note.textContent = "";
    if (app.op < 0) return;
    const flow = flowAround(app.model, app.op, levels), drawn = drawFlow(app, flow);
    box.append(drawn);
    const notes =
        [flow.known ? "" : t("flowUnknown"), flow.hidden > 0 ? t("truncated", count(flow.hidden)) : ""];
    note.textContent = notes.filter((text) => text !== "").join(" · ");
    const centre = drawn.querySelector(".centre");
    if (centre) {
      const from = box.getBoundingClientRect(), at = centre.getBoundingClientRect();
      box.scrollLeft += at.left + at.width / 2 - from.left - from.width / 2;
      box.scrollTop += at.top + at.height / 2 - from.top - from.height / 2;
    }
  };
  const search =
      h("input", {type: "search", placeholder: t("search"), "aria-label": t("search") + " " + t("op")});
  search.addEventListener("change", () => {
    const op = findOp(app.model, search.value);
    search.toggleAttribute("aria-invalid", op < 0 && search.value !== "");
    if (op >= 0) app.showOp(op);
  });
  const change = (by: number) => () => {
    levels = Math.min(6, Math.max(1, levels + by));
    draw();
  };
  app.onOp.push(draw);
  requestAnimationFrame(draw);
  return section(
      "graph", t("graph"),
      h("p", {class: "legend"}, search, h("button", {type: "button", click: change(-1)}, t("fewer")),
        h("button", {type: "button", click: change(1)}, t("more"))),
      box, note);
}
