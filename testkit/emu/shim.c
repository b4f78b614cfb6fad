/* The emulator's Python module is built against glibc 2.38 or later, whose headers rename these
 * functions. Older systems lack the new names; the old functions differ only in the binary
 * literals of C23, which the module does not read. Loaded by LD_PRELOAD. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

unsigned long long __isoc23_strtoull(const char *s, char **end, int base) { return strtoull(s, end, base); }
unsigned long __isoc23_strtoul(const char *s, char **end, int base) { return strtoul(s, end, base); }
long long __isoc23_strtoll(const char *s, char **end, int base) { return strtoll(s, end, base); }
long __isoc23_strtol(const char *s, char **end, int base) { return strtol(s, end, base); }

int __isoc23_sscanf(const char *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int fields = vsscanf(s, format, args);
    va_end(args);
    return fields;
}
