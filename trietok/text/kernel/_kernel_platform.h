/* What compilers and systems have each in its own way. Nothing else of the kernel is written for one of them. */
#ifndef TRIETOK_KERNEL_PLATFORM_H
#define TRIETOK_KERNEL_PLATFORM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Let the other threads of the machine go on. */
#ifdef _WIN32
__declspec(dllimport) void __stdcall Sleep(unsigned long); /* windows.h has names that are ours, such as WORD */
static inline void take_nap(void) { Sleep(0); }
#else
#include <time.h>
static inline void take_nap(void)
{
    struct timespec some_microseconds = {0, 20000};
    nanosleep(&some_microseconds, NULL);
}
#endif

#ifdef _MSC_VER /* with /std:c11 /experimental:c11atomics; all that Windows runs on has its lowest byte first */

#include <intrin.h>

#define LIKELY(condition) (condition)
#define UNLIKELY(condition) (condition)
#define FETCH(address) _mm_prefetch((const char *)(address), _MM_HINT_T0)

static inline uint64_t mixed(uint64_t a, uint64_t b)
{
    uint64_t high, low = _umul128(a, b, &high);
    return low ^ high;
}

static inline unsigned lowest_bit(uint64_t bits)
{
    unsigned long place;
    _BitScanForward64(&place, bits);
    return place;
}

static inline unsigned highest_bit(uint64_t bits)
{
    unsigned long place;
    _BitScanReverse64(&place, bits);
    return place;
}

static inline void take_breath(void) { _mm_pause(); }

#if defined(_M_X64) && !defined(TRIETOK_NO_SIMD)
#define TRIETOK_SSE2
#endif

#else /* GCC and Clang */

#if defined(__SSE2__) && !defined(TRIETOK_NO_SIMD)
#define TRIETOK_SSE2
#include <emmintrin.h>
#endif

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the kernel reads bytes as numbers, the first byte as the lowest"
#endif

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define FETCH(address) __builtin_prefetch(address)

/* Both halves of a product in one number: each of its bits depends on all of both factors. Where there is no second
   factor, it is 0x9e3779b97f4a7c15, 2 to the 64th divided by the golden ratio, as in Fibonacci hashing (Knuth, The Art
   of Computer Programming, section 6.4): numbers that follow one another are spread evenly. */
static inline uint64_t mixed(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The place of the lowest, and of the highest, bit that is set; there is one. */
static inline unsigned lowest_bit(uint64_t bits) { return (unsigned)__builtin_ctzll(bits); }
static inline unsigned highest_bit(uint64_t bits) { return 63 - (unsigned)__builtin_clzll(bits); }

/* Let the other thread of a core go on for some cycles. */
static inline void take_breath(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

#endif

/* Have functions called from now on within each fork: before it, and after it in the parent and in the child. -1 for no
   memory. */
#ifdef _WIN32 /* which has no forks */
static inline int at_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before, (void)in_parent, (void)in_child;
    return 0;
}
#else
#include <pthread.h>
static inline int at_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) ? -1 : 0;
}
#endif

#endif
