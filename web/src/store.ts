import { useLayoutEffect, useReducer } from "preact/hooks";

// A Store holds a value that views show.
export class Store<T> {
  private readers = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T) {
    if (value === this.current) return;
    this.current = value;
    for (const read of [...this.readers]) read();
  }

  subscribe(read: () => void): () => void {
    this.readers.add(read);
    return () => this.readers.delete(read);
  }
}

// useStore draws a component again when the value changes.
export function useStore<T>(store: Store<T>): T {
  const [, redraw] = useReducer((n: number) => n + 1, 0);
  const shown = store.value;
  useLayoutEffect(() => {
    if (store.value !== shown) redraw(0);
    return store.subscribe(() => redraw(0));
  }, [store]);
  return store.value;
}
