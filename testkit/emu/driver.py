"""Runs the jobs of an arena in Bochs' CPU model.

Standard input is the arena (src/x86/arena.rs), a file to map. It is made the physical memory of a
machine in 64-bit mode, mapped one to one from 2 MiB on, code read-only and the rest not
executable. Each job calls the trampoline of its ISA; results stay in the arena. Prints `ok`, or
`fault: ` and what happened. With --check it only sees whether the emulator can be loaded.
"""

import ctypes
import mmap
import os
import resource
import struct
import sys

try:
    import bochscpu
    import bochscpu.cpu
    import bochscpu.memory
except ImportError as error:
    sys.exit(f"cannot load the Python module bochscpu: {error}")

BIG_PAGE = 2 << 20
HEADER = 1024
BASE = BIG_PAGE  # physical and linear address of the arena
TABLES = 0x1000  # page tables, below the arena
CPU_SECONDS = 900
# XCR0 by ISA: x87 and SSE; and AVX; and opmasks and the upper parts of AVX-512.
XCR0 = (0x03, 0x07, 0xE7)
CR4 = {"PAE": 5, "OSFXSR": 9, "OSXMMEXCPT": 10, "OSXSAVE": 18}
EXCEPTIONS = {
    0: "#DE, division error",
    1: "#DB, debug",
    3: "#BP, breakpoint: it ran out of its image, or into int3",
    6: "#UD, an instruction that this ISA does not have",
    7: "#NM, device not available",
    13: "#GP, general protection: a misaligned operand or a privileged instruction",
    14: "#PF, page fault: a wrong address, or a write to code or literals",
    17: "#AC, alignment",
    19: "#XM, unmasked floating-point exception",
}


def put(address, data):
    """Writes into the machine's memory; the range lies in one page."""
    ctypes.memmove(bochscpu.memory.phy_translate(address), data, len(data))


def build_tables(size, code, code_end):
    """Maps linear to physical memory one to one, in pages of 2 MiB, up to the arena's end."""
    directories = (BASE + size + (1 << 30) - 1) >> 30
    for page in range(2 + directories):
        address = TABLES + page * 4096
        bochscpu.memory.page_insert(address, bochscpu.memory.allocate_host_page())
        put(address, bytes(4096))
    put(TABLES, struct.pack("<Q", TABLES + 0x1000 | 3))
    for i in range(directories):
        directory = TABLES + 0x2000 + i * 4096
        put(TABLES + 0x1000 + i * 8, struct.pack("<Q", directory | 3))
        for j in range(512):
            address = (i << 30) + (j << 21)
            if BASE + code <= address < BASE + code_end:
                put(directory + j * 8, struct.pack("<Q", address | 0x81))
            elif BASE <= address < BASE + size:
                put(directory + j * 8, struct.pack("<Q", 1 << 63 | address | 0x83))


def segment(selector, **flags):
    made = bochscpu.Segment()
    made.base, made.limit, made.selector, made.present = 0, 0xFFFFFFFF, selector, True
    attributes = bochscpu.cpu.SegmentFlags()
    for name in ("P", "S", "A", "W", "G"):
        setattr(attributes, name, True)
    for name, value in flags.items():
        setattr(attributes, name, value)
    made.attr = int(attributes)
    return made


def start_state(trampoline, stack, job, isa):
    """The machine in 64-bit mode at the first instruction of a trampoline."""
    state = bochscpu.State()
    bochscpu.cpu.set_long_mode(state)
    for bit in CR4.values():
        state.cr4 |= 1 << bit
    state.xcr0 = XCR0[isa]
    state.cr3 = TABLES
    state.rip, state.rsp, state.rdi, state.rflags = trampoline, stack, job, 2
    state.mxcsr, state.mxcsr_mask = 0x1F80, 0xFFFF
    state.cs = segment(0x08, E=True, R=True, L=True)
    state.ss = state.ds = state.es = state.fs = state.gs = segment(0x10, D=True)
    return state


def main():
    if "--check" in sys.argv:
        return "ok"
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    arena = mmap.mmap(0, 0)
    host = ctypes.addressof(ctypes.c_char.from_buffer(arena))
    size, code, jobs, halt, stack, count, stride, job_slot = struct.unpack_from("<8Q", arena, HEADER)
    trampolines = struct.unpack_from("<3Q", arena, HEADER + 64)
    for offset in range(0, size, 4096):
        bochscpu.memory.page_insert(BASE + offset, host + offset)
    build_tables(size, code, jobs)

    faults = []

    def on_exception(session, _cpu, vector, error):
        # A fault while a fault is delivered says nothing new.
        if not faults:
            # int3 and its like first fail to find their descriptor, for there is no table.
            if vector == 13 and error & 2:
                vector, error = error >> 3, 0
            faults.append((vector, error, session.cpu.rip, session.cpu.cr2))
        session.stop()

    hook = bochscpu.Hook()
    hook.exception = on_exception
    hook.hlt = lambda session, _cpu: session.stop()
    session = bochscpu.Session()
    # Rust or C++ frames lie between here and our caller: no exception may cross them.
    session.missing_page_handler = lambda address: faults.append((14, 0, 0, address))
    for number in range(count):
        struct.pack_into("<Q", arena, job_slot, number)
        struct.pack_into("<Q", arena, stack - 8, BASE + halt)
        entry, _, _, _, isa = struct.unpack_from("<5Q", arena, jobs + number * stride)
        state = start_state(BASE + trampolines[isa], BASE + stack - 8, BASE + jobs + number * stride, isa)
        session.cpu.state = state
        session.run([hook])
        if faults:
            vector, error, rip, cr2 = faults[0]
            name = EXCEPTIONS.get(vector, f"exception {vector}")
            touched = f", address {cr2:#x}" if vector == 14 else ""
            # Bochs has stepped past an instruction that it executes, but not past one it fetches.
            fetching = vector == 14 and error & 16
            place = "fetching from" if fetching else "in the instruction that ends at"
            return f"fault: {name} (error code {error:#x}{touched}), {place} entry{rip - BASE - entry:+#x}"
        rip = session.cpu.rip
        if not BASE + halt <= rip <= BASE + halt + 1:
            return f"fault: stopped at entry{rip - BASE - entry:+#x}"
    return "ok"


if __name__ == "__main__":
    print(main())
    sys.stdout.flush()
    # The module's destructors report leaks and may crash; there is nothing left for them to do.
    os._exit(0)
