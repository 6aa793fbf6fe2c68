import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { classes } from './classes.ts';
import { useVisibleRows } from './visible-rows.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Figures stand at the right, so that their digits are aligned. */
  readonly align?: 'right';
  /** False: phones do not show the column. */
  readonly onPhone?: false;
  /** True: the title is there only for readers that cannot see the column, e.g. of menus. */
  readonly isQuiet?: boolean;
}

interface TableProps<Row> {
  /** What the table lists, for readers that cannot see it. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Opens a row: by a click, or by Enter on it. */
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** Lights a row up, e.g. one that has just arrived. */
  readonly isNew?: ((row: Row) => boolean) | undefined;
  /** A last row with sums. */
  readonly foot?: ReactNode;
}

/**
 * A list. `j` and `k` move between its rows, and Enter opens one. Of a long list only the rows near the
 * window are drawn.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf, onOpen, isNew, foot } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, until, before_px, after_px, measure } = useVisibleRows(rows.length, body);
  return (
    <section
      className="relative min-w-0 overflow-x-auto rounded-box border border-line bg-card"
      tabIndex={0}
      aria-label={caption}
    >
      <table
        className="w-full border-collapse text-left text-[0.9rem]"
        aria-rowcount={measure ? rows.length + 1 : undefined}
      >
        <caption className="sr-only">{caption}</caption>
        <thead className="border-b border-line text-sm text-soft">
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={cellClass(column, 'py-2 font-medium')}>
                {column.isQuiet ? <span className="sr-only">{column.title}</span> : column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={moveBetweenRows}>
          <Space px={before_px} columns={columns.length} />
          {rows.slice(from, until).map((row, at) => (
            <tr
              key={keyOf(row)}
              ref={measure}
              data-row={keyOf(row)}
              data-index={from + at}
              aria-rowindex={measure ? from + at + 2 : undefined}
              tabIndex={onOpen ? 0 : undefined}
              onClick={onOpen ? (event) => isOwnClick(event.target) && onOpen(row) : undefined}
              onKeyDown={
                onOpen
                  ? (event) => {
                      if (event.key === 'Enter' && event.target === event.currentTarget)
                        onOpen(row);
                    }
                  : undefined
              }
              className={classes(
                'border-b border-line last:border-b-0 focus-visible:-outline-offset-2',
                onOpen && 'cursor-pointer hover:bg-sunk',
                isNew?.(row) && 'animate-arrive',
              )}
            >
              {columns.map((column) => (
                <td key={column.title} className={cellClass(column, 'py-2 align-top')}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          <Space px={after_px} columns={columns.length} />
        </tbody>
        {foot === undefined ? null : <tfoot className="border-t border-edge">{foot}</tfoot>}
      </table>
    </section>
  );
}

/** The place of rows that are not drawn. */
function Space({ px, columns }: { px: number; columns: number }) {
  if (px <= 0) return null;
  return (
    <tr>
      <td colSpan={columns} style={{ height: px }} />
    </tr>
  );
}

function cellClass<Row>({ align, onPhone }: Column<Row>, more: string): string {
  return classes(
    'px-3 first:pl-4 last:pr-4',
    more,
    align === 'right' && 'text-right figures',
    onPhone === false && 'max-sm:hidden',
  );
}

/** A click on a control in a row, or in what it opened, is not a click on the row. */
const isOwnClick = (target: EventTarget): boolean =>
  target instanceof Element &&
  target.closest('button, a, input, select, label, summary, dialog, [role^="menu"]') === null;

function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  const steps: Record<string, 'nextElementSibling' | 'previousElementSibling'> = {
    j: 'nextElementSibling',
    ArrowDown: 'nextElementSibling',
    k: 'previousElementSibling',
    ArrowUp: 'previousElementSibling',
  };
  const step = steps[event.key];
  const row = event.target instanceof HTMLTableRowElement ? event.target : undefined;
  const next = step && row?.[step];
  if (!(next instanceof HTMLElement)) return;
  event.preventDefault();
  next.focus();
}
