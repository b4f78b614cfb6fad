/* Makes calls of runs on AArch64: standard input is an arena (arena.rs), a file to map. Built once with the cross compiler and
 * run in qemu-aarch64. A signal that the code under test causes is noted, and the next call is made. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

/* The start of the arena. */
struct header {
    uint64_t size;                       /* bytes of the arena */
    uint64_t code, code_size;            /* offset and size of the code */
    uint64_t calls, count, results;      /* offset and number of the calls; offset of what they leave */
    uint64_t ground, ground_size;        /* offset and size of the slots and their guards */
    uint64_t slots, data, guard;         /* their number; bytes of one's data, and of a guard */
    uint64_t canary;                     /* four bytes that stand where no object is */
    uint64_t seconds;                    /* of processor time that all may take */
    uint64_t call, signal;               /* the call under way; the signal that ended all */
};

/* What a call takes and leaves; call.s knows the offsets. */
struct state {
    uint64_t entry;
    const uint64_t *stack;
    uint64_t stack_words;
    uint64_t our_sp, sp_before, under_way;
    uint64_t x[8];
    uint64_t v[8][2];
    uint64_t kept_x[11], kept_d[8];
    uint64_t fpsr, fpcr, sp;
} state __attribute__((aligned(16)));

/* What is noted of a call, before the bytes of its objects. */
struct note {
    uint64_t signal;          /* that ended it; 0 when it returned */
    uint64_t in_ground;       /* whether the address that it is about is one of the slots or guards */
    uint64_t address, pc;     /* that address, or its offset in them; offset of the instruction in the code */
    uint64_t fpsr, fpcr, sp;  /* afterwards; how far the stack pointer is off */
    uint64_t slot, at;        /* one more than the slot of a byte that belongs to no object and changed; its place there */
    uint64_t kept_x[11], kept_d[8];
};

enum { OBJECTS = 64, STACK = 64 };

struct object {
    uint64_t start, length, address;
};

static struct header *header;
static char *arena, *ground, *readable;
static struct note now;

void call(void);
void recover(void);

static void on_signal(int number, siginfo_t *info, void *context) {
    ucontext_t *at = context;
    uint64_t address = (uint64_t)info->si_addr;
    if (number == SIGXCPU || !state.under_way) {
        header->signal = number;
        _exit(1);
    }
    state.under_way = 0;
    now.signal = number;
    now.in_ground = 1;
    if (address - (uint64_t)ground < header->ground_size) now.address = address - (uint64_t)ground;
    else if (address - (uint64_t)readable < header->ground_size) now.address = address - (uint64_t)readable;
    else now.in_ground = 0, now.address = address;
    now.pc = at->uc_mcontext.pc - (uint64_t)(arena + header->code);
    at->uc_mcontext.pc = (uint64_t)recover;
}

/* Signals are handled on a stack of their own: the code under test may have ruined sp. */
static int watch(uint64_t seconds) {
    static char stack[65536];
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGXCPU, SIGSYS};
    stack_t aside = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    struct rlimit time = {.rlim_cur = seconds, .rlim_max = seconds + 1};
    if (sigaltstack(&aside, NULL) || setrlimit(RLIMIT_CPU, &time)) return 0;
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], &action, NULL)) return 0;
    return 1;
}

static char *slot(uint64_t number) {
    return ground + header->guard + number * (header->data + header->guard);
}

static uint64_t argument(const uint64_t *words, const struct object *objects) {
    return words[0] ? objects[words[1]].address : words[1];
}

/* Whether the bytes from one place of a slot to another are as they were. */
static int untouched(const char *data, uint64_t from, uint64_t to) {
    static const char *canary;
    if (!canary) {
        char *made = mmap(NULL, header->data, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (uint64_t i = 0; i < header->data; i += 4) memcpy(made + i, &header->canary, 4);
        canary = made;
    }
    return !memcmp(data + from, canary + from, to - from);
}

static void look(const struct object *object, uint64_t number) {
    const char *data = slot(number);
    uint64_t end = object->start + object->length;
    if (now.slot || (untouched(data, 0, object->start) && untouched(data, end, header->data))) return;
    for (uint64_t at = 0; at < header->data; at++)
        if ((at < object->start || at >= end) && !untouched(data, at, at + 1)) {
            now.slot = number + 1;
            now.at = at;
            return;
        }
}

/* One call, described by words from here on; returns where the next one's begin. */
static const uint64_t *make(const uint64_t *words) {
    static struct object objects[OBJECTS];
    static uint64_t stack[STACK];
    uint64_t result = words[1], count = words[2], on_stack = words[3];
    const uint64_t *given = words + 4, *first = given + 16 + 16 + 2 * on_stack, *next = first;
    state.entry = (uint64_t)(arena + words[0]);
    for (uint64_t i = 0; i < count; i++) {
        objects[i].start = next[0];
        objects[i].length = next[1];
        objects[i].address = (uint64_t)(slot(i) - ground + (next[2] ? ground : readable) + next[0]);
        next += 4 + 2 * next[3] + (next[1] + 7) / 8;
    }
    for (uint64_t i = 0; i < count; i++) {
        char *data = slot(i);
        for (uint64_t at = 0; at < header->data; at += 4) memcpy(data + at, &header->canary, 4);
        memcpy(data + objects[i].start, first + 4 + 2 * first[3], objects[i].length);
        for (uint64_t at = 0; at < first[3]; at++)
            memcpy(data + objects[i].start + first[4 + 2 * at], &objects[first[5 + 2 * at]].address, 8);
        first += 4 + 2 * first[3] + (objects[i].length + 7) / 8;
    }
    for (int i = 0; i < 8; i++) state.x[i] = argument(given + 2 * i, objects);
    memcpy(state.v, given + 16, sizeof state.v);
    for (uint64_t i = 0; i < on_stack; i++) stack[i] = argument(given + 32 + 2 * i, objects);
    state.stack = stack;
    state.stack_words = on_stack;
    memset(&now, 0, sizeof now);
    call();
    now.fpsr = state.fpsr;
    now.fpcr = state.fpcr;
    now.sp = state.sp;
    memcpy(now.kept_x, state.kept_x, sizeof now.kept_x);
    memcpy(now.kept_d, state.kept_d, sizeof now.kept_d);
    char *out = arena + header->results + result + sizeof now;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(out, slot(i) + objects[i].start, objects[i].length);
        out += objects[i].length;
        look(&objects[i], i);
    }
    memcpy(arena + header->results + result, &now, sizeof now);
    return next;
}

int main(void) {
    uint64_t size;
    if (pread(0, &size, sizeof size, offsetof(struct header, size)) != sizeof size) return 2;
    arena = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0);
    if (arena == MAP_FAILED) return 3;
    header = (struct header *)arena;
    ground = arena + header->ground;
    readable = mmap(NULL, header->ground_size, PROT_READ, MAP_SHARED, 0, header->ground);
    if (readable == MAP_FAILED) return 3;
    if (mprotect(arena + header->code, header->code_size, PROT_READ | PROT_EXEC)) return 4;
    for (uint64_t i = 0; i <= header->slots; i++) {
        uint64_t at = i * (header->data + header->guard);
        if (mprotect(ground + at, header->guard, PROT_NONE) || mprotect(readable + at, header->guard, PROT_NONE)) return 4;
    }
    if (!watch(header->seconds)) return 5;
    const uint64_t *next = (const uint64_t *)(arena + header->calls);
    for (uint64_t i = 0; i < header->count; i++) {
        header->call = i;
        next = make(next);
    }
    return 0;
}
