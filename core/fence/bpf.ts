/** Assembles a seccomp filter from a table of refusals; after Documentation/userspace-api/seccomp_filter.rst. */

import { type Arch, type Syscall, syscallNumber } from "./syscalls.ts";

/**
 * Holds for the low 32 bits of an argument: when one of these bits is set, when it is one of these values, or when it is none of
 * them; `mask` is applied before values are compared.
 */
export type Condition =
  | { arg: number; bits: number }
  | { arg: number; mask?: number; anyOf: number[] }
  | { arg: number; mask?: number; noneOf: number[] };

/** One row: the call fails with `errno` when any of the conditions holds, or always when there are none. One row a call. */
export interface Refusal {
  call: Syscall;
  when?: Condition[];
  errno: number;
}

// Instructions of classic BPF, from include/uapi/linux/bpf_common.h.
const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const AND = 0x54; // BPF_ALU | BPF_AND | BPF_K
const JUMP = 0x05; // BPF_JMP | BPF_JA
const IF_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const IF_BITS = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

const KILL_PROCESS = 0x80000000;
const ERRNO = 0x00050000;
const ALLOW = 0x7fff0000;
const EPERM = 1;

// struct seccomp_data: the number, the architecture, the instruction pointer, six arguments of 8 bytes, low half first.
const AT_NUMBER = 0;
const AT_ARCH = 4;
const atArgument = (arg: number) => 16 + 8 * arg;

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const AUDIT_ARCH: Record<Arch, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** A call of the x32 kind has this bit in its number: the same calls, by numbers that no row names. */
const X32_BIT = 0x40000000;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/**
 * The filter as `struct sock_filter[]`, 8 bytes each. A call through the interface of another architecture (32-bit on a 64-bit
 * kernel) kills the process, since its numbers mean other calls; x32 is refused.
 */
export function assembleFilter(refusals: Refusal[], arch: Arch): Uint8Array {
  const program: Instruction[] = [
    [LOAD, 0, 0, AT_ARCH],
    [IF_EQUAL, 1, 0, AUDIT_ARCH[arch]],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, AT_NUMBER],
    ...(arch === "x64" ? [[IF_BITS, 0, 1, X32_BIT], [RETURN, 0, 0, ERRNO | EPERM]] as Instruction[] : []),
    ...refusals.flatMap((refusal) => assembleRefusal(refusal, arch)),
    [RETURN, 0, 0, ALLOW],
  ];
  return encode(program);
}

/** One row: skipped as a whole when the number is another, else it ends with an answer. */
function assembleRefusal({ call, when, errno }: Refusal, arch: Arch): Instruction[] {
  const refuse: Instruction = [RETURN, 0, 0, ERRNO | errno];
  const body = when
    ? [...when.flatMap((condition) => assembleCondition(condition, refuse)), [RETURN, 0, 0, ALLOW] as Instruction]
    : [refuse];
  return [[IF_EQUAL, 0, body.length, syscallNumber(call, arch)], ...body];
}

/** Answers when the condition holds, else falls through to what comes next. */
function assembleCondition(condition: Condition, refuse: Instruction): Instruction[] {
  const load: Instruction = [LOAD, 0, 0, atArgument(condition.arg)];
  if ("bits" in condition) return [load, [IF_BITS, 0, 1, condition.bits], refuse];
  const start = condition.mask === undefined ? [load] : [load, [AND, 0, 0, condition.mask] as Instruction];
  const values = "anyOf" in condition ? condition.anyOf : condition.noneOf;
  // A value that is found jumps over the comparisons behind it: for anyOf onto the refusal, for noneOf over it too.
  const found = values.map((value, i): Instruction => [IF_EQUAL, values.length - i, 0, value]);
  return "anyOf" in condition ? [...start, ...found, [JUMP, 0, 0, 1], refuse] : [...start, ...found, refuse];
}

/** `struct sock_filter`: code in 2 bytes, the two jumps in 1 each, the value in 4. */
function encode(program: Instruction[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * program.length));
  for (const [i, [code, ifTrue, ifFalse, value]] of program.entries()) {
    if (ifTrue > 255 || ifFalse > 255) throw new RangeError("a jump of the filter is too long");
    view.setUint16(8 * i, code, true);
    view.setUint8(8 * i + 2, ifTrue);
    view.setUint8(8 * i + 3, ifFalse);
    view.setUint32(8 * i + 4, value, true);
  }
  return new Uint8Array(view.buffer);
}
