// Makes elements. Every text goes through a text node, so that no text of a dump is ever read as HTML, and
// through visible(), so that none hides or turns around what stands beside it.

const HIDDEN =
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

// Control, zero-width and direction characters as \u202e.
export function visible(text: string): string {
  return text.replace(HIDDEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

export type Child = Node|string|null|undefined|false;
type Props = Record<string, string|number|boolean|EventListener|null|undefined>;

function assign(element: Element, props: Props): void {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function")
      element.addEventListener(name, value);
    else
      element.setAttribute(name, value === true ? "" : visible(String(value)));
  }
}

export function append(parent: Element, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.append(typeof child === "string" ? document.createTextNode(visible(child)) : child);
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  assign(element, props);
  append(element, ...children);
  return element;
}

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  assign(element, props);
  append(element, ...children);
  return element;
}

export function clear(element: Element): void { element.replaceChildren(); }

// A colour of the style sheet, for canvases.
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// A canvas fitted to its box on this screen, wiped; its unit is one CSS pixel.
export function fitted(canvas: HTMLCanvasElement):
    {context: CanvasRenderingContext2D, width: number, height: number} {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return {context, width, height};
}
