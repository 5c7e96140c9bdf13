/* A kernel, and a call to it: what they hold, and how a call keeps out of the way of other threads.

   Calls read what a kernel remembers without a lock. There is one lock, which is held for as long as something is
   written into a kernel, and by a fork; never while Python runs, and who has it waits for nothing, not for the GIL
   either; so no two threads wait for each other. */
#ifndef TRIETOK_KERNEL_STATE_H
#define TRIETOK_KERNEL_STATE_H

#include "_kernel_memory.h"
#include "_kernel_terms.h"

enum {
    PAGE = 256,
    PAGES = 0x110000 / PAGE,
    OUTPUT_BLOCK = 4096,
    OUTPUT_BLOCKS = 1024,
    FIRST_READERS = 8,
    IDS_AT_HAND = 1024,            /* ids that a call has room for without asking for memory */
    BYTES_AT_HAND = 512,           /* the same for the bytes of a word */
    TEXT_AT_HAND = 4096,           /* and for those of a text */
    PADDING = 64,                  /* bytes that may be read behind what is read, the first of them a space */
    MOST_PATTERNS = 32,
    BYTES_WITH_GIL = 1 << 16,      /* a single text that is longer is read without the GIL */
    BYTES_BETWEEN_LOOKS = 1 << 20, /* bytes of text between looks for signals */
    WALKED_AT_FIRST = 4096,        /* characters that may be walked while terms are looked for, */
    WALKED_A_BYTE = 16,            /* and how many more for each byte of a text */
    LEAST_LIMIT = 1 << 18,
    KERNEL_OBJECTS = 11
};

/* What is known of a code point, in one number that is written at once; see `_kernel_characters.h`. */
typedef _Atomic uint64_t CharCell;
typedef _Atomic(CharCell *) PageCell;

/* Of a call that is under way: the epoch of the memory that it may still hold; 0 where there is no call. */
typedef struct {
    uint64_t epoch;
    unsigned long thread;
} Reader;

typedef struct {
    PyObject_HEAD
    Pieces pieces;
} Vocabulary;

typedef struct {
    PyObject_HEAD
    Tree tree;
} Terms;

/* Ints already made, up to a number; read and written with the GIL. */
typedef struct {
    PyObject **made;
    size_t size;
} Numbers;

typedef struct Kernel {
    PyObject_HEAD
    union {
        struct {
            PyObject *vocabulary, *patterns, *terms, *classify, *stay_apart, *compose, *hand_over, *plain, *steps,
                *fold, *settle;
        };
        PyObject *objects[KERNEL_OBJECTS]; /* the same */
    };
    Memory memory;
    Reader *readers;
    size_t readers_size;
    uint32_t alone_first, alone_last; /* code points that are set between spaces and become themselves */
    uint32_t chinese_count;           /* how many of them, from the first on, the vocabulary has a table for */
    PageCell pages[PAGES];
    uint8_t *outputs[OUTPUT_BLOCKS];
    size_t outputs_used;
    size_t limit;                   /* bytes, of all that is remembered */
    size_t char_bytes;              /* of pages and outputs, at most half of them */
    _Atomic uint64_t is_simple[0x10000 / 64]; /* a bit each: see `note_quickly` */
    _Atomic int32_t follow[256];    /* what a byte behind a word gives; see `Follow` */
    _Atomic int letters;            /* whether all letters and digits of ASCII are simple; see `Letters` */
    const Pieces *pattern_sets[MOST_PATTERNS]; /* of what added tokens look like, if `has_patterns` */
    size_t pattern_count;
    int has_patterns;
    size_t longest_pattern; /* bytes; 0 where all are short */
    const Tree *trees[MOST_TREES];
    size_t tree_count;
    uint8_t folds[0x80]; /* what ASCII looks like where terms are looked for */
    uint8_t is_in_head[256], ends_head[256]; /* of any tree */
    uint64_t *edges, edges_mask; /* where a bit is not set, no tree has such an edge */
    Numbers numbers;
    uint64_t handed_over;
    _Atomic uint64_t helped; /* how many threads have helped with batches */
    struct Kernel *next;
} Kernel;

