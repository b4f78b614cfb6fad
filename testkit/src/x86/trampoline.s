# The trampolines that call the code under test, one for each instruction set, as a blob of
# position-independent bytes. It lies at the start of the arena's code; the state below lies
# 2 MiB (0x200000, arena.rs: CODE) before it, so that it can be reached relative to rip.
#
# Called as a C function: rdi = the job (arena.rs: JOB_*). It calls the job's entry once for each
# record. Nothing is kept in registers across that call: the code under test may ruin them all.

.pushsection .rodata.rake_testkit, "a", @progbits
.balign 64
.globl rake_testkit_trampolines
.hidden rake_testkit_trampolines
rake_testkit_trampolines:
tk_start:

.set S_IN, tk_start - 0x200000 + 0x00       # address of the current record
.set S_OUT, tk_start - 0x200000 + 0x08      # address of the current result
.set S_LEFT, tk_start - 0x200000 + 0x10     # records left, the current one included
.set S_ENTRY, tk_start - 0x200000 + 0x18    # address of the code under test
.set S_RSP, tk_start - 0x200000 + 0x20      # rsp at the call
.set S_RAX, tk_start - 0x200000 + 0x28      # rax after the call
.set S_MXCSR, tk_start - 0x200000 + 0x30    # MXCSR of our caller

# Called with the job in rdi; leaves rsp aligned as it must be at a call instruction.
.macro TK_ENTER
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8
    stmxcsr [rip + S_MXCSR]
    lea r8, [rip + tk_start - 0x200000]
    mov rax, [rdi]                          # entry
    add rax, r8
    mov [rip + S_ENTRY], rax
    mov rax, [rdi + 8]                      # records
    add rax, r8
    mov [rip + S_IN], rax
    mov rax, [rdi + 16]                     # results
    add rax, r8
    mov [rip + S_OUT], rax
    mov rax, [rdi + 24]                     # count
    mov [rip + S_LEFT], rax
    mov [rip + S_RSP], rsp
.endm

.macro TK_LEAVE
    ldmxcsr [rip + S_MXCSR]
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
.endm

# One call for each record; \move moves a whole register \reg between memory and the file.
.macro TK_LOOP move, reg
    cmp qword ptr [rip + S_LEFT], 0
    je 2f
1:
    mov rax, [rip + S_IN]
    ldmxcsr [rax + 560]
    \move \reg\()0, [rax]
    \move \reg\()1, [rax + 64]
    \move \reg\()2, [rax + 128]
    \move \reg\()3, [rax + 192]
    \move \reg\()4, [rax + 256]
    \move \reg\()5, [rax + 320]
    \move \reg\()6, [rax + 384]
    \move \reg\()7, [rax + 448]
    mov rdi, [rax + 512]
    mov rsi, [rax + 520]
    mov rdx, [rax + 528]
    mov rcx, [rax + 536]
    mov r8, [rax + 544]
    mov r9, [rax + 552]
    movabs rbx, 0xb0b0b0b0b0b0b0b0          # arena.rs: SENTINELS
    movabs rbp, 0xb5b5b5b5b5b5b5b5
    movabs r12, 0x1212121212121212
    movabs r13, 0x1313131313131313
    movabs r14, 0x1414141414141414
    movabs r15, 0x1515151515151515
    movabs r10, 0xdeaddeaddeaddead          # what a function may not rely on
    mov r11, r10
    mov rax, r10
    call qword ptr [rip + S_ENTRY]
    mov [rip + S_RAX], rax
    mov rax, [rip + S_OUT]
    \move [rax], \reg\()0
    stmxcsr [rax + 72]
    mov [rax + 80], rbx
    mov [rax + 88], rbp
    mov [rax + 96], r12
    mov [rax + 104], r13
    mov [rax + 112], r14
    mov [rax + 120], r15
    mov rcx, [rip + S_RSP]
    sub rsp, rcx                            # 0 if it was preserved
    mov [rax + 128], rsp
    mov rsp, rcx
    pushfq
    pop qword ptr [rax + 136]
    cld
    mov rcx, [rip + S_RAX]
    mov [rax + 64], rcx
    add qword ptr [rip + S_IN], 576         # arena.rs: IN_STRIDE
    add qword ptr [rip + S_OUT], 192        # arena.rs: OUT_STRIDE
    dec qword ptr [rip + S_LEFT]
    jnz 1b
2:
.endm

.balign 16
tk_sse2:
    TK_ENTER
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    pcmpeqd xmm\n, xmm\n                    # NaNs where nothing may be relied on
    .endr
    TK_LOOP movups, xmm
    TK_LEAVE

.balign 16
tk_avx2:
    TK_ENTER
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    vpcmpeqd ymm\n, ymm\n, ymm\n
    .endr
    TK_LOOP vmovups, ymm
    vzeroupper
    TK_LEAVE

.balign 16
tk_avx512:
    TK_ENTER
    .irp n, 8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vpternlogd zmm\n, zmm\n, zmm\n, 255
    .endr
    movabs rax, 0x5a5a5a5a5a5a5a5a
    .irp n, 1, 2, 3, 4, 5, 6, 7
    kmovq k\n, rax
    .endr
    TK_LOOP vmovups, zmm
    vzeroupper
    TK_LEAVE

# Where a trampoline returns to in the emulator.
.balign 16
tk_halt:
    hlt
tk_end:

# Offsets in the blob: the trampolines by instruction set, the halt, the blob's size.
.balign 8
.globl rake_testkit_offsets
.hidden rake_testkit_offsets
rake_testkit_offsets:
    .quad tk_sse2 - tk_start
    .quad tk_avx2 - tk_start
    .quad tk_avx512 - tk_start
    .quad tk_halt - tk_start
    .quad tk_end - tk_start
.popsection
