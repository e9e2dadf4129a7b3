// The error of each op in execution order, a line a step and rank. What a culprit passed on is grey.
import {App, errorText, place, section} from "./app.ts";
import {colour, fitted, h} from "./dom.ts";
import {CULPRIT, FAIL, INHERITED, Op} from "./model.ts";
import {t} from "./text.ts";

const LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 28;
const MOST_LANES = 24;  // drawn together; more are chosen one by one

interface Scale {
  x0: number;
  x1: number;
  low: number;
  high: number
}

class Curve {
  readonly canvas = h("canvas", {class: "curve", tabindex: "0", role: "img"});
  readonly tip = h("p", {class: "tip", "aria-live": "polite"}, t("dragZoom"));
  lane = -1;
  private scale: Scale = {x0: 0, x1: 1, low: -9, high: 0};
  private readonly high: number;
  private readonly low: number;
  private chosen: Op|null = null;
  private drag: {from: number, to: number}|null = null;

  constructor(private readonly app: App) {
    const errors = app.model.ops.map((op) => op.error).filter((e) => e > 0 && Number.isFinite(e));
    let least = Infinity, most = 0;
    for (const error of errors) {
      least = Math.min(least, error);
      most = Math.max(most, error);
    }
    this.low = errors.length === 0 ? -8 : Math.max(-16, Math.floor(Math.log10(least)));
    this.high = errors.length === 0 ? 0 : Math.min(12, Math.max(this.low + 2, Math.ceil(Math.log10(most))));
    if (app.model.lanes.length > MOST_LANES) this.lane = Math.max(0, this.firstCulprit()?.lane ?? 0);
    this.reset();
    this.listen();
  }

  firstCulprit(): Op|undefined { return this.app.model.ops.find((op) => op.cause === CULPRIT); }

  reset(): void {
    const {lanes} = this.app.model;
    const longest = this.lanes().reduce((most, lane) => Math.max(most, lanes[lane]!.ops.length), 1);
    this.scale = {x0: -0.5, x1: longest - 0.5, low: this.low, high: this.high};
  }

  private lanes(): number[] {
    return this.lane >= 0 ? [this.lane] : this.app.model.lanes.map((_, i) => i).slice(0, MOST_LANES);
  }
  private x(op: Op, width: number): number {
    return LEFT + (op.place - this.scale.x0) / (this.scale.x1 - this.scale.x0) * (width - LEFT - RIGHT);
  }
  // Zero lies on the lower edge, what cannot be measured on the upper one.
  private y(error: number, height: number): number {
    const {low, high} = this.scale, inner = height - TOP - BOTTOM - 32;
    if (error === Infinity) return TOP;
    if (error === 0) return height - BOTTOM;
    const share = (Math.log10(error) - low) / (high - low);
    return TOP + 14 + (1 - Math.min(1, Math.max(0, share))) * inner;
  }

  draw(): void {
    const {context, width, height} = fitted(this.canvas);
    if (width < 10) return;
    context.font = "12px system-ui, sans-serif";
    this.drawAxes(context, width, height);
    for (const lane of this.lanes()) this.drawLane(context, width, height, lane);
    for (const op of this.app.model.ops)
      if (op.cause === CULPRIT && this.lanes().includes(op.lane))
        this.drawCulprit(context, width, height, op);
    if (this.chosen) this.drawChosen(context, width, height, this.chosen);
    if (this.drag) {
      context.fillStyle = colour("band");
      context.fillRect(
          Math.min(this.drag.from, this.drag.to), TOP, Math.abs(this.drag.to - this.drag.from),
          height - TOP - BOTTOM);
    }
  }

