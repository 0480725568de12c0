import type { Reconcile } from "./contract";

// How values are written.

export function count(n: number, one: string, many = one + "s"): string {
  return `${number(n)} ${n === 1 ? one : many}`;
}

export function number(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

const pad = (n: number, digits = 2) => String(n).padStart(digits, "0");

// clock is the time of a day, with milliseconds.
export function clock(time: string): string {
  const d = new Date(time);
  if (Number.isNaN(d.getTime())) return "";
  return `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}.${pad(d.getMilliseconds(), 3)}`;
}

// moment has the day as well.
export function moment(time: string): string {
  const d = new Date(time);
  if (Number.isNaN(d.getTime())) return "";
  return `${d.getFullYear()}-${pad(d.getMonth() + 1)}-${pad(d.getDate())} ${clock(time)}`;
}

export function duration(ms: number | undefined): string {
  if (ms === undefined || Number.isNaN(ms)) return "–";
  if (ms < 10) return ms.toFixed(1) + " ms";
  if (ms < 1000) return Math.round(ms) + " ms";
  if (ms < 60_000) return (ms / 1000).toFixed(ms < 10_000 ? 2 : 1) + " s";
  const s = Math.round(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)}m${pad(s % 60)}s`;
  const m = Math.floor(s / 60);
  if (m < 48 * 60) return `${Math.floor(m / 60)}h${pad(m % 60)}m`;
  return Math.floor(m / 1440) + "d";
}

export function age(time: string, now = Date.now()): string {
  const ms = now - new Date(time).getTime();
  if (Number.isNaN(ms)) return "";
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return s + "s";
  if (s < 3600) return s < 600 ? `${Math.floor(s / 60)}m${pad(s % 60)}s` : Math.floor(s / 60) + "m";
  return duration(ms);
}

// between is how long it took from one time to another.
export function between(from: string, to: string | undefined): number | undefined {
  return to ? Math.max(0, new Date(to).getTime() - new Date(from).getTime()) : undefined;
}

// took is how long a reconcile has taken.
export function took(r: Reconcile): string {
  if (!r.ended) return "still running";
  return duration(r.tookMs ?? between(r.began, r.ended));
}

// middle cuts out the middle of a text: the ends of names differ.
export function middle(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.max(1, Math.floor((most - 1) * 0.5));
  return text.slice(0, most - 1 - tail) + "…" + text.slice(text.length - tail);
}

// cut cuts off the end.
export function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most - 1) + "…";
}
