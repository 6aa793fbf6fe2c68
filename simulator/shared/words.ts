/**
 * Each of these words, with the space before it, is exactly one token of `o200k_base`. The
 * tokenizer splits at spaces first, so a text of N such words has exactly N tokens.
 */

/** First words of a text; each is one token without a space before it. */
export const OPENERS = 'The A This In When It We One Every Some Here As On For Two All'.split(' ');

/** Further words; each is one token with a space before it. */
export const WORDS = `
time people year way day man thing woman life child world school state family student group country
problem hand part place case week company system program question work government number night point
home water room mother area money story fact month lot right study book eye job word business issue
side kind head house service friend father power hour game line end member law car city community
name president team minute idea body information back parent face others level office door health
person art war history party result change morning reason research girl guy moment air teacher force
education good new first last long great little own other old big high different small large next
early young important few public bad same able river mountain garden forest ocean island bridge
castle letter paper color music song voice light shadow summer winter spring silver golden quiet
gentle bright calm steady simple careful patient honest travel carry build write read speak listen
watch wait follow open close begin finish remember forget learn teach grow plant gather share keep
hold bring send find lose choose move turn walk run stand rest sleep wake dream hope trust care help
`
  .trim()
  .split(/\s+/);

/** Words with characters of several bytes; each is one token with a space before it. */
export const UNICODE_WORDS = `
日本 世界 мир привет café é über señor façade слово где 한국 في está também não für möglich être où
数据 の 中国 时间 今天 사람 για και это очень жизнь день время año niño más día schön früh très après
même déjà 😀 ✅ → 🙂 ❤ 👍 😂 😊 ⭐
`
  .trim()
  .split(/\s+/);
