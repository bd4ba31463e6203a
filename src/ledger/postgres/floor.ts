/**
 * A place of the queue below which nothing can appear any more, so that a pass need not walk over what was taken
 * already. Pure.
 *
 * A transaction has its number before it has a place in the queue. So whatever has a lower place than the last that a
 * pass saw was begun before that pass; once the oldest transaction that runs is younger, all of it was seen.
 */

export class Floor {
  place = 0;
  #mark: { readonly place: number; readonly xmax: number | undefined } | undefined;

  /** Told what a pass saw; the answer is called when the pass is durable. */
  saw([xmin, xmax]: readonly [number, number], last: number | undefined, isAll: boolean): () => void {
    const mark = this.#mark;
    if (mark === undefined) {
      const place = last ?? this.place;
      return () => {
        this.#mark = { place, xmax: undefined };
      };
    }
    // The number was read behind the pass that set the mark.
    if (mark.xmax === undefined) {
      return () => {
        this.#mark = { place: mark.place, xmax };
      };
    }
    if (xmin < mark.xmax || !(isAll || (last ?? 0) >= mark.place)) return () => undefined;
    return () => {
      this.place = Math.max(this.place, mark.place);
      this.#mark = undefined;
    };
  }
}