  private drawAxes(context: CanvasRenderingContext2D, width: number, height: number): void {
    context.strokeStyle = colour("line");
    context.fillStyle = colour("muted");
    context.textAlign = "right";
    context.textBaseline = "middle";
    const {low, high} = this.scale, every = Math.max(1, Math.ceil((high - low) / 6));
    const marks: [number, string][] = [[0, "0"]];
    for (let power = low; power <= high; power += every) marks.push([10 ** power, "1e" + power]);
    if (this.app.model.ops.some((op) => op.error === Infinity)) marks.push([Infinity, "∞"]);
    for (const [error, label] of marks) {
      const y = this.y(error, height);
      context.fillText(label, LEFT - 6, y);
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width - RIGHT, y);
      context.stroke();
    }
    context.textAlign = "left";
    context.fillText("op " + Math.max(0, Math.ceil(this.scale.x0)), LEFT, height - 10);
    context.textAlign = "right";
    context.fillText("op " + Math.floor(this.scale.x1), width - RIGHT, height - 10);
  }

  private shown(lane: number): Op[] {
    const {ops, lanes} = this.app.model;
    return lanes[lane]!.ops.map((i) => ops[i]!)
        .filter((op) => !Number.isNaN(op.error) && op.place >= this.scale.x0 && op.place <= this.scale.x1);
  }

  private drawLane(context: CanvasRenderingContext2D, width: number, height: number, lane: number): void {
    const ops = this.shown(lane), hue = colour("lane" + lane % 8), grey = colour("inherited");
    context.lineWidth = 1;
    context.globalAlpha = 0.45;
    context.strokeStyle = hue;
    context.beginPath();
    ops.forEach((op, i) => {
      const x = this.x(op, width), y = this.y(op.error, height);
      if (i === 0)
        context.moveTo(x, y);
      else
        context.lineTo(x, y);
    });
    context.stroke();
    context.globalAlpha = 1;
    const size = ops.length > 2000 ? 2 : ops.length > 300 ? 3 : 5;
    for (const op of ops) {
      context.fillStyle = op.cause === INHERITED ? grey : op.verdict === FAIL ? colour("fail") : hue;
      context.fillRect(this.x(op, width) - size / 2, this.y(op.error, height) - size / 2, size, size);
    }
  }

  private drawCulprit(context: CanvasRenderingContext2D, width: number, height: number, op: Op): void {
    if (op.place < this.scale.x0 || op.place > this.scale.x1) return;
    const x = this.x(op, width), y = this.y(Number.isNaN(op.error) ? Infinity : op.error, height);
    context.strokeStyle = colour("fail");
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x - 6, y - 6);
    context.lineTo(x + 6, y + 6);
    context.moveTo(x + 6, y - 6);
    context.lineTo(x - 6, y + 6);
    context.stroke();
    if (op !== this.firstCulprit()) return;
    context.setLineDash([4, 4]);
    context.beginPath();
    context.moveTo(x, TOP);
    context.lineTo(x, height - BOTTOM);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = colour("fail");
    context.textAlign = x > width / 2 ? "right" : "left";
    context.fillText(op.name.slice(0, 60), x + (x > width / 2 ? -10 : 10), TOP + 4);
  }

  private drawChosen(context: CanvasRenderingContext2D, width: number, height: number, op: Op): void {
    context.strokeStyle = colour("text");
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(this.x(op, width), this.y(op.error, height), 7, 0, 2 * Math.PI);
    context.stroke();
  }

  private choose(op: Op|null): void {
    this.chosen = op;
    this.tip.textContent = "";
    this.tip.append(
        op ? h("span", {},
               op.name + " · " + place(op.step, op.rank) + " · " + errorText(op.error) +
                   (op.cause === INHERITED   ? " · " + t("inherited") :
                        op.cause === CULPRIT ? " · " + t("culprit") :
                                               "")) :
             t("dragZoom"));
    this.draw();
  }

  private nearest(px: number, py: number): Op|null {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    let best: Op|null = null, distance = 40 * 40;
    for (const lane of this.lanes())
      for (const op of this.shown(lane)) {
        const d = (this.x(op, width) - px) ** 2 + (this.y(op.error, height) - py) ** 2;
        if (d < distance) [best, distance] = [op, d];
      }
    return best;
  }

  private zoom(from: number, to: number): void {
    const width = this.canvas.clientWidth - LEFT - RIGHT, span = this.scale.x1 - this.scale.x0;
    const at = (px: number) => this.scale.x0 + (Math.min(width, Math.max(0, px - LEFT)) / width) * span;
    const x0 = at(Math.min(from, to)), x1 = at(Math.max(from, to));
    if (x1 - x0 >= 1) this.scale = {...this.scale, x0, x1};
  }

  private listen(): void {
    const {canvas} = this;
    const px = (event: PointerEvent) => event.clientX - canvas.getBoundingClientRect().left;
    const py = (event: PointerEvent) => event.clientY - canvas.getBoundingClientRect().top;
    canvas.addEventListener("pointerdown", (event) => {
      this.drag = {from: px(event), to: px(event)};
    });
    canvas.addEventListener("pointermove", (event) => {
      if (this.drag && event.buttons === 1) {
        this.drag.to = px(event);
        this.draw();
      } else {
        this.choose(this.nearest(px(event), py(event)));
      }
    });
    canvas.addEventListener("pointerup", (event) => {
      const drag = this.drag;
      this.drag = null;
      if (drag && Math.abs(drag.to - drag.from) > 8)
        this.zoom(drag.from, drag.to);
      else
        this.openOp(this.nearest(px(event), py(event)));
      this.draw();
    });
    canvas.addEventListener("dblclick", () => {
      this.reset();
      this.draw();
    });
    canvas.addEventListener("keydown", (event) => this.walk(event));
  }

  private openOp(op: Op|null): void {
    if (op === null) return;
    this.app.showOp(op.index);
    this.app.showRow(this.rowOf(op));
  }
  // The row that speaks for an op: the culprit's, else the one with the largest error.
  private rowOf(op: Op): number {
    const cause = this.app.model.report.integer("cause");
    let best = op.first;
    for (let row = op.first; row < op.end; ++row) {
      if (cause[row] === CULPRIT) return row;
      if (this.app.model.errors[row]! >= (this.app.model.errors[best]! || 0)) best = row;
    }
    return best;
  }

  private walk(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (event.key === "Enter") this.openOp(this.chosen);
    if (step === 0) return;
    event.preventDefault();
    const ops = this.shown(this.chosen?.lane ?? this.lanes()[0] ?? 0);
    const at = this.chosen ? ops.indexOf(this.chosen) : -1;
    this.choose(ops[Math.min(ops.length - 1, Math.max(0, at + step))] ?? null);
  }
}

export function curveView(app: App): HTMLElement {
  const curve = new Curve(app), {lanes} = app.model;
  const select = h("select", {"aria-label": t("lanesAll")});
  if (lanes.length <= MOST_LANES) select.append(h("option", {value: "-1"}, t("lanesAll")));
  lanes.forEach(
      (lane, i) => select.append(
          h("option", {value: i, selected: i === curve.lane}, place(lane.step, lane.rank) || String(i))));
  select.addEventListener("change", () => {
    curve.lane = Number(select.value);
    curve.reset();
    curve.draw();
  });
  const legend =
      h("p", {class: "legend"}, h("span", {class: "key fail"}, "✗ " + t("culprit")),
        h("span", {class: "key inherited"}, "■ " + t("inherited")), lanes.length > 1 ? select : null);
  if (lanes.length <= 8)
    lanes.forEach(
        (lane, i) =>
            legend.append(h("span", {class: "key lane" + i}, "■ " + (place(lane.step, lane.rank) || "run"))));
  curve.canvas.setAttribute("aria-label", t("curve"));
  new ResizeObserver(() => curve.draw()).observe(curve.canvas);
  app.onTheme.push(() => curve.draw());
  return section("curve", t("curve"), legend, curve.canvas, curve.tip);
}
