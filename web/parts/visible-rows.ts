import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useLayoutEffect, useState } from 'react';

/** Lists with more rows draw only those near the window. */
const MOST_DRAWN = 300;
/** The height of a row of one line, px. A drawn row is measured. */
const ROW_PX = 40;
const OVERSCAN = 20;

/** The rows that are drawn, and the space that the others take before and after them, px. */
export interface VisibleRows {
  readonly from: number;
  readonly until: number;
  readonly before_px: number;
  readonly after_px: number;
  /** Measures a drawn row, which needs the attribute `data-index`. */
  readonly measure: ((row: HTMLElement | null) => void) | undefined;
}

/** Returns which of `count` rows of a table's body are drawn while the window scrolls. */
export function useVisibleRows(count: number, body: RefObject<HTMLElement | null>): VisibleRows {
  const isLong = count > MOST_DRAWN;
  const [scrollMargin, setMargin] = useState(0);
  useLayoutEffect(() => {
    if (!isLong || !body.current) return;
    setMargin(body.current.getBoundingClientRect().top + window.scrollY);
  }, [isLong, body]);
  const rows = useWindowVirtualizer({
    count: isLong ? count : 0,
    // Else it reads where the window is scrolled to, which makes the browser lay out the page at once.
    enabled: isLong,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    scrollMargin,
  });
  if (!isLong) return { from: 0, until: count, before_px: 0, after_px: 0, measure: undefined };
  const items = rows.getVirtualItems();
  const [first, last] = [items[0], items.at(-1)];
  if (!first || !last)
    return { from: 0, until: 0, before_px: 0, after_px: rows.getTotalSize(), measure: undefined };
  return {
    from: first.index,
    until: last.index + 1,
    before_px: first.start - scrollMargin,
    after_px: rows.getTotalSize() - (last.end - scrollMargin),
    measure: rows.measureElement,
  };
}
