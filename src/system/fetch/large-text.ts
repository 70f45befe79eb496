/** Above this length Node copies a text several times when it writes it. */
const LARGE = 32_768;

/** A text as it is written best: a large one as bytes, a short one as it is, so that it leaves together with the headers. */
export function toBody(text: string): string | Buffer {
  return text.length > LARGE ? Buffer.from(text) : text;
}
