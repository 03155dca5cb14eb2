// Draws: h describes an element, patch makes the children of a parent as described and touches nothing else, so
// that focus, selection and scroll positions survive each frame of the stream. Text is always text, never markup.

export type Child = Node_ | string | number | null | undefined | false | Child[];
type Props = Record<string, unknown>;

interface Node_ {
  tag: string; // empty: a text
  key: string;
  props: Props;
  kids: Node_[];
  text: string;
  dom?: Node;
}

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "rect", "path", "line", "text", "circle", "defs", "pattern", "title", "use"]);
// These are properties: what a person typed or ticked is not in the attribute.
const PROPERTIES = new Set(["value", "checked", "indeterminate", "disabled", "hidden", "selected", "readOnly"]);

/** h describes an element. A prop that begins with "on" is a listener; "style" is an object; "key" tells siblings apart. */
export function h(tag: string, props?: Props | null, ...kids: Child[]): Node_ {
  const p = props ?? {};
  return { tag, key: p.key === undefined ? "" : String(p.key), props: p, kids: flat(kids, []), text: "" };
}

/** mark is the shape beside words, which say the same. */
export const mark = (look: string): Child => h("span", { class: `mark ${look}`, "aria-hidden": "true" });

function flat(kids: Child[], into: Node_[]): Node_[] {
  for (const kid of kids) {
    if (Array.isArray(kid)) flat(kid, into);
    else if (typeof kid === "string" || typeof kid === "number") into.push({ tag: "", key: "", props: {}, kids: [], text: String(kid) });
    else if (kid) into.push(kid);
  }
  return into;
}

const drawn = new WeakMap<Node, Node_[]>();

/** patch makes the children of parent as described. What html/template put there goes at the first call. */
export function patch(parent: Element, ...kids: Child[]): void {
  const now = flat(kids, []);
  const before = drawn.get(parent);
  if (!before) parent.replaceChildren();
  reconcile(parent, before ?? [], now, parent.namespaceURI === SVG);
  drawn.set(parent, now);
}

function reconcile(parent: Node, before: Node_[], now: Node_[], svg: boolean): void {
  const known = new Map<string, Node_>();
  before.forEach((node, i) => {
    const id = name(node, i);
    (known.get(id)?.dom as ChildNode | undefined)?.remove(); // of two with one key the second one stays
    known.set(id, node);
  });
  // What goes, goes first: what stays would else be moved before it, and an element that is moved loses the focus.
  const stays = new Set(now.map(name));
  for (const [id, gone] of known) {
    if (stays.has(id)) continue;
    (gone.dom as ChildNode).remove();
    known.delete(id);
  }
  let next: Node | null = parent.firstChild;
  now.forEach((node, i) => {
    const id = name(node, i);
    const old = known.get(id);
    if (old) known.delete(id);
    const dom = old ? update(old, node, svg) : create(node, svg);
    if (dom === next) next = dom.nextSibling;
    else parent.insertBefore(dom, next);
  });
}

function name(node: Node_, position: number): string {
  return node.key === "" ? `${position}/${node.tag}` : `=${node.key}/${node.tag}`;
}

function create(node: Node_, svg: boolean): Node {
  if (node.tag === "") return (node.dom = document.createTextNode(node.text));
  const inside = node.tag === "svg" || (svg && SVG_TAGS.has(node.tag));
  const dom = inside ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  node.dom = dom;
  reconcile(dom, [], node.kids, inside);
  for (const prop in node.props) set(dom, prop, undefined, node.props[prop]); // after the kids: a select needs its options
  return dom;
}

function update(old: Node_, node: Node_, svg: boolean): Node {
  const dom = (node.dom = old.dom as Node);
  if (node.tag === "") {
    if (old.text !== node.text) dom.nodeValue = node.text;
    return dom;
  }
  const inside = node.tag === "svg" || (svg && SVG_TAGS.has(node.tag));
  reconcile(dom, old.kids, node.kids, inside);
  for (const prop in old.props) if (!(prop in node.props)) set(dom as Element, prop, old.props[prop], undefined);
  for (const prop in node.props) set(dom as Element, prop, old.props[prop], node.props[prop]);
  return dom;
}

function set(dom: Element, prop: string, before: unknown, now: unknown): void {
  if (prop === "key" || (before === now && prop !== "value" && prop !== "checked")) return;
  const any = dom as unknown as Record<string, unknown>;
  if (prop.startsWith("on")) any[prop] = now ?? null;
  else if (prop === "style") style(dom as HTMLElement, (before ?? {}) as Record<string, string>, (now ?? {}) as Record<string, string>);
  else if (PROPERTIES.has(prop)) {
    const value = now ?? (prop === "value" ? "" : false);
    if (any[prop] !== value) any[prop] = value;
  } else if (now === undefined || now === null || now === false) dom.removeAttribute(prop);
  else dom.setAttribute(prop, now === true ? "" : String(now));
}

function style(dom: HTMLElement, before: Record<string, string>, now: Record<string, string>): void {
  for (const name in before) if (!(name in now)) dom.style.removeProperty(name);
  for (const name in now) if (before[name] !== now[name]) dom.style.setProperty(name, now[name]);
}

/** find returns the element of a selector, which html/template has put into the page. */
export function find<E extends Element = HTMLElement>(selector: string, within: ParentNode = document): E {
  const found = within.querySelector<E>(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return found;
}
