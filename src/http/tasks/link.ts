/** Turns a file's name into the file's absolute signed URL. */
export type Link = (name: string) => string;
