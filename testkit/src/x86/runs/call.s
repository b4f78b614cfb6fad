# The trampolines that call a run, one for each instruction set, and where a fault in one continues.
#
# Everything that a call takes and leaves stands in `rake_testkit_run_state` (child.rs: State), reached relative to
# rip: nothing is kept in registers across the call, for the code under test may ruin them all.

.pushsection .bss.rake_testkit_run, "aw", @nobits
.balign 64
.globl rake_testkit_run_state
.hidden rake_testkit_run_state
rake_testkit_run_state:
    .skip 1216
.popsection

.pushsection .text.rake_testkit_run, "ax", @progbits

.set S, rake_testkit_run_state

# Saves our caller's registers, pushes the arguments that stand on the stack; rsp is then as at a call instruction.
.macro TK_RUN_ENTER
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8
    stmxcsr [rip + S + 32]
    mov [rip + S + 24], rsp
    mov rcx, [rip + S + 16]
    mov rsi, [rip + S + 8]
    test cl, 1
    jz 1f
    sub rsp, 8
1:
    test rcx, rcx
    jz 2f
    push qword ptr [rsi + 8 * rcx - 8]
    dec rcx
    jmp 1b
2:
    mov [rip + S + 176], rsp
.endm

# The call; \move moves a whole register \reg, \keep one of those that are kept of it.
.macro TK_RUN_CALL move, reg, keep
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    \move \reg\n, [rip + S + 192 + 64 * \n]
    .endr
    mov rdi, [rip + S + 64]
    mov rsi, [rip + S + 72]
    mov rdx, [rip + S + 80]
    mov rcx, [rip + S + 88]
    mov r8, [rip + S + 96]
    mov r9, [rip + S + 104]
    movabs rbx, 0xb0b0b0b0b0b0b0b0          # arena.rs: SENTINELS
    movabs rbp, 0xb5b5b5b5b5b5b5b5
    movabs r12, 0x1212121212121212
    movabs r13, 0x1313131313131313
    movabs r14, 0x1414141414141414
    movabs r15, 0x1515151515151515
    movabs r10, 0xdeaddeaddeaddead          # what a function may not rely on
    mov r11, r10
    mov rax, r10
    mov qword ptr [rip + S + 48], 1
    ldmxcsr [rip + S + 40]
    call qword ptr [rip + S]
    stmxcsr [rip + S + 168]
    mov qword ptr [rip + S + 48], 0
    mov [rip + S + 56], rsp
    mov rsp, [rip + S + 24]
    pushfq
    pop qword ptr [rip + S + 160]
    mov [rip + S + 112], rbx
    mov [rip + S + 120], rbp
    mov [rip + S + 128], r12
    mov [rip + S + 136], r13
    mov [rip + S + 144], r14
    mov [rip + S + 152], r15
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \move [rip + S + 704 + 32 * \n], \keep\n
    .endr
.endm

.balign 16
.globl rake_testkit_run_sse2
.hidden rake_testkit_run_sse2
rake_testkit_run_sse2:
    TK_RUN_ENTER
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    pcmpeqd xmm\n, xmm\n                    # NaNs where nothing may be relied on
    .endr
    TK_RUN_CALL movups, xmm, xmm
    jmp rake_testkit_run_recover

.balign 16
.globl rake_testkit_run_avx2
.hidden rake_testkit_run_avx2
rake_testkit_run_avx2:
    TK_RUN_ENTER
    .irp n, 8, 9, 10, 11, 12, 13, 14, 15
    vpcmpeqd ymm\n, ymm\n, ymm\n
    .endr
    TK_RUN_CALL vmovups, ymm, ymm
    vzeroupper
    jmp rake_testkit_run_recover

.balign 16
.globl rake_testkit_run_avx512
.hidden rake_testkit_run_avx512
rake_testkit_run_avx512:
    TK_RUN_ENTER
    .irp n, 8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    vpternlogd zmm\n, zmm\n, zmm\n, 255
    .endr
    movabs rax, 0x5a5a5a5a5a5a5a5a
    .irp n, 1, 2, 3, 4, 5, 6, 7
    kmovq k\n, rax
    .endr
    TK_RUN_CALL vmovups, zmm, ymm
    vzeroupper

.globl rake_testkit_run_recover
.hidden rake_testkit_run_recover
rake_testkit_run_recover:
    mov rsp, [rip + S + 24]
    ldmxcsr [rip + S + 32]
    cld
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
.popsection
