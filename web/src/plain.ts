// Characters that move, hide or reorder text: controls except tab and newline, marks of direction, those without width.
const tricky = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;
const some = new RegExp(tricky.source);

// visible replaces them by their escapes.
export function visible(text: string): string {
  if (!some.test(text)) return text;
  return text.replace(tricky, (c) => [...Array(c.length).keys()].map((i) => "\\u" + c.charCodeAt(i).toString(16).padStart(4, "0")).join(""));
}

// plain makes each text of a message visible. All that comes from the server passes here, so no view has to think of it.
export function plain<T>(value: T): T {
  if (typeof value === "string") return visible(value) as T;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = plain(value[i]);
    return value;
  }
  if (value && typeof value === "object") {
    const object = value as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      const shown = visible(key);
      const inner = plain(object[key]);
      if (shown === key && inner === object[key]) continue;
      delete object[key];
      Object.defineProperty(object, shown, { value: inner, enumerable: true, writable: true, configurable: true });
    }
  }
  return value;
}
