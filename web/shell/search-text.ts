import { stringifySearchWith } from '@tanstack/react-router';

/** What JSON begins with. */
const JSON_START = /^(?:\s|["[{\d-]|fa|nu|tr)/;
/** A date or an instant begins as a number does, and is no JSON. */
const DATE_START = /^\d{4}-/;
const NO_JSON = new Error('no JSON');

function parsed(text: string): unknown {
  if (!JSON_START.test(text) || DATE_START.test(text)) throw NO_JSON;
  return JSON.parse(text);
}

/**
 * Returns the search of an address, as the router's own function does. That one makes an error for each date, and a
 * page of plots has many links with dates.
 */
export const searchText = stringifySearchWith(JSON.stringify, parsed);
