/** Runs a seccomp filter as the kernel would, by the meaning of classic BPF: an oracle for the filter's tests. */

/** What the kernel hands to a filter. */
export interface Call {
  arch: number;
  number: number;
  args?: (number | bigint)[];
}

/** `allow`, `kill`, or the number of the error. Fails on an instruction or an end that the kernel would refuse. */
export function runFilter(filter: Uint8Array, { arch, number, args = [] }: Call): "allow" | "kill" | number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, arch, true);
  for (const [i, arg] of args.entries()) data.setBigUint64(16 + 8 * i, BigInt.asUintN(64, BigInt(arg)), true);
  const code = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const operand = code.getUint32(8 * at + 4, true);
    const branch = (holds: boolean) => at += code.getUint8(8 * at + (holds ? 2 : 3));
    const instruction = code.getUint16(8 * at, true);
    if (instruction === 0x20) accumulator = data.getUint32(operand, true);
    else if (instruction === 0x54) accumulator = (accumulator & operand) >>> 0;
    else if (instruction === 0x05) at += operand;
    else if (instruction === 0x15) branch(accumulator === operand);
    else if (instruction === 0x45) branch((accumulator & operand) !== 0);
    else if (instruction === 0x06) return answer(operand);
    else throw new Error(`instruction ${at} has the unknown code ${instruction}`);
  }
  throw new Error("the filter runs past its end");
}

function answer(value: number): "allow" | "kill" | number {
  if (value === 0x7fff0000) return "allow";
  if (value === 0x80000000) return "kill";
  if (value >>> 16 === 5) return value & 0xffff;
  throw new Error(`the filter answers 0x${value.toString(16)}`);
}
