// yaml writes a value as YAML does, for people: what Kubernetes' users read every day.
export function yaml(value: unknown): string[] {
  if (value && typeof value === "object") return Array.isArray(value) ? items(value) : fields(value as Record<string, unknown>);
  if (typeof value === "string" && value.includes("\n")) return value.replace(/\n$/, "").split("\n");
  return [scalar(value)];
}

function fields(object: Record<string, unknown>): string[] {
  const keys = Object.keys(object);
  if (keys.length === 0) return ["{}"];
  return keys.flatMap((key) => below(scalar(key) + ":", object[key], "  "));
}

function items(list: unknown[]): string[] {
  if (list.length === 0) return ["[]"];
  return list.flatMap((item) => {
    const [first = "", ...rest] = yaml(item);
    if (typeof item === "string" && item.includes("\n")) return ["- |", ...[first, ...rest].map((line) => "  " + line)];
    return ["- " + first, ...rest.map((line) => "  " + line)];
  });
}

// below writes a value behind its key, or in the lines below it.
function below(key: string, value: unknown, indent: string): string[] {
  const lines = yaml(value);
  if (typeof value === "string" && value.includes("\n")) return [key + " |", ...lines.map((line) => indent + line)];
  if (!value || typeof value !== "object" || /^(\{\}|\[\])$/.test(lines[0]!)) return [key + " " + lines[0]];
  return [key, ...lines.map((line) => (Array.isArray(value) ? line : indent + line))];
}

// Texts that would be something else without quotes.
const ambiguous = /^$|^[\s\-?:,[\]{}#&*!|>'"%@`]|: |:$| #|\s$|^(true|false|null|yes|no|on|off|~)$|^[\d.+-]/i;

function scalar(value: unknown): string {
  return typeof value === "string" && !ambiguous.test(value) ? value : (JSON.stringify(value) ?? "");
}