/* One call: its own state, so that a call may begin while another one is under way. */
typedef struct {
    Kernel *kernel;
    const Pieces *pieces;
    size_t reader;
    uint64_t epoch;
    int without_gil;
    int is_composed; /* whether what is read now is a part in its composed form */
    int is_in_window; /* or a part of a window, in which no term begins */
    const uint8_t *text_end;    /* of all of the text, also where a part of it is read */
    size_t walked, most_walked; /* in characters: more are left to Python, in linear time */
    const uint8_t *looked; /* up to here in the text signals have been looked for */
    size_t read;           /* bytes of texts since signals were looked for; of a batch */
    PyThreadState *released;
    _Atomic int *told_to_stop; /* of a thread that helps, which has no Python; see `_kernel_crew.h` */
    int has_left;              /* whether such a thread has met what Python has to tell */
    size_t left;               /* how many texts it has left for that */
    int32_t *ids;
    size_t count, size;
    size_t enough; /* once there are so many ids, what is left of the text does not matter */
    uint8_t *word;
    size_t word_size;
    int32_t ids_at_hand[IDS_AT_HAND];
    uint8_t word_at_hand[BYTES_AT_HAND];
    uint8_t part_at_hand[BYTES_AT_HAND + PADDING];
    uint8_t text_at_hand[TEXT_AT_HAND + PADDING];
} Call;

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

static Kernel *first_kernel; /* of all of the process; read and written with the GIL */

/* Held for less than a microsecond, but for a table that grows or a fork; 1 while a thread has it. */
static _Atomic int kernels_lock;

enum { TIMES_TO_TRY = 200 }; /* before sleeping */

/* Whether the lock could be had soon. */
static int lock_soon(void)
{
    for (int i = 0; i < TIMES_TO_TRY; i++) {
        if (!atomic_load_explicit(&kernels_lock, memory_order_relaxed)
            && !atomic_exchange_explicit(&kernels_lock, 1, memory_order_acquire))
            return 1;
        take_breath();
    }
    return 0;
}

/* A thread that has the GIL gives it up while it waits, and has it again before it tries for the lock: it may wait long
   for the GIL, as for a thread that forks, or end there where the program ends. */
static void lock_kernels(int has_gil)
{
    while (!lock_soon()) {
        PyThreadState *state = has_gil ? PyEval_SaveThread() : NULL;
        take_nap();
        if (state)
            PyEval_RestoreThread(state);
    }
}

static void unlock_kernels(void) { atomic_store_explicit(&kernels_lock, 0, memory_order_release); }

/* ---- readers: with the lock -------------------------------------------------------------------------------------- */

/* Note a call as a reader. -1 for no memory. */
static int enlist(Call *call)
{
    Kernel *kernel = call->kernel;
    size_t reader = 0;
    while (reader < kernel->readers_size && kernel->readers[reader].epoch)
        reader++;
    if (reader == kernel->readers_size) {
        Reader *readers = resized(kernel->readers, 2 * reader * sizeof *readers);
        if (!readers)
            return -1;
        memset(readers + reader, 0, reader * sizeof *readers);
        kernel->readers = readers;
        kernel->readers_size = 2 * reader;
    }
    call->reader = reader;
    call->epoch = atomic_load_explicit(&kernel->memory.epoch, memory_order_relaxed);
    kernel->readers[reader] = (Reader){call->epoch, PyThread_get_thread_ident()};
    return 0;
}

