import { plain } from "./plain";
import { endSession, key } from "./session";

// Refused is an answer that is an error, with what helps.
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly next?: string,
  ) {
    super(message);
  }
}

// ask sends a request with the session's key.
export async function ask(path: string, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(path, { headers: { Authorization: "Bearer " + key() }, signal, cache: "no-store" });
  if (answer.ok) return answer;
  const body = plain((await answer.json().catch(() => ({}))) as { error?: string; next?: string });
  if (answer.status === 401) endSession(undefined, body.next);
  throw new Refused(answer.status, body.error ?? `The server answered ${answer.status}.`, body.next);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await ask(path, signal);
  return plain((await answer.json()) as T);
}

// query writes the parameters that have a value.
export function query(path: string, parameters: Record<string, string | number | boolean | undefined>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) words.set(name, String(value));
  const text = words.toString();
  return text ? path + "?" + text : path;
}
