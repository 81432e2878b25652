// A canvas that writes down what is drawn on it, as an SVG picture: what uPlot calls, and no more.

const num = (v: number) => String(Math.round(v * 100) / 100);
export const escapeXML = (s: string) => s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** In place of Path2D: the same calls, kept as the data of an SVG path. */
export class Path {
  d = "";
  constructor(from?: Path) {
    if (from) this.d = from.d;
  }
  moveTo(x: number, y: number) {
    this.d += `M${num(x)} ${num(y)}`;
  }
  lineTo(x: number, y: number) {
    this.d += `L${num(x)} ${num(y)}`;
  }
  bezierCurveTo(...at: number[]) {
    this.d += `C${at.map(num).join(" ")}`;
  }
  rect(x: number, y: number, w: number, h: number) {
    this.d += `M${num(x)} ${num(y)}h${num(w)}v${num(h)}h${num(-w)}Z`;
  }
  /** A whole circle, the only arc that uPlot draws. */
  arc(x: number, y: number, r: number) {
    this.d += `M${num(x - r)} ${num(y)}a${num(r)} ${num(r)} 0 1 1 ${num(2 * r)} 0a${num(r)} ${num(r)} 0 1 1 ${num(-2 * r)} 0Z`;
  }
  closePath() {
    this.d += "Z";
  }
  addPath(p: Path) {
    this.d += p.d;
  }
}

const styles = ["fillStyle", "strokeStyle", "lineWidth", "font", "textAlign", "textBaseline", "globalAlpha"] as const;

/** In place of a canvas' context. Its clips are named from the given name. */
export class Recorder extends Path {
  parts: string[] = [];
  [style: string]: any;
  private turned = "";
  private clipped = ""; // the name of the clip that is on
  private clips = 0;
  private dash: number[] = [];
  private kept: Record<string, any>[] = [];

  constructor(private readonly measure: Pick<CanvasRenderingContext2D, "font" | "measureText">, private readonly name: string) {
    super();
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, font: "12px sans-serif", textAlign: "left", textBaseline: "alphabetic", globalAlpha: 1 });
  }
  save() {
    this.kept.push(Object.fromEntries([...styles, "turned", "dash", "clipped"].map((k) => [k, this[k]])));
  }
  restore() {
    Object.assign(this, this.kept.pop());
  }
  beginPath() {
    this.d = "";
  }
  clearRect() {}
  /** Keeps what comes inside p and inside the clip that is on. */
  clip(p: Path = this) {
    const within = this.clipped && ` clip-path="url(#${this.clipped})"`;
    this.clipped = `${this.name}-${++this.clips}`;
    this.parts.push(`<clipPath id="${this.clipped}"${within}><path d="${p.d}"/></clipPath>`);
  }
  setLineDash(dash: number[]) {
    this.dash = dash;
  }
  translate(x: number, y: number) {
    this.turned += `translate(${num(x)} ${num(y)})`;
  }
  rotate(angle: number) {
    this.turned += `rotate(${num((angle * 180) / Math.PI)})`;
  }
  measureText(text: string) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }
  private add(tag: string, at: string, inside = "") {
    const turned = this.turned && ` transform="${this.turned}"`;
    const alpha = this.globalAlpha < 1 ? ` opacity="${num(this.globalAlpha)}"` : "";
    const part = `<${tag} ${at}${turned}${alpha}>${inside}</${tag}>`;
    this.parts.push(this.clipped ? `<g clip-path="url(#${this.clipped})">${part}</g>` : part);
  }
  fill(p: Path = this) {
    if (p.d) this.add("path", `d="${p.d}" fill="${escapeXML(String(this.fillStyle))}"`);
  }
  stroke(p: Path = this) {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    if (p.d) this.add("path", `d="${p.d}" fill="none" stroke="${escapeXML(String(this.strokeStyle))}" stroke-width="${num(this.lineWidth)}"${dash}`);
  }
  fillText(text: string, x: number, y: number) {
    const anchor = ({ center: "middle", right: "end", end: "end" } as Record<string, string>)[this.textAlign] ?? "start";
    const down = ({ top: ".8em", middle: ".35em", bottom: "-.2em" } as Record<string, string>)[this.textBaseline] ?? "0";
    const size = /(\d+(?:\.\d+)?)px/.exec(this.font)?.[1] ?? "12";
    this.add("text", `x="${num(x)}" y="${num(y)}" dy="${down}" text-anchor="${anchor}" font-size="${size}" fill="${escapeXML(String(this.fillStyle))}"`, escapeXML(text));
  }
}