/* Give back what no reader can have any more. */
static void sweep(Kernel *kernel)
{
    if (!kernel->memory.retired)
        return;
    uint64_t oldest = UINT64_MAX;
    for (size_t i = 0; i < kernel->readers_size; i++)
        if (kernel->readers[i].epoch && kernel->readers[i].epoch < oldest)
            oldest = kernel->readers[i].epoch;
    free_retired(&kernel->memory, oldest);
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* -1 where there is no Python, without an exception: what it should tell is left to the thread that is helped. */
static int enter_python(Call *call)
{
    if (call->told_to_stop) {
        call->has_left = 1;
        return -1;
    }
    if (call->without_gil)
        PyEval_RestoreThread(call->released);
    return 0;
}

static void leave_python(Call *call)
{
    if (call->without_gil)
        call->released = PyEval_SaveThread();
}

/* Have no GIL from here on; and have it. */
static void give_gil(Call *call)
{
    call->without_gil = 1;
    leave_python(call);
}

static void take_gil(Call *call)
{
    enter_python(call);
    call->without_gil = 0;
}

/* -1 for no memory: then there is no call that could end. */
static int begin(Call *call, Kernel *kernel, int without_gil)
{
    memset(call, 0, offsetof(Call, ids_at_hand));
    call->kernel = kernel;
    call->pieces = &((Vocabulary *)kernel->vocabulary)->pieces;
    call->ids = call->ids_at_hand;
    call->size = IDS_AT_HAND;
    call->enough = SIZE_MAX;
    call->word = call->word_at_hand;
    call->word_size = BYTES_AT_HAND;
    lock_kernels(1);
    int failed = enlist(call);
    unlock_kernels();
    if (failed) {
        PyErr_NoMemory();
        return -1;
    }
    if (without_gil)
        give_gil(call);
    return 0;
}

/* End a call that has the GIL. An error without an exception is one of memory. */
static void end(Call *call, int failed)
{
    lock_kernels(!call->without_gil);
    call->kernel->readers[call->reader].epoch = 0;
    sweep(call->kernel);
    unlock_kernels();
    if (call->ids != call->ids_at_hand)
        give_back(call->ids);
    if (call->word != call->word_at_hand)
        give_back(call->word);
    if (failed && !PyErr_Occurred())
        PyErr_NoMemory();
}

/* Say that the call holds nothing of the memory now. */
static inline void let_go(Call *call)
{
    Kernel *kernel = call->kernel;
    if (atomic_load_explicit(&kernel->memory.epoch, memory_order_relaxed) == call->epoch)
        return;
    lock_kernels(!call->without_gil);
    call->epoch = atomic_load_explicit(&kernel->memory.epoch, memory_order_relaxed);
    kernel->readers[call->reader].epoch = call->epoch;
    sweep(kernel);
    unlock_kernels();
}

/* Remember what bytes became, and the starts behind it. -1 for no memory. */
static int remember_starts(Call *call, KeyKind kind, const uint8_t *bytes, size_t length, const int32_t *ids,
    size_t count, Starts starts)
{
    lock_kernels(!call->without_gil);
    call->kernel->handed_over += kind == CHUNK;
    int result = put_entry(&call->kernel->memory, kind, bytes, length, ids, count, starts);
    unlock_kernels();
    return result;
}

static int remember(Call *call, KeyKind kind, const uint8_t *bytes, size_t length, const int32_t *ids, size_t count)
{
    return remember_starts(call, kind, bytes, length, ids, count, (Starts){0, 0});
}

/* Signals and other threads get their turn. */
static int look_for_signals(Call *call)
{
    if (call->told_to_stop)
        return atomic_load_explicit(call->told_to_stop, memory_order_relaxed) ? -1 : 0;
    enter_python(call);
    int result = PyErr_CheckSignals();
    leave_python(call);
    return result;
}

/* ---- room -------------------------------------------------------------------------------------------------------- */

/* `resized` of what may be in a call's own memory. */
static void *moved(void *from, void *at_hand, size_t used, size_t size)
{
    void *made = resized(from == at_hand ? NULL : from, size);
    if (made && from == at_hand)
        memcpy(made, from, used);
    return made;
}

static int widen(Call *call, size_t more)
{
    size_t size = 2 * (call->count + more);
    int32_t *ids = moved(call->ids, call->ids_at_hand, call->count * sizeof *ids, size * sizeof *ids);
    if (!ids)
        return -1;
    call->ids = ids;
    call->size = size;
    return 0;
}

/* See to it that there is room for so many more ids. */
static inline int need(Call *call, size_t more) { return call->count + more <= call->size ? 0 : widen(call, more); }

/* The same for so many bytes more of a word, of which there are `size`. */
static inline int need_word(Call *call, size_t size, size_t more)
{
    if (size + more <= call->word_size)
        return 0;
    uint8_t *word = moved(call->word, call->word_at_hand, size, 2 * (size + more));
    if (!word)
        return -1;
    call->word = word;
    call->word_size = 2 * (size + more);
    return 0;
}

static inline int put_known(Call *call, Known known)
{
    if (need(call, known.count + IDS_IN_ENTRY))
        return -1;
    if (known.count <= IDS_IN_ENTRY)
        memcpy(call->ids + call->count, known.ids, IDS_IN_ENTRY * sizeof *known.ids); /* the same each time is quick */
    else
        memcpy(call->ids + call->count, known.ids, known.count * sizeof *known.ids);
    call->count += known.count;
    return 0;
}

#endif
