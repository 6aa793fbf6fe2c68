/** What is drawn first has at least so many characters of HTML: more than a large window shows. */
const FIRST_LENGTH = 6_000;

/** The height of a section that the browser has not laid out yet, rem. `styles.css` says the same. */
export const SECTION_REM = 20;

/** A page in two parts. */
export interface Parts {
  readonly first: string;
  readonly rest: string;
  /** How many sections `rest` has. */
  readonly rest_sections: number;
}

/** Splits the HTML of a page between two of its sections. */
export function partsOf(html: string): Parts {
  const sections = html.split(/(?=<section>)/);
  let count = 0;
  for (let length = 0; count < sections.length && length < FIRST_LENGTH; count += 1) {
    length += sections[count]?.length ?? 0;
  }
  return {
    first: sections.slice(0, count).join(''),
    rest: sections.slice(count).join(''),
    rest_sections: sections.length - count,
  };
}
