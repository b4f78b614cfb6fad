/* Runs the jobs of an arena (arena.rs) on AArch64: standard input is the arena, a file to map.
 * Built once with the cross compiler and run in qemu-aarch64. A signal that the code under test
 * causes is noted in the arena, and ends the run. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

/* The start of the arena; the first six words are trampoline.s's too. */
struct state {
    uint64_t job;             /* the number of the job under way */
    uint64_t left;            /* records left in it, the current one included */
    uint64_t record, result;  /* addresses of the current ones */
    uint64_t entry;           /* address of the code under test */
    uint64_t stack;           /* sp at the call */
    uint64_t size;            /* bytes in the arena */
    uint64_t code, code_size; /* offset and size of the code */
    uint64_t jobs, count;     /* offset and number of the jobs */
    uint64_t seconds;         /* of processor time that all may take */
    uint64_t signal;          /* that ended the run */
    uint64_t pc, address;     /* offset in the arena where it happened; the address it is about */
};

struct job {
    uint64_t entry, records, results, count; /* offsets, but for the count */
};

struct call_plan {
    uint64_t entry, records, results, count; /* addresses, but for the count */
};

struct state *state;

void call_all(const struct call_plan *plan);

static void on_signal(int number, siginfo_t *info, void *context) {
    const ucontext_t *at = context;
    state->signal = number;
    state->pc = at->uc_mcontext.pc - (uint64_t)state;
    state->address = (uint64_t)info->si_addr;
    _exit(1);
}

/* Signals are handled on a stack of their own: the code under test may have ruined sp. */
static int watch(uint64_t seconds) {
    static char stack[65536];
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGXCPU, SIGSYS};
    stack_t aside = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct rlimit time = {.rlim_cur = seconds, .rlim_max = seconds + 1};
    if (sigaltstack(&aside, NULL) || setrlimit(RLIMIT_CPU, &time)) return 0;
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], &action, NULL)) return 0;
    return 1;
}

int main(void) {
    uint64_t size;
    if (pread(0, &size, sizeof size, offsetof(struct state, size)) != sizeof size) return 2;
    char *arena = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0);
    if (arena == MAP_FAILED) return 3;
    state = (struct state *)arena;
    if (mprotect(arena + state->code, state->code_size, PROT_READ | PROT_EXEC)) return 4;
    if (!watch(state->seconds)) return 5;
    const struct job *jobs = (const struct job *)(arena + state->jobs);
    for (uint64_t i = 0; i < state->count; i++) {
        struct call_plan plan = {(uint64_t)arena + jobs[i].entry, (uint64_t)arena + jobs[i].records,
                                 (uint64_t)arena + jobs[i].results, jobs[i].count};
        state->job = i;
        call_all(&plan);
    }
    return 0;
}
