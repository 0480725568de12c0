// A Box is a place in a Shelf.
export interface Box {
  col: number;
  row: number;
  cols: number;
  rows: number;
}

// A Shelf packs boxes below each other in columns. A box stays where it is as long as what it holds fits into it.
export class Shelf {
  readonly boxes = new Map<string, Box>();
  private heights: number[];
  private free: Box[] = [];

  constructor(readonly cols: number) {
    this.heights = new Array<number>(cols).fill(0);
  }

  get rows(): number {
    return this.heights.reduce((most, h) => Math.max(most, h), 0);
  }

  // used are the columns up to the last that has a box.
  get used(): number {
    return this.heights.findLastIndex((h) => h > 0) + 1;
  }

  // retain frees the places of all others.
  retain(has: (name: string) => boolean) {
    for (const [name, box] of this.boxes) {
      if (has(name)) continue;
      this.boxes.delete(name);
      this.free.push(box);
    }
  }

  put(name: string, cols: number, rows: number): Box {
    const old = this.boxes.get(name);
    if (old && old.cols >= cols && old.rows >= rows) return old;
    if (old) this.free.push(old);
    const box = this.reuse(cols, rows) ?? this.append(Math.min(cols, this.cols), rows);
    this.boxes.set(name, box);
    return box;
  }

  private reuse(cols: number, rows: number): Box | undefined {
    const at = this.free.findIndex((b) => b.cols >= cols && b.rows >= rows && b.cols * b.rows <= 2 * cols * rows);
    return at < 0 ? undefined : this.free.splice(at, 1)[0];
  }

  // append takes the place that ends up highest.
  private append(cols: number, rows: number): Box {
    let best = { col: 0, row: Infinity };
    for (let col = 0; col + cols <= this.cols; col++) {
      let row = 0;
      for (let c = col; c < col + cols; c++) row = Math.max(row, this.heights[c]!);
      if (row < best.row) best = { col, row };
    }
    for (let c = best.col; c < best.col + cols; c++) this.heights[c] = best.row + rows;
    return { ...best, cols, rows };
  }
}
