import type { ComponentChildren } from "preact";

const names: Record<string, string> = { "not-ready": "not ready", "in-progress": "in progress" };

export function stateName(state: string): string {
  return names[state] ?? state;
}

// Each state has a shape of its own, because colours alone do not reach everyone.
const shapes: Record<string, ComponentChildren> = {
  ready: [<circle cx="8" cy="8" r="7" />, <path class="mark" d="M4.8 8.2l2.2 2.2 4.2-4.6" />],
  "in-progress": [<circle class="hollow" cx="8" cy="8" r="6.2" />, <path d="M8 3.4a4.6 4.6 0 0 1 0 9.2z" />],
  "not-ready": [<path d="M8 .8 15.6 14.6H.4z" />, <path class="mark" d="M8 5.6v4.2M8 12v.4" />],
  deleting: [<rect class="hollow" x="1.8" y="1.8" width="12.4" height="12.4" rx="2" />, <path class="stroke" d="M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6" />],
};

const like: Record<string, string> = { stuck: "not-ready", missing: "not-ready" };

export function StateIcon({ state }: { state: string }) {
  const shape = shapes[like[state] ?? state] ?? shapes["in-progress"];
  return (
    <svg class={"state-icon " + (like[state] ?? state)} viewBox="0 0 16 16" width="14" height="14" role="img" aria-label={stateName(state)}>
      {shape}
    </svg>
  );
}

export function StateText({ state }: { state: string }) {
  return (
    <span class={"state " + (like[state] ?? state)}>
      <StateIcon state={state} />
      <span aria-hidden="true">{stateName(state)}</span>
    </span>
  );
}
