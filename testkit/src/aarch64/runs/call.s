// Calls one run and notes what it owes its caller. The offsets are those of `struct state` in runs.c.
//
// Nothing is kept in registers across the call: what must survive lies in the state.

    .text

// void call(void)
    .globl call
    .type call, %function
call:
    stp x29, x30, [sp, #-160]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    adrp x9, state
    add x9, x9, :lo12:state
    mov x10, sp
    str x10, [x9, #24]
    // The arguments on the stack, which stays a multiple of sixteen.
    ldr x11, [x9, #8]
    ldr x12, [x9, #16]
    add x13, x12, #1
    lsr x13, x13, #1
    sub sp, sp, x13, lsl #4
    mov x13, sp
    cbz x12, 2f
1:
    ldr x14, [x11], #8
    str x14, [x13], #8
    subs x12, x12, #1
    b.ne 1b
2:
    mov x10, sp
    str x10, [x9, #32]
    msr fpcr, xzr
    msr fpsr, xzr
    mov x10, #0xf0000000
    msr nzcv, x10                           // every condition flag set
    // What a function may not rely on: NaNs, and an address that leads nowhere.
    .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    movi v\n\().16b, #0xff
    .endr
    // Callee-saved are the low halves of v8-v15.
    .irp n, 8,9,10,11,12,13,14,15
    movi v\n\().16b, #0xd0 + \n
    .endr
    .irp n, 19,20,21,22,23,24,25,26,27,28,29
    ldr x\n, =0x0101010101010101 * \n
    .endr
    ldp q0, q1, [x9, #112]
    ldp q2, q3, [x9, #144]
    ldp q4, q5, [x9, #176]
    ldp q6, q7, [x9, #208]
    ldp x0, x1, [x9, #48]
    ldp x2, x3, [x9, #64]
    ldp x4, x5, [x9, #80]
    ldp x6, x7, [x9, #96]
    ldr x30, [x9]
    mov x8, #1
    str x8, [x9, #40]                       // under way
    ldr x8, =0xdeaddeaddeaddead
    .irp n, 9,10,11,12,13,14,15,16,17,18
    mov x\n, x8
    .endr
    blr x30
    adrp x9, state
    add x9, x9, :lo12:state
    str xzr, [x9, #40]
    stp x19, x20, [x9, #240]
    stp x21, x22, [x9, #256]
    stp x23, x24, [x9, #272]
    stp x25, x26, [x9, #288]
    stp x27, x28, [x9, #304]
    stp x29, xzr, [x9, #320]
    stp d8, d9, [x9, #328]
    stp d10, d11, [x9, #344]
    stp d12, d13, [x9, #360]
    stp d14, d15, [x9, #376]
    mrs x10, fpsr
    mrs x11, fpcr
    stp x10, x11, [x9, #392]
    mov x10, sp
    ldr x11, [x9, #32]
    sub x10, x10, x11                       // 0 if it was preserved
    str x10, [x9, #408]
// Where a signal's handler continues.
    .globl recover
recover:
    adrp x9, state
    add x9, x9, :lo12:state
    ldr x10, [x9, #24]
    mov sp, x10
    msr fpcr, xzr
    ldp d14, d15, [sp, #144]
    ldp d12, d13, [sp, #128]
    ldp d10, d11, [sp, #112]
    ldp d8, d9, [sp, #96]
    ldp x27, x28, [sp, #80]
    ldp x25, x26, [sp, #64]
    ldp x23, x24, [sp, #48]
    ldp x21, x22, [sp, #32]
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #160
    ret
    .size call, . - call
    .ltorg

    .section .note.GNU-stack, "", %progbits
