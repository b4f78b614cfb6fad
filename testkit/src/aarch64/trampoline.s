// The trampoline that calls the code under test, and the handler of the signals that it causes.
// Offsets of records, results and state are those of arena.rs, which has a table of them.
//
// Nothing is kept in registers across the call: the code under test may ruin them all. What must
// survive lies in the state at the start of the arena, whose address `state` holds.

    .text

// void call_all(const struct call_plan *plan): one call for each record of a job.
// plan: address of the entry, of the records, of the results; their count.
    .globl call_all
    .type call_all, %function
call_all:
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
    ldr x9, [x9, :lo12:state]
    ldp x10, x11, [x0]                      // entry, records
    ldp x12, x13, [x0, #16]                 // results, count
    str x10, [x9, #0x20]
    stp x11, x12, [x9, #0x10]
    str x13, [x9, #0x08]
    mov x10, sp
    str x10, [x9, #0x28]
    cbz x13, 2f
1:
    ldr x10, [x9, #0x10]                    // the record
    ldr w11, [x10, #192]
    msr fpcr, x11
    ldr w11, [x10, #196]
    msr fpsr, x11
    mov x11, #0xf0000000
    msr nzcv, x11                           // every condition flag set
    // What a function may not rely on: NaNs, and an address that leads nowhere.
    .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    movi v\n\().16b, #0xff
    .endr
    // Callee-saved are the low halves of v8-v15: 0xd8d8..., 0xd9d9..., up to 0xdfdf...
    movi v8.16b, #0xd8
    movi v9.16b, #0xd9
    movi v10.16b, #0xda
    movi v11.16b, #0xdb
    movi v12.16b, #0xdc
    movi v13.16b, #0xdd
    movi v14.16b, #0xde
    movi v15.16b, #0xdf
    // x19-x29 hold 0x0101... times their number.
    .irp n, 19,20,21,22,23,24,25,26,27,28,29
    ldr x\n, =0x0101010101010101 * \n
    .endr
    ldp q0, q1, [x10]
    ldp q2, q3, [x10, #32]
    ldp q4, q5, [x10, #64]
    ldp q6, q7, [x10, #96]
    ldp x0, x1, [x10, #128]
    ldp x2, x3, [x10, #144]
    ldp x4, x5, [x10, #160]
    ldp x6, x7, [x10, #176]
    ldr x30, [x9, #0x20]
    ldr x8, =0xdeaddeaddeaddead
    .irp n, 9,10,11,12,13,14,15,16,17,18
    mov x\n, x8
    .endr
    blr x30
    adrp x9, state
    ldr x9, [x9, :lo12:state]
    ldr x10, [x9, #0x18]                    // the result
    str q0, [x10]
    mrs x11, fpsr
    mrs x12, fpcr
    str x0, [x10, #16]
    stp w11, w12, [x10, #24]
    stp d8, d9, [x10, #32]
    stp d10, d11, [x10, #48]
    stp d12, d13, [x10, #64]
    stp d14, d15, [x10, #80]
    stp x19, x20, [x10, #96]
    stp x21, x22, [x10, #112]
    stp x23, x24, [x10, #128]
    stp x25, x26, [x10, #144]
    stp x27, x28, [x10, #160]
    mov x11, sp
    ldr x12, [x9, #0x28]
    sub x11, x11, x12                       // 0 if it was preserved
    stp x29, x11, [x10, #176]
    mov sp, x12
    ldp x11, x12, [x9, #0x10]
    add x11, x11, #208                      // IN_STRIDE
    add x12, x12, #192                      // OUT_STRIDE
    stp x11, x12, [x9, #0x10]
    ldr x13, [x9, #0x08]
    subs x13, x13, #1
    str x13, [x9, #0x08]
    b.ne 1b
2:
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
    .size call_all, . - call_all
    .ltorg

    .section .note.GNU-stack, "", %progbits
