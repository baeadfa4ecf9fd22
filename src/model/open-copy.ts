import { isPlainObject, setKey } from "./json.ts";

/**
 * A deep copy of what an invocation carries: plain objects, arrays, dates and bytes are copied, whatever their depth and
 * also when they contain themselves; functions and instances of classes are kept as they are.
 * @param keep what to keep as it is besides.
 */
export function copyOpen(value: unknown, keep: (value: object) => boolean = () => false): unknown {
  const copies = new Map<object, unknown>();
  const open: (() => void)[] = [];
  const copy = (original: unknown): unknown => {
    if (typeof original !== "object" || original === null || keep(original)) return original;
    const known = copies.get(original);
    if (known !== undefined) return known;
    const [made, fill] = begin(original, copy);
    copies.set(original, made);
    if (fill !== undefined) open.push(fill);
    return made;
  };
  const result = copy(value);
  for (let fill = open.pop(); fill !== undefined; fill = open.pop()) fill();
  return result;
}

/** Whether a value is bytes: a buffer, or a view of one. */
export function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** The empty copy of a value, and what fills it. */
function begin(value: object, copy: (inner: unknown) => unknown): [unknown, (() => void)?] {
  if (Array.isArray(value)) {
    const items: unknown[] = new Array(value.length);
    return [
      items,
      () =>
        value.forEach((item, index) => {
          items[index] = copy(item);
        }),
    ];
  }
  if (isPlainObject(value)) {
    const fields: { [key: string]: unknown } = {};
    return [
      fields,
      () => {
        for (const key of Object.keys(value)) setKey(fields, key, copy(value[key]));
      },
    ];
  }
  if (value instanceof Date) return [new Date(value.getTime())];
  return [isBytes(value) ? copyBytes(value) : value];
}

function copyBytes(bytes: ArrayBuffer | ArrayBufferView): ArrayBuffer | ArrayBufferView {
  if (!ArrayBuffer.isView(bytes)) return bytes.slice(0);
  if (bytes instanceof DataView) {
    return new DataView(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  }
  // Common to all typed arrays, and not the one of a subclass, which may share its memory.
  return Uint8Array.prototype.slice.call(bytes as Uint8Array);
}
